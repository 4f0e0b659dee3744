# A build with sanitizers: MAYFLY_SANITIZE names them, as -fsanitize= takes them.
#
# They see only what they compiled. A lock that RocksDB takes would be no lock to TSan, a vector of RocksDB's no
# container to ASan; so RocksDB comes from script/rocksdb, and Boost.JSON, which tests compare with, is
# compiled here from its headers. zlib is C, shares nothing between threads, and stays Debian's.
if(NOT EXISTS ${MAYFLY_ROCKSDB_PREFIX}/lib/librocksdb.a)
  message(FATAL_ERROR "No RocksDB in \"${MAYFLY_ROCKSDB_PREFIX}\" (MAYFLY_ROCKSDB_PREFIX):"
                      " `script/rocksdb address` or `thread` builds it.")
endif()
set(MAYFLY_SHARED_DEPENDENCIES ON)

add_library(mayfly_instrumentation INTERFACE)
# -g1, lines without variables, is what a report shows; it compiles in two thirds of -g's time.
target_compile_options(mayfly_instrumentation INTERFACE -fsanitize=${MAYFLY_SANITIZE} -fno-omit-frame-pointer -O1 -g1)
target_link_options(mayfly_instrumentation INTERFACE -fsanitize=${MAYFLY_SANITIZE})
# Sanitizers hide from GCC what it would need to know of initialisation.
target_compile_options(mayfly_instrumentation INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
# TSan does not see fences. Asio's are there for handlers that a strand or a pool hands from thread to thread; those
# pass a mutex too.
if(MAYFLY_SANITIZE MATCHES thread)
  target_compile_options(mayfly_instrumentation INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
endif()
# Indexes of vectors and strings are checked; with ASan also what a vector has reserved but does not hold.
target_compile_definitions(mayfly_instrumentation INTERFACE _GLIBCXX_ASSERTIONS)
if(MAYFLY_SANITIZE MATCHES address)
  target_compile_definitions(mayfly_instrumentation INTERFACE _GLIBCXX_SANITIZE_VECTOR)
endif()

file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/boost_json.cc CONTENT "#include <boost/json/src.hpp>\n")
add_library(mayfly_boost_json STATIC ${PROJECT_BINARY_DIR}/boost_json.cc)
target_link_libraries(mayfly_boost_json PRIVATE mayfly_instrumentation)
# Imported, as the library that it stands for.
add_library(mayfly::boost_json INTERFACE IMPORTED GLOBAL)
target_link_libraries(mayfly::boost_json INTERFACE mayfly_boost_json)
