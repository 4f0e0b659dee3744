// The files of a data directory as RocksDB makes them: for their owner's eyes only, whatever the process's
// umask says, and so that out of descriptors or out of space is a state that passes, not one that ends with
// the process.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace rocksdb {
class FileSystem;
}

namespace mayfly::engine {

// Of what `base` has. `fails`: for tests, asked before a file is made, written to or synced; true makes that
// fail. While `refuses` is set, no file is made.
std::shared_ptr<rocksdb::FileSystem> private_files(std::shared_ptr<rocksdb::FileSystem> base,
                                                   std::function<bool(std::string_view path)> fails,
                                                   const std::atomic<bool>& refuses);

}  // namespace mayfly::engine
