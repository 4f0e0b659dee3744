# mayfly_check_rocksdb(INCLUDE): fails unless INCLUDE has the headers of a RocksDB version that Mayfly supports.
#
# Mayfly compiles with RocksDB 7.8 to 10.10. Version 11 removed the DB::Open overload that these versions share.
function(mayfly_check_rocksdb include)
  file(STRINGS ${include}/rocksdb/version.h lines REGEX "define ROCKSDB_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE "[^0-9;]" "" numbers "${lines}")
  list(JOIN numbers . version)
  if(version VERSION_LESS 7.8 OR version VERSION_GREATER_EQUAL 11)
    message(FATAL_ERROR "RocksDB ${version} in ${include} is not supported: install RocksDB 7.8 to 10.x, or set "
                        "MAYFLY_LIBRARIES to a directory that has it as include/ and lib/librocksdb.a.")
  endif()
endfunction()
