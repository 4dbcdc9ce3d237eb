# The shell analysis against a real bash: what it says will run is what runs, or it said that it does not know. Needs bubblewrap and skips
# without it; scripts/soak runs many seeds.
add_executable(perm_dump differential/dump.c)
target_link_libraries(perm_dump PRIVATE yare_flags yare_perm)
add_executable(diff_recorder differential/recorder.c)
add_executable(diff_runner differential/runner.c)
# Thousands of processes: they are no part of what is tested, and sanitizers would only slow them down.
foreach(t diff_recorder diff_runner)
  target_compile_options(${t} PRIVATE -O1 -fno-sanitize=all)
  target_link_options(${t} PRIVATE -static -fno-sanitize=all)
endforeach()
find_package(Python3 COMPONENTS Interpreter REQUIRED)
add_test(NAME differential/shell
         COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/differential/differential.py --dump $<TARGET_FILE:perm_dump>
                 --runner $<TARGET_FILE:diff_runner> --recorder $<TARGET_FILE:diff_recorder>
                 --seed 1 --count 1500) # without --cases: the lines stay the same when cases are added
set_tests_properties(differential/shell PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300)
