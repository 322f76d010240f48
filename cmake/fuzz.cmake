# tests/fuzz/fuzz_X.c defines LLVMFuzzerTestOneInput. In the preset `fuzz` it becomes the libFuzzer
# program fuzz/X; otherwise test fuzz.X, which replays tests/fuzz/corpus/X/ once.
file(GLOB targets CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
foreach(file IN LISTS targets)
    string(REGEX REPLACE ".*/fuzz_([^/]*)\\.c$" "\\1" name ${file})
    add_executable(fuzz.${name} ${file})
    target_link_libraries(fuzz.${name} PRIVATE symlaw_static)
    target_include_directories(fuzz.${name} PRIVATE tests)
    if(name STREQUAL "request")
        target_link_libraries(fuzz.${name} PRIVATE symlaw_serve)
    endif()
    set_target_properties(fuzz.${name} PROPERTIES OUTPUT_NAME ${name}
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
    if(SYMLAW_FUZZ)
        target_link_options(fuzz.${name} PRIVATE -fsanitize=fuzzer)
    else()
        target_sources(fuzz.${name} PRIVATE tests/fuzz/replay.c)
        add_test(NAME fuzz.${name}
                 COMMAND fuzz.${name} ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${name})
        set_tests_properties(fuzz.${name} PROPERTIES LABELS "unit;fuzz" COST 100)
    endif()
endforeach()
