# Sanitizer builds. MAYFLY_SANITIZE lists the sanitizers, as in -fsanitize=.
#
# A sanitizer understands only code that was compiled with it: TSan would not see RocksDB's locks, and ASan would not see
# the bounds of RocksDB's vectors. RocksDB therefore comes from script/dependencies. Boost.JSON, with which tests compare
# results, is compiled here from its headers. zlib is written in C and shares nothing between threads, so Debian's zlib
# is used.
if(NOT EXISTS ${MAYFLY_LIBRARIES}/lib/librocksdb.a)
  message(FATAL_ERROR "MAYFLY_LIBRARIES is \"${MAYFLY_LIBRARIES}\", which has no lib/librocksdb.a. Build it with"
                      " `script/dependencies address` or `script/dependencies thread`.")
endif()
set(MAYFLY_SHARED_DEPENDENCIES ON)

add_library(mayfly_instrumentation INTERFACE)
# Reports show lines but not variables, so -g1 is enough. Compiling with -g1 takes two thirds of the time that -g takes.
target_compile_options(mayfly_instrumentation INTERFACE -fsanitize=${MAYFLY_SANITIZE} -fno-omit-frame-pointer -O1 -g1)
target_link_options(mayfly_instrumentation INTERFACE -fsanitize=${MAYFLY_SANITIZE})
# The code that sanitizers add prevents GCC from seeing that variables are initialized.
target_compile_options(mayfly_instrumentation INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
# TSan does not support fences. Asio uses them for handlers that a strand or a pool passes between threads. A mutex also
# orders these handlers, so TSan reports no false races.
if(MAYFLY_SANITIZE MATCHES thread)
  target_compile_options(mayfly_instrumentation INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
endif()
# Checks the indexes of vectors and strings. With ASan, also reports accesses to a vector's unused capacity.
target_compile_definitions(mayfly_instrumentation INTERFACE _GLIBCXX_ASSERTIONS)
if(MAYFLY_SANITIZE MATCHES address)
  target_compile_definitions(mayfly_instrumentation INTERFACE _GLIBCXX_SANITIZE_VECTOR)
endif()

file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/boost_json.cc CONTENT "#include <boost/json/src.hpp>\n")
add_library(mayfly_boost_json STATIC ${PROJECT_BINARY_DIR}/boost_json.cc)
target_link_libraries(mayfly_boost_json PRIVATE mayfly_instrumentation)
# The target is imported, like the system library that it replaces.
add_library(mayfly::boost_json INTERFACE IMPORTED GLOBAL)
target_link_libraries(mayfly::boost_json INTERFACE mayfly_boost_json)
