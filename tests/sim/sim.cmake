# The simulator (docs/simulator.md): the real engine in a world with a clock of its own. The system's waits and the HTTP client are
# replaced at link time.
add_executable(sim
  sim/checks.c sim/disk.c sim/events.c sim/main.c sim/model.c sim/person.c sim/profiles.c sim/runner.c sim/server.c
  sim/session.c sim/suites.c sim/tools.c sim/view.c sim/wire.c sim/world.c fakes/legal.c)
target_include_directories(sim PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(sim PRIVATE yare_flags yare_engine)
foreach(f poll pthread_create pthread_join pthread_cond_wait pthread_cond_timedwait pthread_cond_signal pthread_cond_broadcast
    pthread_mutex_lock clock_gettime nanosleep usleep time getrandom fdatasync
    http_start http_next http_drain http_status http_header http_free)
  target_link_options(sim PRIVATE -Wl,--wrap=${f})
endforeach()

# Fixed seeds; the long runs are scripts/soak's. Two workers, so that they fit beside the other tests.
function(yare_sim name)
  add_test(NAME sim/${name} COMMAND sim ${ARGN})
  set_tests_properties(sim/${name} PROPERTIES TIMEOUT 300)
endfunction()
yare_sim(faults run --seeds 1..200)
yare_sim(same same --seeds 1..40)
set(seeds 1..60)
if(YARE_SANITIZE MATCHES thread) # twenty times as long, and the same code
  set(seeds 1..20)
endif()
yare_sim(recovery recovery --seeds ${seeds} --at-least 97)
yare_sim(no_summary run --suite no_summary --seeds 7..10)
yare_sim(needle needle --seeds 1..6)
yare_sim(long long --rounds 400)
