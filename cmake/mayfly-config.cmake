# find_package(mayfly) -> mayfly::mayfly, whose header is mayfly/mayfly.h.
include(${CMAKE_CURRENT_LIST_DIR}/dependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/mayfly-targets.cmake)
