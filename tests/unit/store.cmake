yare_test(store_journal LINK yare_store)
yare_test(store_session LINK yare_store)
yare_test(store_store LINK yare_store)
yare_test(store_export LINK yare_store)
