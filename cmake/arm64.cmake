# For arm64, on another machine: Debian's cross compiler, and what script/sysroot has unpacked of Debian's arm64
# packages, which is linked. The C library and libstdc++ are the cross compiler's own.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH root)
set(CMAKE_FIND_ROOT_PATH ${root}/build/arm64-sysroot)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# Some headers lie where the machine's own would: behind all others, so that what wraps the C library's comes first.
set(CMAKE_CXX_FLAGS_INIT "-idirafter ${CMAKE_FIND_ROOT_PATH}/usr/include -idirafter ${CMAKE_FIND_ROOT_PATH}/usr/include/aarch64-linux-gnu")
set(CMAKE_C_FLAGS_INIT "${CMAKE_CXX_FLAGS_INIT}")
# Tests, and what the build itself runs; the C library that they are linked with is the cross compiler's own.
find_program(QEMU qemu-aarch64-static)
set(CMAKE_CROSSCOMPILING_EMULATOR ${QEMU} -L /usr/aarch64-linux-gnu)
