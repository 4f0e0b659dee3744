# find_package(mayfly) -> mayfly::mayfly, whose header is mayfly/mayfly.h.
set(MAYFLY_ROCKSDB_PREFIX ${CMAKE_CURRENT_LIST_DIR}/rocksdb)  # not there: Debian's
include(${CMAKE_CURRENT_LIST_DIR}/dependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/mayfly-targets.cmake)
