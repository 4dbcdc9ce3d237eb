yare_test(model_offline LINK yare_model)
yare_test(model_stream LINK yare_model)
yare_test(model_wire LINK yare_model)
