# What the walk finds, against git itself. scripts/soak runs many more seeds.
add_executable(list_files search/list_files.c)
target_link_libraries(list_files PRIVATE yare_flags yare_base)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME search/ignore_seeds
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/search/ignore_seeds.py $<TARGET_FILE:list_files> --count 200)
set_tests_properties(search/ignore_seeds PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77)
add_test(NAME search/real_trees
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/search/real_trees.py $<TARGET_FILE:list_files> ${CMAKE_SOURCE_DIR})
set_tests_properties(search/real_trees PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77)
