// File systems that RocksDB uses for a database. The files of a data directory are readable and writable only
// by their owner, whatever the process's umask is. RocksDB recovers from a lack of descriptors or space as
// soon as there is enough again, instead of failing until the process ends.
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

// The files of `base`, private to their owner.
// - `fails`: for tests; called before a file is created, written to or synced. If it returns true, that
//   operation fails.
// - `refuses`: while it is set, no file can be created.
// - `gives_up`: called before a file is created. If it returns true, the creation fails as it does while the
//   database is closed, so that RocksDB does not retry automatically.
std::shared_ptr<rocksdb::FileSystem> private_files(std::shared_ptr<rocksdb::FileSystem> base,
                                                   std::function<bool(std::string_view path)> fails,
                                                   const std::atomic<bool>& refuses,
                                                   std::function<bool()> gives_up);

// The files of `base`, except that an OPTIONS file cannot be created. Each time RocksDB opens a database, it
// writes all options to such a file, reads them back and compares them. That takes a third of a server's
// start-up time, and nothing reads the file later.
// Requires: DBOptions::fail_if_options_file_error is false.
std::shared_ptr<rocksdb::FileSystem> without_options_files(std::shared_ptr<rocksdb::FileSystem> base);

// The files of `base`, which is empty at first. `bytes` is kept at the total size of all files, including
// those that are still being written.
// Requires: `bytes` outlives the result.
std::shared_ptr<rocksdb::FileSystem> counted_files(std::shared_ptr<rocksdb::FileSystem> base,
                                                   std::atomic<std::int64_t>& bytes);

}  // namespace mayfly::engine
