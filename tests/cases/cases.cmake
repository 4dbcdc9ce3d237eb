# Permission cases by the real program: a person's day, and what must and must not run.
if(TARGET yare)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  foreach(name day perm_cases)
    add_test(NAME cases/${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/cases/${name}.py $<TARGET_FILE:yare>)
    set_tests_properties(cases/${name} PROPERTIES TIMEOUT 300)
  endforeach()
endif()
