# What the Python package holds besides its modules: library, program, default model, example tables
# and the page of "symlaw serve". Included where scikit-build-core builds the package. Library and
# program find share/ by their own place (src/commands/share.c).
set(python_data symlaw/share/symlaw)
file(GLOB tables examples/*.csv)
install(FILES models/small.safetensors DESTINATION ${python_data}/models COMPONENT python)
install(FILES ${tables} examples/README.md DESTINATION ${python_data}/examples COMPONENT python)
if(EXISTS ${CMAKE_SOURCE_DIR}/web)
    install(DIRECTORY web/ DESTINATION ${python_data}/web COMPONENT python
            PATTERN "README.md" EXCLUDE)
endif()
install(FILES LICENSE DESTINATION symlaw COMPONENT python)

# Of what another build has made: nothing is compiled, for a test of the package that takes seconds.
if(SYMLAW_PREBUILT)
    add_custom_target(symlaw_shared)
    add_custom_target(symlaw)
    file(REAL_PATH ${SYMLAW_PREBUILT}/libsymlaw.so file)
    install(FILES ${file} DESTINATION symlaw RENAME libsymlaw.so COMPONENT python)
    install(PROGRAMS ${SYMLAW_PREBUILT}/symlaw DESTINATION symlaw/bin COMPONENT python)
    return()
endif()

# One name: a wheel has no links.
set_property(TARGET symlaw_shared PROPERTY VERSION)
set_property(TARGET symlaw_shared PROPERTY SOVERSION)
set_property(TARGET symlaw_shared PROPERTY INSTALL_RPATH "$ORIGIN")
set_property(TARGET symlaw PROPERTY INSTALL_RPATH "$ORIGIN/..")
install(TARGETS symlaw_shared LIBRARY DESTINATION symlaw COMPONENT python)
install(TARGETS symlaw RUNTIME DESTINATION symlaw/bin COMPONENT python)

# A wheel for other machines also has the libraries that multiply, under the names that
# src/nn/libraries.c loads them by. auditwheel adds what those and ours are linked with.
if(SYMLAW_BUNDLE)
    foreach(pair "${onednn_name}|${DNNL_LIBRARY}" "${openblas_name}|${OPENBLAS_PTHREAD}")
        string(REGEX MATCH "^(.*)\\|(.*)$" matched "${pair}")
        file(REAL_PATH "${CMAKE_MATCH_2}" file)
        install(FILES ${file} DESTINATION symlaw RENAME ${CMAKE_MATCH_1} COMPONENT python)
    endforeach()
    foreach(package libdnnl2 ocl-icd-libopencl1 libopenblas0-pthread libgfortran5 libquadmath0
                    libgomp1 libcminpack1 libjansson4 libxxhash0 zlib1g libmicrohttpd12 libgnutls30
                    libgmp10 libnettle8 libhogweed6 libidn2-0 libunistring2 libtasn1-6 libp11-kit0
                    libffi8)
        if(EXISTS /usr/share/doc/${package}/copyright)
            install(FILES /usr/share/doc/${package}/copyright DESTINATION symlaw/licenses
                    RENAME ${package} COMPONENT python)
        endif()
    endforeach()
endif()
