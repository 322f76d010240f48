# `make package`: Debian packages, and a tarball that runs where it is unpacked.
#     symlaw           the program, with its model, examples, completions and manual
#     libsymlaw0       the shared library
#     libsymlaw-dev    what programs are built with
# The program does not use the shared library. Libraries that are loaded at run time and not linked
# (src/nn/libraries.c, src/par/ranks_mpi.c) are named here; dpkg-shlibdeps finds the others.
set(CPACK_PACKAGE_NAME symlaw)
set(CPACK_PACKAGE_VENDOR "symlaw contributors")
set(SYMLAW_CONTACT "symlaw contributors <maintainers@symlaw.invalid>" CACHE STRING
    "Maintainer of packages: name <address>")
set(CPACK_PACKAGE_CONTACT ${SYMLAW_CONTACT})
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "formulas behind tables of numbers")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL program library dev)
set(CPACK_THREADS 0)

# ---------------------------------------------------------------- tarball ----------------------

# All components in one folder: the program looks for its files relative to itself.
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
string(TOLOWER ${CMAKE_SYSTEM_NAME} system)
set(CPACK_PACKAGE_FILE_NAME symlaw-${PROJECT_VERSION}-${system}-${CMAKE_SYSTEM_PROCESSOR})

# ---------------------------------------------------------------- Debian -----------------------

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
# dh_strip and dh_compress are what these stand in for: manuals are compressed, and each package has
# its licence and changelog.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_BINARY_DIR}/package_files.cmake)
configure_file(cmake/package_files.cmake.in package_files.cmake @ONLY)

set(products "libdnnl2, libopenblas0-pthread")
set(what "symlaw finds the formula behind a table of numbers by an exhaustive search
and by trained models, lists every distinct expression up to a depth, trains
transformers for symbolic regression, and fits scaling laws of such training.")

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME symlaw)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS ${products})
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS openmpi-bin)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "${what}")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libsymlaw${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS ${products})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS "symlaw, libopenmpi3")
# CPack also writes scripts that call ldconfig, which cannot be turned off: package_files.cmake.in
# has the override for lintian.
set(control ${CMAKE_CURRENT_BINARY_DIR}/control)
file(WRITE ${control}/triggers "activate-noawait ldconfig\n")
file(WRITE ${control}/shlibs "libsymlaw ${PROJECT_VERSION_MAJOR} "
     "libsymlaw${PROJECT_VERSION_MAJOR} (>= ${PROJECT_VERSION})\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${control}/triggers ${control}/shlibs)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "${what}

This package has the shared library.")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libsymlaw-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libsymlaw${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_DEV_DESCRIPTION "${what}

This package has the header, the static library, and files for pkg-config and
CMake.")
include(CPack)
