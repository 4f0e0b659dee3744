# Which of RocksDB's files script/rocksdb compiles, and how: those that Mayfly asks for, which are not two thirds.
#
# Read behind RocksDB's own project() (CMAKE_PROJECT_rocksdb_INCLUDE), and done when its CMakeLists.txt has been read. No file
# of RocksDB's is changed. What is left out is entered by calls that Mayfly never makes; they stand beside it. Nothing
# that the files of a directory say leads there: what stores blobs or partitions its indexes stays, for a directory of
# somebody else's is looked into before it is refused. If something leads there after all, the process ends (left_out.c).
set(LEFT_OUT
    # Databases and tools of other kinds, tests
    "utilities/(agg_merge|backup|blob_db|cassandra|checkpoint|leveldb_options|memory|option_change_migration)/"
    "utilities/(options|persistent_cache|simulator_cache|transactions/[^s]|ttl|write_batch_with_index)"
    "utilities/(cache_dump_load|debug|env_mirror|fault_injection)" "db/c[.]cc" "db/db_impl/db_impl_(debug|secondary)"
    "test_util/t" "tools/" "table/sst_file_dumper"
    # CreateFromString: what options name that are given as text
    "utilities/(compaction_filters|counted_fs|env_timed|merge_operators)" "env/(env_chroot|env_encryption|fs_remap)"
    "table/(adaptive|cuckoo|plain|table_factory)" "memtable/(hash|vector)" "monitoring/statistics"
    "cache/(clock|compressed_secondary|fast_lru)_cache" "memory/(jemalloc|memkind|memory)" "db/compaction/sst_partitioner"
    # IngestExternalFile, CreateColumnFamilyWithImport, SuggestCompactRange, PromoteL0, GetUpdatesSince, VerifyFileChecksums
    "db/(external_sst_file_ingestion_job|import_column_family_job|transaction_log_impl|convenience)"
    "db/(db_impl/db_impl_)?experimental"
    # ReadOptions::tailing, Options::compaction_service
    "db/(forward_iterator|compaction/compaction_service_job)"
    # StartTrace, NewDefaultReplayer
    "trace_replay/trace_re" "utilities/trace/"
    # Nothing at all
    "db/blob/blob_log_sequential_reader" "file/(line_file|readahead)" "monitoring/histogram_windowing"
    "util/(async_file_reader|murmurhash|stderr_logger)"
    # DB::Open writes OPTIONS files, which Mayfly's file systems refuse; stand_ins.cc says so at once.
    "options/options_parser")

# What reads, writes, flushes and compactions go through. The rest opens, closes, names, parses, logs: it is compiled for
# size, in less than two thirds of the time and space.
set(FOR_SPEED
    "cache/(cache_key|lru_cache|sharded_cache)"
    "db/(arena_wrapped_db_iter|builder|column_family|db_iter|dbformat|file_indexer|flush_|log_|memtable|merge_helper)"
    "db/(output_validator|range_|snapshot|table_cache|trim_history|version_builder|version_set|wide|write_)"
    "db/blob/blob_(garbage_meter|source)" "db/compaction/(compaction_iterator|compaction_job|compaction_outputs|sub)"
    "db/db_impl/db_impl(_write)?[.]cc"
    "env/(io_posix|mock_env)" "file/(file_prefetch|random_access|read_write|sequence|writable)" "memory/" "memtable/"
    "monitoring/(histogram|instrumented|iostats|perf)" "port/"
    "table/(block_fetcher|format|get_context|iterator|merging|two_level)"
    "table/block_based/(bi|block[.]|block_based_table_[bir]|block_[bp]|data|filter|full|hash|index|parsed|reader|unc)"
    "util/(cleanable|coding|comparator|compression|crc|dynamic|hash|random|rate|slice|status|thread_local|xxhash)")

function(matches_any out path)
  set(${out} FALSE PARENT_SCOPE)
  foreach(pattern IN LISTS ARGN)
    if(path MATCHES "^(${pattern})")
      set(${out} TRUE PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

function(choose_sources)
  get_target_property(sources rocksdb SOURCES)
  foreach(source IN LISTS sources)
    matches_any(is_left_out ${source} ${LEFT_OUT})
    matches_any(is_for_speed ${source} ${FOR_SPEED})
    if(is_left_out)
      continue()
    elseif(is_for_speed)
      list(APPEND for_speed ${source})
    else()
      list(APPEND for_size ${source})
    endif()
  endforeach()
  add_library(rocksdb_for_speed OBJECT ${for_speed})
  add_library(rocksdb_for_size OBJECT ${for_size} ${MAYFLY_HERE}/stand_ins.cc)
  target_compile_options(rocksdb_for_speed PRIVATE ${MAYFLY_FOR_SPEED})
  target_compile_options(rocksdb_for_size PRIVATE ${MAYFLY_FOR_SIZE})
  # Compiled two dozen files at a time: what they all include is read once.
  set_target_properties(rocksdb_for_speed rocksdb_for_size PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 24)
  # Of an inline function that several have the first is kept: one that is compiled for speed, if there is one.
  add_custom_command(
    OUTPUT rocksdb.o COMMAND_EXPAND_LISTS
    COMMAND ${CMAKE_LINKER} -r -o rocksdb.o $<TARGET_OBJECTS:rocksdb_for_speed> $<TARGET_OBJECTS:rocksdb_for_size>
    DEPENDS $<TARGET_OBJECTS:rocksdb_for_speed> $<TARGET_OBJECTS:rocksdb_for_size>)
  # The functions that it refers to and nobody has; a constant would be a mistake of the lists above.
  add_custom_command(
    OUTPUT left_out.h DEPENDS rocksdb.o
    COMMAND sh -c [["$1" -u rocksdb.o | sed -n '/7rocksdb[0-9]*k[A-Z]/d;s/^ *U \(_Z[A-Z]*7rocksdb.*\)/LEFT_OUT(\1)/p' >left_out.h]]
            sh ${CMAKE_NM} VERBATIM)
  set_source_files_properties(${MAYFLY_HERE}/left_out.c PROPERTIES OBJECT_DEPENDS ${CMAKE_BINARY_DIR}/left_out.h)
  set_source_files_properties(rocksdb.o PROPERTIES EXTERNAL_OBJECT ON)
  add_library(mayfly_rocksdb STATIC ${CMAKE_BINARY_DIR}/rocksdb.o ${MAYFLY_HERE}/left_out.c)
  target_include_directories(mayfly_rocksdb PRIVATE ${CMAKE_BINARY_DIR})
  set_target_properties(mayfly_rocksdb PROPERTIES OUTPUT_NAME rocksdb ARCHIVE_OUTPUT_DIRECTORY mayfly)
endfunction()

set(MAYFLY_HERE ${CMAKE_CURRENT_LIST_DIR})
cmake_language(DEFER CALL choose_sources)
