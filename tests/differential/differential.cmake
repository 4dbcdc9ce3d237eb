# The shell analysis against a real bash: what it says will run is what runs, or it said that it does not know. Needs bubblewrap; skips without.
add_executable(perm_dump differential/dump.c)
target_link_libraries(perm_dump PRIVATE yare_flags yare_perm)
add_executable(diff_recorder differential/recorder.c)
add_executable(diff_runner differential/runner.c)
# Thousands of processes: they are no part of what is tested, and sanitizers would only slow them down.
foreach(t diff_recorder diff_runner)
  target_compile_options(${t} PRIVATE -O1 -fno-sanitize=all)
  target_link_options(${t} PRIVATE -static -fno-sanitize=all)
endforeach()
