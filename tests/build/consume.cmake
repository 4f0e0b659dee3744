# Configures, builds and runs consumer/ with Mayfly. `way` is package or subdirectory.
file(REMOVE_RECURSE ${work})
file(MAKE_DIRECTORY ${work})

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${result}: ${ARGV}")
  endif()
endfunction()

if(way STREQUAL package)
  run(${CMAKE_COMMAND} --install ${build} --prefix ${work}/prefix)
  set(mayfly -D CMAKE_PREFIX_PATH=${work}/prefix)
else()
  # This compiles all of Mayfly again, so the options are those that compile fastest. In a release, some rooms would be
  # optimized for size.
  set(build_type Debug)
  set(mayfly -D MAYFLY_SOURCE=${source} -D CMAKE_UNITY_BUILD=ON -D CMAKE_CXX_FLAGS_DEBUG=-O0)
endif()
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${work}/build -G ${generator}
    -D CMAKE_BUILD_TYPE=${build_type} -D CMAKE_CXX_COMPILER=${compiler} ${mayfly})
run(${CMAKE_COMMAND} --build ${work}/build)
run(${work}/build/consumer)
