# The real program: print mode and, under a tmux of the test's own, the screen.
if(TARGET yare)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  foreach(name afk always both_wires background colours compact compact_print connect crowd cuts damage faults guard input kept_back linear long_session main_job openai_faults print recovery resume sandbox selection start replay terminal tour transcript waits wire endings)
    add_test(NAME e2e/${name} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/e2e/test_${name}.py)
    set_tests_properties(e2e/${name} PROPERTIES TIMEOUT 600 ENVIRONMENT "YARE_BIN=$<TARGET_FILE:yare>")
  endforeach()
endif()
