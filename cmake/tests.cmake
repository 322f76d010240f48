# Tests and benches. src/<module>/test/t_X.c becomes test <module>.X and program test/<module>.X;
# src/<module>/bench/b_X.c becomes program bench/<module>.X, which nothing runs by itself.
enable_testing()
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

# What tests and benches share: src/<module>/test/lib/*.c, which <module>_test.h declares (random
# generators, passes in double), and src/<module>/ref/*.c, kernels as plain loops. They are not part
# of the library.
file(GLOB test_sources CONFIGURE_DEPENDS src/*/test/lib/*.c src/*/ref/*.c)
add_library(test_parts STATIC ${test_sources})
target_link_libraries(test_parts PUBLIC symlaw_static)

add_library(fixture STATIC tests/fixture/fixture.c)
target_include_directories(fixture PUBLIC tests)
target_link_libraries(fixture PUBLIC test_parts PkgConfig::CMOCKA)
if(NOT x86_64 AND CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION VERSION_LESS 13)
    # largest numbers by fmax end in an internal error of gcc 12.2's vectoriser for aarch64
    target_compile_options(fixture PUBLIC -fno-tree-loop-vectorize)
endif()

# The server with allocations that are counted and can fail.
if(TARGET symlaw_serve)
    add_library(serve_counted STATIC ${serve_sources} tests/fixture/counted.c)
    target_compile_options(serve_counted PRIVATE
        -include ${CMAKE_SOURCE_DIR}/tests/fixture/counted.h)
    target_link_libraries(serve_counted PUBLIC fixture PRIVATE PkgConfig::MICROHTTPD)
endif()

# Bottom-up, so that the first failure is nearest its cause. ctest -j runs by falling cost instead.
set(cost 10000)
foreach(module IN LISTS SYMLAW_LAYERS)
    file(GLOB tests CONFIGURE_DEPENDS src/${module}/test/t_*.c)
    foreach(file IN LISTS tests)
        string(REGEX REPLACE ".*/t_([^/]*)\\.c$" "${module}.\\1" name ${file})
        add_executable(${name} ${file})
        target_link_libraries(${name} PRIVATE $<$<STREQUAL:${module},serve>:serve_counted> fixture)
        set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
        add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
        if(name MATCHES "\\.long_") # t_long_X.c: minutes
            set_tests_properties(${name} PROPERTIES LABELS long TIMEOUT 86400)
        else()
            set_tests_properties(${name} PROPERTIES LABELS unit COST ${cost})
        endif()
        set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77) # SL_TEST_SKIPPED
        math(EXPR cost "${cost} - 1")
    endforeach()

    file(GLOB benches CONFIGURE_DEPENDS src/${module}/bench/b_*.c)
    foreach(file IN LISTS benches)
        string(REGEX REPLACE ".*/b_([^/]*)\\.c$" "${module}.\\1" name ${file})
        add_executable(bench.${name} ${file})
        target_link_libraries(bench.${name} PRIVATE test_parts)
        target_include_directories(bench.${name} PRIVATE ${CMAKE_SOURCE_DIR} tests)
        set_target_properties(bench.${name} PROPERTIES OUTPUT_NAME ${name}
            RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
    endforeach()
endforeach()

# The same programs once more on every instruction set below the CPU's best, with the same figures
# expected of each: name@base, name@avx2. They are labelled `lowered`. Modules that choose no kernels by
# instruction set, nor use one that does, are left out.
set(lowered "")
if(x86_64)
    set(lowered base avx2)
endif()
foreach(module base expr universe pairs fit search nn model optim train infer discover eval commands api)
    file(GLOB tests CONFIGURE_DEPENDS src/${module}/test/t_*.c)
    foreach(file IN LISTS tests)
        string(REGEX REPLACE ".*/t_([^/]*)\\.c$" "${module}.\\1" name ${file})
        if(name MATCHES "\\.long_|\\.ranks$|^base\\.cpu$")
            continue()
        endif()
        foreach(isa IN LISTS lowered)
            add_test(NAME ${name}@${isa} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
            set_tests_properties(${name}@${isa} PROPERTIES LABELS lowered COST 50
                SKIP_RETURN_CODE 77 ENVIRONMENT "SYMLAW_CPU=${isa}")
        endforeach()
    endforeach()
endforeach()
# Skipped, and named so in the summary, where there is no AVX-512.
add_executable(cpu.avx512 tests/cpu/avx512.c)
target_link_libraries(cpu.avx512 PRIVATE symlaw_static)
set_target_properties(cpu.avx512 PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
add_test(NAME cpu.avx512 COMMAND cpu.avx512)
set_tests_properties(cpu.avx512 PROPERTIES LABELS tree COST 20000 SKIP_RETURN_CODE 77)

# The same program under mpirun: several processes must agree. The leak checker is off there: Open
# MPI leaks at exit, and leaks of the library are counted by the fixture.
function(add_ranks_test program name ranks)
    if(NOT TARGET ${program})
        return()
    endif()
    add_test(NAME ${program}.${name} COMMAND ${MPIEXEC_EXECUTABLE} --oversubscribe
             ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:${program}>)
    set_tests_properties(${program}.${name} PROPERTIES LABELS unit COST ${cost} TIMEOUT 60
        ENVIRONMENT
        "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;SL_TEST_RANKS=${ranks}"
        ENVIRONMENT_MODIFICATION "ASAN_OPTIONS=set:detect_leaks=0")
endfunction()
if(MPI_C_FOUND)
    foreach(program par.ranks optim.ranks api.ranks)
        add_ranks_test(${program} two 2)
        add_ranks_test(${program} four 4)
    endforeach()
    if(TARGET train.ranks)
        add_test(NAME train.ranks.same COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:train.ranks>
                 -DMPIEXEC=${MPIEXEC_EXECUTABLE} -DFLAG=${MPIEXEC_NUMPROC_FLAG}
                 -DFOLDER=${CMAKE_BINARY_DIR}/test/relay
                 -P ${CMAKE_SOURCE_DIR}/cmake/same_ranks.cmake)
        set_tests_properties(train.ranks.same PROPERTIES LABELS unit COST ${cost} TIMEOUT 240
            ENVIRONMENT "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
            ENVIRONMENT_MODIFICATION "ASAN_OPTIONS=set:detect_leaks=0")
    endif()
endif()

# ---------------------------------------------------------------- the tree itself --------------

# Debian's Python first: the one in PATH may be a private build without Debian's packages.
set(python "")
foreach(candidate ${SYMLAW_PYTHON} /usr/bin/python3 python3)
    execute_process(COMMAND ${candidate} -c "import pytest, numpy" RESULT_VARIABLE missing
                    OUTPUT_QUIET ERROR_QUIET)
    if(missing EQUAL 0)
        set(python ${candidate})
        break()
    endif()
endforeach()
if(NOT python)
    message(WARNING "no python3 with pytest and numpy: tests of the command line are left out "
                    "(tools/setup check installs them; -DSYMLAW_PYTHON= names another one)")
endif()

find_program(python_any NAMES python3 PATHS /usr/bin NO_CACHE)
if(python_any)
    add_test(NAME includes COMMAND ${python_any} ${CMAKE_SOURCE_DIR}/tests/includes/includes.py
             --self-test ${CMAKE_SOURCE_DIR})
    set_tests_properties(includes PROPERTIES LABELS tree COST 20000)
    add_test(NAME docs.columns COMMAND ${python_any} ${CMAKE_SOURCE_DIR}/tests/docs/columns.py
             --self-test ${CMAKE_SOURCE_DIR})
    set_tests_properties(docs.columns PROPERTIES LABELS tree COST 20000)
    add_test(NAME docs.links COMMAND ${python_any} ${CMAKE_SOURCE_DIR}/tests/docs/links.py --self-test
             ${CMAKE_SOURCE_DIR})
    set_tests_properties(docs.links PROPERTIES LABELS tree COST 20000)
    add_test(NAME abi COMMAND ${python_any} ${CMAKE_SOURCE_DIR}/tests/abi/abi.py ${CMAKE_SOURCE_DIR}
             ${CMAKE_C_COMPILER} $<TARGET_FILE:symlaw_shared> ${static_library})
    set_tests_properties(abi PROPERTIES LABELS tree COST 20000 ENVIRONMENT "NM=${CMAKE_NM}")
    add_test(NAME names COMMAND ${python_any} ${CMAKE_SOURCE_DIR}/tests/names/names.py --self-test
             ${CMAKE_SOURCE_DIR}/src $<TARGET_OBJECTS:symlaw_objects> COMMAND_EXPAND_LISTS)
    set_tests_properties(names PROPERTIES LABELS tree COST 20000 ENVIRONMENT "NM=${CMAKE_NM}")
    add_test(NAME locale.calls COMMAND ${python_any} ${CMAKE_SOURCE_DIR}/tests/locale/calls.py
             --self-test ${CMAKE_C_COMPILER} $<TARGET_OBJECTS:symlaw_objects>
             $<$<TARGET_EXISTS:symlaw>:$<TARGET_OBJECTS:symlaw>>
             $<$<TARGET_EXISTS:symlaw_serve>:$<TARGET_OBJECTS:symlaw_serve>> COMMAND_EXPAND_LISTS)
    set_tests_properties(locale.calls PROPERTIES LABELS tree COST 20000
        ENVIRONMENT "NM=${CMAKE_NM}")
endif()

find_program(cxx NAMES c++ g++ clang++ NO_CACHE)
if(NOT cxx)
    set(cxx "")
endif()
add_test(NAME headertest COMMAND ${CMAKE_SOURCE_DIR}/tests/headertest/headertest.sh
         ${CMAKE_SOURCE_DIR} ${CMAKE_C_COMPILER} ${cxx})
set_tests_properties(headertest PROPERTIES LABELS tree COST 20000)

# ---------------------------------------------------------------- command line -----------------

if(python AND TARGET symlaw)
    file(GLOB files CONFIGURE_DEPENDS tests/cli/test_*.py tests/serve/test_*.py)
    foreach(file IN LISTS files)
        string(REGEX REPLACE ".*/(cli|serve)/test_([^/]*)\\.py$" "\\1.\\2" name ${file})
        add_test(NAME ${name} COMMAND ${python} -B -m pytest -q -rs -p no:cacheprovider ${file}
                 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
        set_tests_properties(${name} PROPERTIES LABELS cli COST 10 TIMEOUT 600
            SKIP_REGULAR_EXPRESSION "\n[0-9]+ skipped in " # all of them
            ENVIRONMENT "SYMLAW=$<TARGET_FILE:symlaw>")
    endforeach()
endif()

# ---------------------------------------------------------------- the Python package -----------

# The modules of python/ with the library of this build, by Debian's scikit-learn, pandas and SymPy.
# tests/long/wheel.sh runs the same tests against the wheel with those of PyPI; python.install is a
# short form of it that compiles nothing.
if(python AND NOT SYMLAW_SANITIZE AND NOT SYMLAW_COVERAGE)
    file(GLOB files CONFIGURE_DEPENDS python/tests/test_*.py)
    foreach(file IN LISTS files)
        string(REGEX REPLACE ".*/test_([^/]*)\\.py$" "python.\\1" name ${file})
        add_test(NAME ${name} COMMAND ${python} -B -m pytest -q -rs -p no:cacheprovider ${file}
                 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
        set_tests_properties(${name} PROPERTIES LABELS cli COST 10 TIMEOUT 600
            SKIP_REGULAR_EXPRESSION "\n[0-9]+ skipped in "
            ENVIRONMENT "PYTHONPATH=${CMAKE_SOURCE_DIR}/python;SYMLAW_LIBRARY=$<TARGET_FILE:symlaw_shared>;SYMLAW=$<TARGET_FILE:symlaw>")
    endforeach()
    add_test(NAME python.install COMMAND ${CMAKE_SOURCE_DIR}/python/tests/install.sh
             ${CMAKE_BINARY_DIR} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(python.install PROPERTIES LABELS cli COST 10 TIMEOUT 600
        SKIP_RETURN_CODE 77)
endif()

# ---------------------------------------------------------------- pages in a browser -----------

# What writes the page that the tests open. They skip themselves where there is no chromium.
add_executable(report_page tests/browser/report_page.c)
target_link_libraries(report_page PRIVATE symlaw_static)
set_target_properties(report_page PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
if(python AND TARGET symlaw)
    foreach(name report page)
        add_test(NAME browser.${name} COMMAND ${python} -B -m pytest -q -rs -p no:cacheprovider
                 ${CMAKE_SOURCE_DIR}/tests/browser/test_${name}.py
                 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
        set_tests_properties(browser.${name} PROPERTIES LABELS cli COST 10 TIMEOUT 600
            SKIP_REGULAR_EXPRESSION "\n[0-9]+ skipped in "
            ENVIRONMENT "SYMLAW=$<TARGET_FILE:symlaw>;REPORT_PAGE=$<TARGET_FILE:report_page>")
    endforeach()
endif()

# Hours rather than seconds: `make check-long` runs them, `make check` does not.
file(GLOB files CONFIGURE_DEPENDS tests/long/*.sh)
foreach(file IN LISTS files)
    cmake_path(GET file STEM name)
    add_test(NAME long.${name} COMMAND ${file} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(long.${name} PROPERTIES LABELS long TIMEOUT 86400
        ENVIRONMENT "SYMLAW=${CMAKE_BINARY_DIR}/symlaw")
endforeach()

# No test may read a set from the cache of an earlier run; tests of the cache have their own folder.
get_property(all DIRECTORY PROPERTY TESTS)
foreach(name IN LISTS all)
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT_MODIFICATION "SYMLAW_CACHE=set:off")
endforeach()
