# What an event is, without the engine: all that panes need of it.
add_library(ui_events STATIC ${CMAKE_SOURCE_DIR}/src/engine/event.c ${CMAKE_SOURCE_DIR}/src/engine/event_fields.c
  ${CMAKE_SOURCE_DIR}/src/engine/event_json.c ${CMAKE_SOURCE_DIR}/src/engine/recording.c
  ${CMAKE_SOURCE_DIR}/src/engine/recording_read.c)
target_link_libraries(ui_events PUBLIC yare_flags yare_base)
yare_test(ui_canvas LINK yare_ui)
yare_test(ui_keys LINK yare_ui)
yare_test(ui_term LINK yare_ui)
yare_test(ui_input LINK yare_ui)
yare_test(ui_view LINK yare_ui ui_events yare_base)
yare_test(ui_layout LINK yare_ui ui_events yare_base)
yare_test(ui_markdown LINK yare_ui ui_events yare_base)
yare_test(ui_highlight LINK yare_ui yare_base)
yare_test(ui_past LINK yare_ui ui_events yare_base)
yare_test(ui_transcript LINK yare_ui ui_events yare_base)
yare_test(ui_app LINK yare_ui ui_events SOURCES fakes/engine_fake.c)
yare_test(ui_approval LINK yare_ui ui_events yare_base)
yare_test(ui_activity LINK yare_ui ui_events yare_base)
yare_test(ui_meters LINK yare_ui ui_events yare_base)
