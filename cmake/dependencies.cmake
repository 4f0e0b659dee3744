# Defines a target for each library that Mayfly links: mayfly::rocksdb, mayfly::zlib, mayfly::deflate, mayfly::zstd,
# mayfly::expat, mayfly::openssl and mayfly::cares.
#
# By default these are the system's static archives, so that an executable is self-contained. With
# MAYFLY_SHARED_DEPENDENCIES they are the system's shared libraries, which sanitizers need. RocksDB and the archives of OpenSSL come
# from MAYFLY_LIBRARIES, where script/dependencies puts them, if they are there. Mayfly's own build and its installed CMake package
# include this file.
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
      # Ubuntu 24.04 names c-ares libcares_static.a.
      find_library(MAYFLY_ARCHIVE_${library} NAMES lib${library}.a lib${library}_static.a REQUIRED)
      set(path ${MAYFLY_ARCHIVE_${library}})
      mark_as_advanced(MAYFLY_ARCHIVE_${library})
    endif()
    list(APPEND libraries ${path})
  endforeach()
  add_library(mayfly::${name} INTERFACE IMPORTED GLOBAL)
  set_target_properties(mayfly::${name} PROPERTIES INTERFACE_LINK_LIBRARIES "${libraries}")
endfunction()

mayfly_dependency(zlib z)
mayfly_dependency(deflate deflate)
mayfly_dependency(zstd zstd)
mayfly_dependency(expat expat)
mayfly_dependency(cares cares)

if(NOT TARGET mayfly::openssl AND NOT MAYFLY_SHARED_DEPENDENCIES AND EXISTS "${MAYFLY_LIBRARIES}/lib/libssl.a")
  add_library(mayfly::openssl INTERFACE IMPORTED GLOBAL)
  target_include_directories(mayfly::openssl INTERFACE ${MAYFLY_LIBRARIES}/include)
  target_link_libraries(mayfly::openssl INTERFACE ${MAYFLY_LIBRARIES}/lib/libssl.a ${MAYFLY_LIBRARIES}/lib/libcrypto.a)
endif()
mayfly_dependency(openssl ssl crypto)

include(${CMAKE_CURRENT_LIST_DIR}/rocksdb_version.cmake)
if(NOT TARGET mayfly::rocksdb)
  if(MAYFLY_LIBRARIES AND EXISTS "${MAYFLY_LIBRARIES}/lib/librocksdb.a")
    mayfly_check_rocksdb(${MAYFLY_LIBRARIES}/include)
    add_library(mayfly::rocksdb INTERFACE IMPORTED GLOBAL)
    target_include_directories(mayfly::rocksdb INTERFACE ${MAYFLY_LIBRARIES}/include)
    target_link_libraries(mayfly::rocksdb INTERFACE ${MAYFLY_LIBRARIES}/lib/librocksdb.a)
  else()
    find_path(MAYFLY_ROCKSDB_INCLUDE rocksdb/db.h REQUIRED)
    mark_as_advanced(MAYFLY_ROCKSDB_INCLUDE)
    mayfly_check_rocksdb(${MAYFLY_ROCKSDB_INCLUDE})
    if(MAYFLY_SHARED_DEPENDENCIES)
      mayfly_dependency(rocksdb rocksdb)
    else()
      mayfly_dependency(rocksdb rocksdb snappy lz4 zstd bz2 z)
    endif()
  endif()
endif()
