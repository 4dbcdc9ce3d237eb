# yare_fuzz(name LINK lib...): tests/fuzz/fuzz_<name>.c. With -DYARE_FUZZ=ON (clang) a libFuzzer program; always a program that runs the
# corpus tests/fuzz/corpus/<name>/ once, in ctest.
function(yare_fuzz name)
  cmake_parse_arguments(A "" "" "LINK" ${ARGN})
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/fuzz_${name}.c)
  if(YARE_FUZZ)
    add_executable(fuzz_${name} ${source})
    target_link_libraries(fuzz_${name} PRIVATE yare_flags ${A_LINK})
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  endif()
  add_executable(corpus_${name} ${source} ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus_main.c)
  target_link_libraries(corpus_${name} PRIVATE yare_flags ${A_LINK})
  add_test(NAME fuzz/${name} COMMAND corpus_${name} ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${name})
  set_tests_properties(fuzz/${name} PROPERTIES TIMEOUT 120)
endfunction()

yare_fuzz(keys LINK yare_ui)
yare_fuzz(sse LINK yare_model)
yare_fuzz(shell LINK yare_perm)
