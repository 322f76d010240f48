# Run by the build: pages of the manual, written by the program from its tables.
#     cmake -DPROGRAM=build/symlaw -DFOLDER=build/man -P cmake/man.cmake
function(page file)
    execute_process(COMMAND ${PROGRAM} --man ${ARGN} OUTPUT_VARIABLE text RESULT_VARIABLE code)
    if(NOT code EQUAL 0)
        message(FATAL_ERROR "symlaw --man ${ARGN} failed: ${code}")
    endif()
    file(WRITE ${FOLDER}/${file} "${text}")
    set(text "${text}" PARENT_SCOPE)
endfunction()

page(symlaw.1)
# the last section of the first page names all others
string(REGEX MATCHALL "symlaw[^a-z ]+[a-z]+ [(]1[)]" others "${text}")
foreach(other ${others})
    string(REGEX MATCH "([a-z]+) [(]1[)]" ignored "${other}")
    page(symlaw-${CMAKE_MATCH_1}.1 ${CMAKE_MATCH_1})
endforeach()
