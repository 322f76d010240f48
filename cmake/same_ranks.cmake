# Runs a test program with 1, 2 and 4 ranks and compares the lines "left: ...", which must be the
# same. Then one run is resumed by other numbers of ranks, 2, 4 and 1, and "relay: ..." must be the
# same too.
#
#   cmake -DPROGRAM=... -DMPIEXEC=... -DFLAG=-n -DFOLDER=... -P same_ranks.cmake

function(start ranks out)
    execute_process(COMMAND ${CMAKE_COMMAND} -E env ${ARGN}
                            ${MPIEXEC} --oversubscribe ${FLAG} ${ranks} ${PROGRAM}
                    RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE errors)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "${ranks} ranks: ${result}\n${text}\n${errors}")
    endif()
    set(${out} "${text}" PARENT_SCOPE)
endfunction()

# what stands behind the name
function(extract out name text)
    if(NOT text MATCHES "${name}: ([0-9a-f ]+)")
        message(FATAL_ERROR "no \"${name}: ...\" in:\n${text}")
    endif()
    set(${out} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

foreach(ranks 1 2 4)
    start(${ranks} text)
    extract(got left "${text}")
    message(STATUS "${ranks} ranks: ${got}")
    if(ranks EQUAL 1)
        set(want "${got}")
    elseif(NOT got STREQUAL want)
        message(FATAL_ERROR "${ranks} ranks differ from one")
    endif()
endforeach()

file(REMOVE_RECURSE ${FOLDER})
set(only SL_TEST_ONLY=a_run_is_handed_on SL_TEST_RELAY=${FOLDER})
start(2 text ${only} SL_TEST_STOP=4)
start(4 text ${only} SL_TEST_STOP=7)
start(1 text ${only} SL_TEST_STOP=12)
file(REMOVE_RECURSE ${FOLDER})
extract(got relay "${text}")
message(STATUS "handed on: ${got}")
if(NOT got STREQUAL want)
    message(FATAL_ERROR "a run that was handed on differs")
endif()
