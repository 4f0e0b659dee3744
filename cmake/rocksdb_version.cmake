# mayfly_check_rocksdb(INCLUDE): stops unless INCLUDE has the headers of a RocksDB that Mayfly supports.
#
# Mayfly compiles with 7.8 to 10.10 as it is. 11 removed DB::Open's form that those versions have in common.
function(mayfly_check_rocksdb include)
  file(STRINGS ${include}/rocksdb/version.h lines REGEX "define ROCKSDB_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE "[^0-9;]" "" numbers "${lines}")
  list(JOIN numbers . version)
  if(version VERSION_LESS 7.8 OR version VERSION_GREATER_EQUAL 11)
    message(FATAL_ERROR "RocksDB ${version} in ${include} is not supported: install RocksDB 7.8 to 10.x, or set "
                        "MAYFLY_ROCKSDB_PREFIX to a directory that has it as include/ and lib/librocksdb.a.")
  endif()
endfunction()
