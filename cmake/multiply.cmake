# The libraries that multiply matrices: headers to compile with, and the files that src/nn/libraries.c
# loads when a product is first needed. Nothing is linked with them.
#
# OpenBLAS exists in variants that share one name, libopenblas.so.0: serial, pthread, openmp. On Debian
# that name is one of them by `update-alternatives`; the pthread variant is tried first, by its path.
pkg_check_modules(OPENBLAS REQUIRED openblas)
# By name: oneDNN's own package file requires the headers of OpenCL, which are not used here.
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.h REQUIRED)
find_library(DNNL_LIBRARY dnnl REQUIRED)

find_library(OPENBLAS_LIBRARY openblas HINTS ${OPENBLAS_LIBRARY_DIRS} REQUIRED)
foreach(file onednn:${DNNL_LIBRARY} openblas:${OPENBLAS_LIBRARY})
    string(REGEX MATCH "^([a-z]+):(.*)$" matched ${file})
    soname(${CMAKE_MATCH_1}_name ${CMAKE_MATCH_2})
    if(NOT ${CMAKE_MATCH_1}_name)
        message(FATAL_ERROR "${CMAKE_MATCH_2} is no shared library; symlaw loads it at run time")
    endif()
endforeach()
find_file(OPENBLAS_PTHREAD ${openblas_name} HINTS ${OPENBLAS_LIBRARY_DIRS}
          PATHS ${CMAKE_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-pthread
                /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} /usr/lib64 /usr/lib
          PATH_SUFFIXES openblas-pthread NO_DEFAULT_PATH)
if(NOT OPENBLAS_PTHREAD OR NOT OPENBLAS_PTHREAD MATCHES "openblas-pthread/" OR SYMLAW_BUNDLE)
    set(openblas_file "") # SYMLAW_BUNDLE: the one beside the library, by its name
else()
    string(REPLACE "${CMAKE_SYSROOT}/" "/" openblas_file ${OPENBLAS_PTHREAD}) # where it runs
endif()
set(multiply_includes ${DNNL_INCLUDE_DIR} ${OPENBLAS_INCLUDE_DIRS})
list(REMOVE_ITEM multiply_includes ${CMAKE_C_IMPLICIT_INCLUDE_DIRECTORIES})
set(multiply_definitions SYMLAW_ONEDNN_FILE="${onednn_name}" SYMLAW_OPENBLAS_FILE="${openblas_file}"
    SYMLAW_OPENBLAS_NAME="${openblas_name}")
