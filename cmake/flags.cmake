# Flags for everything we compile.
#
# Results are part of the interface, so nothing here lets the compiler change them: no fast-math,
# no fused multiply-add, one baseline for all x86-64 machines of the last fifteen years.

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_C_FLAGS_RELEASE "-O3 -g1")
set(CMAKE_C_FLAGS_DEBUG "-Og -g3")

add_compile_definitions(_GNU_SOURCE)
add_compile_options(-Wall -Wextra -Wshadow -Wconversion -fno-math-errno -fno-trapping-math
                    -ffp-contract=off
                    -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=) # no path of this machine in messages
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
    add_compile_options(-Wno-string-conversion) # SL_ASSERT(!"never here") says what it means
endif()
set(x86_64 OFF)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    set(x86_64 ON)
    add_compile_options(-march=x86-64-v2)
endif()
if(SYMLAW_WERROR)
    add_compile_options(-Werror)
endif()

set(sanitize ${SYMLAW_SANITIZE})
if(SYMLAW_FUZZ)
    set(sanitize "fuzzer-no-link,address,undefined")
endif()
if(sanitize)
    add_compile_options(-fsanitize=${sanitize} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${sanitize})
    # instrumented code keeps gcc from seeing what is set, and it warns where all is; the release build checks
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
        add_compile_options(-Wno-maybe-uninitialized)
    endif()
endif()
if(SYMLAW_COVERAGE)
    add_compile_options(--coverage)
    add_link_options(--coverage)
endif()
