# What Mayfly links: RocksDB, Boost.JSON, zlib, Zstandard, Expat and OpenSSL as mayfly::rocksdb, mayfly::boost_json,
# mayfly::zlib, mayfly::zstd, mayfly::expat and mayfly::openssl.
#
# Debian's archives, so that an executable carries all it needs; with MAYFLY_SHARED_DEPENDENCIES the shared
# libraries, which sanitizers want. RocksDB is what script/rocksdb has built, if MAYFLY_ROCKSDB_PREFIX has it. Included by
# Mayfly's own build and by the package it installs.
include(CMakeFindDependencyMacro)
find_dependency(Threads)

find_path(MAYFLY_BOOST_INCLUDE boost/beast/http/basic_parser.hpp REQUIRED)
mark_as_advanced(MAYFLY_BOOST_INCLUDE)

function(mayfly_dependency name)
  if(TARGET mayfly::${name})
    return()
  endif()
  set(libraries "")
  foreach(library ${ARGN})
    if(MAYFLY_SHARED_DEPENDENCIES)
      find_library(MAYFLY_SHARED_${library} ${library} REQUIRED)
      set(path ${MAYFLY_SHARED_${library}})
      mark_as_advanced(MAYFLY_SHARED_${library})
    else()
      find_library(MAYFLY_ARCHIVE_${library} lib${library}.a REQUIRED)
      set(path ${MAYFLY_ARCHIVE_${library}})
      mark_as_advanced(MAYFLY_ARCHIVE_${library})
    endif()
    list(APPEND libraries ${path})
  endforeach()
  add_library(mayfly::${name} INTERFACE IMPORTED GLOBAL)
  set_target_properties(mayfly::${name} PROPERTIES INTERFACE_LINK_LIBRARIES "${libraries}")
endfunction()

mayfly_dependency(zlib z)
mayfly_dependency(zstd zstd)
mayfly_dependency(expat expat)
mayfly_dependency(openssl ssl crypto)
mayfly_dependency(boost_json boost_json)
if(MAYFLY_ROCKSDB_PREFIX AND EXISTS "${MAYFLY_ROCKSDB_PREFIX}/lib/librocksdb.a")
  if(NOT TARGET mayfly::rocksdb)
    add_library(mayfly::rocksdb INTERFACE IMPORTED GLOBAL)
    target_include_directories(mayfly::rocksdb INTERFACE ${MAYFLY_ROCKSDB_PREFIX}/include)
    target_link_libraries(mayfly::rocksdb INTERFACE ${MAYFLY_ROCKSDB_PREFIX}/lib/librocksdb.a)
  endif()
else()
  find_path(MAYFLY_ROCKSDB_INCLUDE rocksdb/db.h REQUIRED)
  mark_as_advanced(MAYFLY_ROCKSDB_INCLUDE)
  mayfly_dependency(rocksdb rocksdb snappy lz4 zstd bz2 z)
endif()
