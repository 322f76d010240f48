# What `make install` puts where, in three components that are packages of their own (package.cmake):
#     program   the program, its model and examples, completions, manual
#     library   the shared library
#     dev       the header, the static library, pkg-config and CMake files
# Programs find the shared library with either of
#     cc prog.c $(pkg-config --cflags --libs symlaw)
#     find_package(symlaw) ... target_link_libraries(prog symlaw::symlaw)
include(CMakePackageConfigHelpers)
set(data_dir ${CMAKE_INSTALL_DATADIR}/symlaw)

install(TARGETS symlaw_shared EXPORT symlaw LIBRARY COMPONENT library NAMELINK_COMPONENT dev)
install(FILES ${static_library} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(FILES include/symlaw/symlaw.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/symlaw COMPONENT dev)

install(FILES models/small.safetensors DESTINATION ${data_dir}/models COMPONENT program)
file(GLOB tables CONFIGURE_DEPENDS examples/*.csv)
install(FILES ${tables} DESTINATION ${data_dir}/examples COMPONENT program)

# The page of "symlaw serve"; it takes the titles of the tables from their README.
if(EXISTS ${CMAKE_SOURCE_DIR}/web)
    install(DIRECTORY web/ DESTINATION ${data_dir}/web COMPONENT program
            PATTERN "README.md" EXCLUDE)
endif()
install(FILES examples/README.md DESTINATION ${data_dir}/examples COMPONENT program)

set(cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/symlaw)
install(EXPORT symlaw FILE symlawConfig.cmake NAMESPACE symlaw:: DESTINATION ${cmake_dir}
        COMPONENT dev)
write_basic_package_version_file(symlawConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/symlawConfigVersion.cmake DESTINATION ${cmake_dir}
        COMPONENT dev)

# A static link also needs the libraries that symlaw uses. They are listed by name and not by
# Requires.private, which would require the headers of all of them.
set(pc_libs_private "-lxxhash -lcminpack -ljansson -lz -pthread -ldl -lm")
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(symlaw.pc.in symlaw.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/symlaw.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT dev)

if(NOT TARGET symlaw)
    return()
endif()

# The program writes its own completions, from the tables that it parses by. A program for another
# CPU runs by CMAKE_CROSSCOMPILING_EMULATOR.
set(completions)
foreach(pair "bash:bash-completion/completions/symlaw" "zsh:zsh/site-functions/_symlaw"
             "fish:fish/vendor_completions.d/symlaw.fish")
    string(REGEX MATCH "^([a-z]+):(.*)/([^/]*)$" matched ${pair})
    set(shell ${CMAKE_MATCH_1})
    set(script ${CMAKE_CURRENT_BINARY_DIR}/completions/symlaw.${shell})
    add_custom_command(OUTPUT ${script}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/completions
        COMMAND symlaw completion ${shell} > ${script}
        DEPENDS symlaw VERBATIM)
    list(APPEND completions ${script})
    install(FILES ${script} DESTINATION ${CMAKE_INSTALL_DATADIR}/${CMAKE_MATCH_2}
            RENAME ${CMAKE_MATCH_3} COMPONENT program)
endforeach()
add_custom_target(completions ALL DEPENDS ${completions})

# So it does the pages of the manual.
set(man ${CMAKE_CURRENT_BINARY_DIR}/man)
add_custom_command(OUTPUT ${man}/symlaw.1
    COMMAND ${CMAKE_COMMAND}
            "-DPROGRAM=${CMAKE_CROSSCOMPILING_EMULATOR};$<TARGET_FILE:symlaw>" -DFOLDER=${man}
            -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/man.cmake
    DEPENDS symlaw cmake/man.cmake VERBATIM)
add_custom_target(man ALL DEPENDS ${man}/symlaw.1)
install(DIRECTORY ${man}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program
        FILES_MATCHING PATTERN "*.1")
