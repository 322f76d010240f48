# What people type. The build itself is CMake: CMakeLists.txt and CMakePresets.json.
#
#     make              build/symlaw and the libraries
#     make check        build, then every test that takes seconds
#     make check-long   many more random cases, fuzzing, killed runs: hours
#     make lint         clang-tidy and cppcheck on the library and the program: no finding
#     make coverage     lines that the unit tests reach, per folder, and whether that is enough
#     make bench        measure speed, one TSV row per case
#     make study        a scaling study of small models: trained, evaluated, laws fitted, a report in
#                       runs/micro; about ten minutes. After a stop it goes on where it was
#     make study QUICK=1   one of a minute that goes through all phases, in runs/quick
#     make install      to PREFIX (default /usr/local), below DESTDIR
#     make package      Debian packages and a tarball that runs where it is unpacked, in build-package
#     make wheel        the Python package for other machines, in build-wheel/dist
#
# What is missing is installed first, after it was named; SYMLAW_SETUP=no leaves that out.
# SL_JOBS: processes at once. SL_FUZZ_SECONDS: for each fuzz target. CMAKE_ARGS: passed on.

SL_JOBS ?= $(shell nproc 2>/dev/null || echo 2)
SL_TEST_JOBS ?= 2
SL_FUZZ_SECONDS ?= 600
# Percent of lines. A change may raise it, none may fall below.
SL_COVERAGE_FLOOR ?= 95
PREFIX ?= /usr/local
# Ninja where there is one; a build directory that exists keeps what it was made with.
export CMAKE_GENERATOR ?= $(if $(shell command -v ninja),Ninja,Unix Makefiles)

MAKEFLAGS += --no-print-directory

.PHONY: all configure setup check check-long lint coverage coverage-report fuzz bench study install \
    package wheel clean format

all: configure
	@cmake --build build --parallel $(SL_JOBS)

configure:
	@mkdir -p build
	@cmake --preset release $(CMAKE_ARGS) > build/configure.log 2>&1 || \
	    { cat build/configure.log; exit 1; }

setup:
	@tools/setup

check:
	@tools/setup check
	@$(MAKE) all
	@ctest --test-dir build --output-on-failure -j $(SL_TEST_JOBS) -LE long --timeout 300
	@build/test/cpu.avx512 || true

check-long: check fuzz
	@SL_TEST_SCALE=50 ctest --test-dir build --output-on-failure -j $(SL_TEST_JOBS) -L unit \
	    --timeout 7200
	@ctest --test-dir build --output-on-failure -L long --no-tests=ignore

# Each target in turn; what it finds joins the corpus, a crash stops here with its input.
fuzz:
	@tools/setup fuzz
	@cmake --preset fuzz > /dev/null && cmake --build build-fuzz --parallel $(SL_JOBS)
	@for f in build-fuzz/fuzz/*; do \
	    if [ -x "$$f" ]; then tools/fuzz "$$f" $(SL_FUZZ_SECONDS) || exit 1; fi; \
	done

lint:
	@tools/setup lint
	@tools/lint

coverage:
	@tools/setup check
	@cmake --preset coverage $(CMAKE_ARGS) > /dev/null && cmake --build build-coverage --parallel $(SL_JOBS)
	@find build-coverage -name '*.gcda' -delete
	@ctest --test-dir build-coverage --output-on-failure -j $(SL_TEST_JOBS) -L unit --timeout 900
	@$(MAKE) coverage-report COVERAGE_BUILD=build-coverage

# Of any build with SYMLAW_COVERAGE whose tests have run.
coverage-report:
	@tools/coverage --floor $(SL_COVERAGE_FLOOR) $(COVERAGE_BUILD)

bench: all
	@for f in build/bench/*; do if [ -x "$$f" ]; then "$$f" || exit 1; fi; done

study: setup
	@$(MAKE) all
	build/symlaw study run studies/$(if $(QUICK),quick,micro).json

install: all
	@cmake --install build --prefix "$(PREFIX)"

package:
	@tools/setup package
	@cmake --preset package $(CMAKE_ARGS) > /dev/null && cmake --build build-package --parallel $(SL_JOBS)
	@cd build-package && cpack -G "DEB;TGZ" > package.log 2>&1 || { cat package.log; exit 1; }
	@ls build-package/*.deb build-package/*.tar.gz

wheel:
	@tools/setup check
	@tools/wheel

clean:
	@rm -rf build build-debug build-sanitize build-thread build-coverage build-nompi build-clang build-fuzz \
	    build-lint build-package build-wheel

# Headers are set by hand: their tables and drawings are there to be read.
format:
	@git ls-files '*.c' | xargs clang-format -i
