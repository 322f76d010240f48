# soname(out file): the name that a shared library gives itself, by which it is loaded wherever it
# stands: libmpi.so.40. Empty if the file is none.
function(soname out file)
    execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${file} OUTPUT_VARIABLE text RESULT_VARIABLE failed
                    ERROR_QUIET)
    set(${out} "" PARENT_SCOPE)
    if(NOT failed AND text MATCHES "SONAME +([^ \n]+)")
        set(${out} ${CMAKE_MATCH_1} PARENT_SCOPE)
    endif()
endfunction()
