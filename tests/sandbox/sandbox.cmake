# What the sandbox promises, tried for real: one run a back end. A machine on which one cannot be had skips it and says why.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
foreach(kind bwrap landlock)
  add_test(NAME sandbox/${kind} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/sandbox/run.py ${kind})
  set_tests_properties(sandbox/${kind} PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77
    ENVIRONMENT "SANDBOX_TOOL=$<TARGET_FILE:sandbox_tool>")
endforeach()
