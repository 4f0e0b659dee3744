// File systems that RocksDB uses for a database. The files of a data directory are readable and writable only
// by their owner, regardless of the process's umask. RocksDB recovers from a lack of descriptors or space as
// soon as enough of them are available again, instead of failing until the process exits.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace rocksdb {
class FileSystem;
}

namespace mayfly::engine {

// Returns a file system with the files of `base`, to which only their owner has access.
// - `fails`: for tests; called before a file is created, written to or synced. If it returns true, that
//   operation fails.
// - `refuses`: while it is true, no file can be created.
// - `gives_up`: called before a file is created. If it returns true, the creation fails with the status of a
//   database that is being closed, so that RocksDB does not retry automatically.
std::shared_ptr<rocksdb::FileSystem> private_files(std::shared_ptr<rocksdb::FileSystem> base,
                                                   std::function<bool(std::string_view path)> fails,
                                                   const std::atomic<bool>& refuses,
                                                   std::function<bool()> gives_up);

// Returns a file system with the files of `base` in which no OPTIONS file can be created. Each time RocksDB
// opens a database, it writes all options to such a file, reads them back and compares them. That takes a
// third of a server's start-up time, and nothing reads the file later.
// Requires: DBOptions::fail_if_options_file_error is false.
std::shared_ptr<rocksdb::FileSystem> without_options_files(std::shared_ptr<rocksdb::FileSystem> base);

// Returns a file system with the files of `base`. It keeps `bytes` equal to the total size of all files,
// including those that are still being written.
// Requires: `base` has no files yet, and `bytes` outlives the result.
std::shared_ptr<rocksdb::FileSystem> counted_files(std::shared_ptr<rocksdb::FileSystem> base,
                                                   std::atomic<std::int64_t>& bytes);

}  // namespace mayfly::engine
