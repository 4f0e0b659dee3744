# Compiles the parts of RocksDB that requests rarely enter for size. script/dependencies passes this file to RocksDB's
# CMake project, which stays unchanged. The parts are directories, so the file works with all versions of RocksDB.
function(mayfly_compile_for_size)
  set(parts db/blob/ db/compaction/ options/ table/adaptive/ table/cuckoo/ table/plain/ tools/ trace_replay/ utilities/)
  list(JOIN parts "|" any_part)
  get_target_property(sources rocksdb SOURCES)
  # Zig's compiler for arm64 uses the CRC instructions, but rejects the option with which RocksDB looks for them.
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64 AND NOT util/crc32c_arm64.cc IN_LIST sources)
    list(APPEND sources util/crc32c_arm64.cc)
  endif()
  set(for_size ${sources})
  list(FILTER for_size INCLUDE REGEX "^(${any_part})")
  list(REMOVE_ITEM sources ${for_size})
  add_library(rocksdb_for_size OBJECT ${for_size})
  target_compile_options(rocksdb_for_size PRIVATE -Os)
  foreach(property INCLUDE_DIRECTORIES COMPILE_DEFINITIONS)
    get_target_property(values rocksdb ${property})
    if(values)
      set_target_properties(rocksdb_for_size PROPERTIES ${property} "${values}")
    endif()
  endforeach()
  # This file calls a function that <windows.h> defines as a macro, unless file_system.h comes last and removes the macro.
  set_source_files_properties(file/sst_file_manager_impl.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  # The linker takes a template from the first object that has it, which must not be one that is compiled for size.
  set_target_properties(rocksdb PROPERTIES SOURCES "${sources};$<TARGET_OBJECTS:rocksdb_for_size>")
endfunction()
cmake_language(DEFER CALL mayfly_compile_for_size)
