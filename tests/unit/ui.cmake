yare_test(ui_canvas LINK yare_ui)
yare_test(ui_keys LINK yare_ui)
