# With CMAKE_UNITY_BUILD, the files of a room (a folder) are compiled together, a few at a time. A file's includes take most
# of its compile time, and the files of a room include nearly the same headers.
#
# Two files of a room must therefore not use the same private name for different things. Three kinds of files are compiled
# alone: operations and schema readers, which reuse private names by design (each operation has its `members`, `shape` and
# `run`), and main.cc, because some programs use the rest of its room without it.
function(mayfly_compile_by_room target)
  set(together_max 8)  # average number of files that are compiled together
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    mayfly_room(${source} room)
    math(EXPR files_${room} "0${files_${room}} + 1")
  endforeach()
  foreach(source IN LISTS sources)
    mayfly_room(${source} room)
    cmake_path(GET source FILENAME name)
    if(source MATCHES "/compat/operations/" OR room STREQUAL schemas OR name STREQUAL main.cc)
      continue()
    endif()
    # Groups files by a hash of the name, so that adding a file does not move other files to different groups.
    string(MD5 hash ${name})
    string(SUBSTRING ${hash} 0 6 hash)
    math(EXPR part "0x${hash} % ((${files_${room}} + ${together_max} - 1) / ${together_max})")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${room}_${part})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  # GCC treats an included .cc file as a header and warns about its anonymous namespaces. It also limits inlining by the size
  # of a translation unit. The default limit (10000) is too low for a group of files: a request took 5 % more instructions.
  target_compile_options(${target} PRIVATE
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage;--param=large-unit-insns=24000>)
endfunction()

# Precompiles the headers that most files of a target include, for GCC and when rooms are compiled together. In other builds
# each file is compiled alone, which shows that the file includes everything it needs.
function(mayfly_precompile target)
  get_target_property(by_room ${target} UNITY_BUILD)
  if(by_room AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    if(ARGV1 STREQUAL REUSE_FROM)
      target_precompile_headers(${target} ${ARGN})
    else()
      set(headers ${ARGN})
      list(TRANSFORM headers REPLACE "^([a-z].*)" "${PROJECT_SOURCE_DIR}/\\1")
      target_precompile_headers(${target} PRIVATE ${headers})
    endif()
  endif()
endfunction()

function(mayfly_room source out)
  cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE path)
  cmake_path(GET path PARENT_PATH folder)
  cmake_path(GET folder FILENAME room)
  set(${out} ${room} PARENT_SCOPE)
endfunction()
