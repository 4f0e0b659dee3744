// The files of a data directory as RocksDB makes them. They are for their owner's eyes only, whatever the
// process's umask says; and a want of descriptors or of space passes when there is enough again, instead of
// lasting until the process ends.
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

// Of what `base` has. `fails`: for tests, asked before a file is made, written to or synced; true makes that
// fail. While `refuses` is set, no file is made. `gives_up`: asked before a file is made; true ends what
// makes it as the end of the database would, so that RocksDB does not try again by itself.
std::shared_ptr<rocksdb::FileSystem> private_files(std::shared_ptr<rocksdb::FileSystem> base,
                                                   std::function<bool(std::string_view path)> fails,
                                                   const std::atomic<bool>& refuses,
                                                   std::function<bool()> gives_up);

// The files of `base`, but an OPTIONS file cannot be created. Each time RocksDB opens a database it writes
// one with all options, reads it again and compares, which is a third of a server's start; nothing reads
// it later. Requires: DBOptions::fail_if_options_file_error is false.
std::shared_ptr<rocksdb::FileSystem> without_options_files(std::shared_ptr<rocksdb::FileSystem> base);

// The files of `base`, which is empty at first. `bytes` is the size of all of them together, including those
// that are still being written. Requires: `bytes` outlives the result.
std::shared_ptr<rocksdb::FileSystem> counted_files(std::shared_ptr<rocksdb::FileSystem> base,
                                                   std::atomic<std::int64_t>& bytes);

}  // namespace mayfly::engine
