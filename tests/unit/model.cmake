yare_test(model_stream LINK yare_model)
