# find_package(mayfly) defines mayfly::mayfly, with the header mayfly/mayfly.h.
set(MAYFLY_LIBRARIES ${CMAKE_CURRENT_LIST_DIR}/libraries)  # libraries that are missing there come from the system
include(${CMAKE_CURRENT_LIST_DIR}/dependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/mayfly-targets.cmake)
