yare_test(ui_canvas LINK yare_ui)
