yare_test(ext_memory LINK yare_ext)
