yare_test(screens DIR screens LINK yare_ui ui_events yare_base)
