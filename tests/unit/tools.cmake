yare_test(base_glob LINK yare_base)
yare_test(base_diff LINK yare_base)
yare_test(tools_edit LINK yare_tools)
