yare_test(base_glob LINK yare_base)
