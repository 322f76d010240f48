# The revision of the source, as git describes it, into one small file of C: `unknown` where there is no
# git or this is not its working tree, as with an unpacked archive.
#
#     cmake -DSOURCE=dir -DOUT=revision.c -P cmake/revision.cmake
#
# Run at every build, since a commit changes no file that the build depends on. The file is written
# only if its content changes, so nothing is compiled or linked without need.
set(revision unknown)
find_program(git NAMES git NO_CACHE)
if(git)
    set(git ${git} --no-optional-locks -C ${SOURCE}) # a commit at the same time must not meet a lock
    # an archive that was unpacked inside another project must not get the revision of that project
    execute_process(COMMAND ${git} rev-parse --show-prefix
                    OUTPUT_VARIABLE prefix RESULT_VARIABLE failed ERROR_QUIET
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(failed EQUAL 0 AND prefix STREQUAL "")
        execute_process(COMMAND ${git} describe --always --tags --dirty
                        OUTPUT_VARIABLE described RESULT_VARIABLE failed ERROR_QUIET
                        OUTPUT_STRIP_TRAILING_WHITESPACE)
        if(failed EQUAL 0 AND described MATCHES "^[0-9A-Za-z._/+-]+$")
            set(revision ${described})
        endif()
    endif()
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/revision.c.in ${OUT} @ONLY)
