# MPI: headers to compile src/par/ranks_mpi.c with, and the file that it loads when several processes
# were started together. Nothing is linked with it.
find_package(MPI COMPONENTS C)
if(MPI_C_FOUND)
    # the library among what its compiler wrapper links with, by the name it gives itself: libmpi.so.40
    set(mpi_file "")
    foreach(file IN LISTS MPI_C_LIBRARIES)
        if(NOT mpi_file AND file MATCHES "/lib(mpi|mpich|msmpi)[^/]*\\.so")
            soname(mpi_file ${file})
        endif()
    endforeach()
    if(NOT mpi_file)
        message(FATAL_ERROR "no shared library of MPI among ${MPI_C_LIBRARIES}; symlaw loads it at "
                            "run time (-DSYMLAW_MPI=OFF builds without)")
    endif()
    set_source_files_properties(src/par/ranks_mpi.c PROPERTIES
        INCLUDE_DIRECTORIES "${MPI_C_INCLUDE_DIRS}" COMPILE_OPTIONS "${MPI_C_COMPILE_OPTIONS}"
        COMPILE_DEFINITIONS "SYMLAW_MPI_FILE=\"${mpi_file}\"")
endif()
