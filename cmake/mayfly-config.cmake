# find_package(mayfly) defines mayfly::mayfly, with the header mayfly/mayfly.h.
set(MAYFLY_ROCKSDB_PREFIX ${CMAKE_CURRENT_LIST_DIR}/rocksdb)  # if it is missing, the system's RocksDB is used
include(${CMAKE_CURRENT_LIST_DIR}/dependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/mayfly-targets.cmake)
