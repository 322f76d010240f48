# soname(out file): the SONAME of a shared library, by which it is loaded wherever it is installed:
# libmpi.so.40. Empty if the file is no shared library.
function(soname out file)
    execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${file} OUTPUT_VARIABLE text RESULT_VARIABLE failed
                    ERROR_QUIET)
    set(${out} "" PARENT_SCOPE)
    if(NOT failed AND text MATCHES "SONAME +([^ \n]+)")
        set(${out} ${CMAKE_MATCH_1} PARENT_SCOPE)
    endif()
endfunction()
