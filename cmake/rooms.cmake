# With CMAKE_UNITY_BUILD the files of a room (a folder) are compiled together, a few at a time: most of a file's time
# goes into what it includes, and what a room's files include is much the same. So no two files of a room may have
# private names that mean different things. The operations do by design (each has its `members`, `shape` and `run`),
# and so do readers of schemas: they are compiled one by one; so is a main.cc, which not all programs with the rest of its room take.
function(mayfly_compile_by_room target)
  set(together_max 8)  # on average
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    mayfly_room(${source} room)
    math(EXPR files_${room} "0${files_${room}} + 1")
  endforeach()
  foreach(source IN LISTS sources)
    mayfly_room(${source} room)
    cmake_path(GET source FILENAME name)
    if(room STREQUAL operations OR room STREQUAL schemas OR name STREQUAL main.cc)
      continue()
    endif()
    # By its name: another file beside it does not change who else is compiled with it.
    string(MD5 hash ${name})
    string(SUBSTRING ${hash} 0 6 hash)
    math(EXPR part "0x${hash} % ((${files_${room}} + ${together_max} - 1) / ${together_max})")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${room}_${part})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  # What lies in an included file is not therefore in a header; and how much GCC inlines is bounded by what is
  # compiled together, for which the default (10000) is too little: a request took 5 % more instructions.
  target_compile_options(${target} PRIVATE
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage;--param=large-unit-insns=24000>)
endfunction()

# What most files of a target include, read and compiled once: by GCC, where rooms are compiled together. Elsewhere
# each file is compiled alone, and shows that it includes what it needs.
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
