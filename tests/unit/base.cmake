
# Commands need a supervisor: link test_supervise and call proc_set_supervisor(SUPERVISE_HELPER).
add_executable(supervise_helper unit/supervise_helper.c)
target_link_libraries(supervise_helper PRIVATE yare_base)
add_library(test_supervise INTERFACE)
target_compile_definitions(test_supervise INTERFACE SUPERVISE_HELPER="$<TARGET_FILE:supervise_helper>")
add_dependencies(test_supervise supervise_helper)
yare_test(base_proc LINK yare_base test_supervise)
