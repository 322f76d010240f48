# SYMLAW_LAYERS: the folders of src/ from the bottom up, from the table that also lists which folder
# may include which.
set(layers_file ${CMAKE_SOURCE_DIR}/tests/includes/layers.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${layers_file})
file(STRINGS ${layers_file} rows REGEX "^[a-z]")
set(SYMLAW_LAYERS "")
foreach(row IN LISTS rows)
    string(REGEX MATCH "^[a-z_]+" folder "${row}")
    list(APPEND SYMLAW_LAYERS ${folder})
endforeach()
