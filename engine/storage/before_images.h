// Before-images: the values that an account's keys had when its latest snapshot was taken. A value is saved
// just before its key changes for the first time after the snapshot.
//
// Taking a snapshot therefore copies nothing, regardless of the account's size. Each later write costs two
// lookups per key. A snapshot's state is the current state with the images of its own log and of all later
// logs put back; if several logs have an image of a key, the earliest image counts (snapshots.h).
//
//   'B' log:u32be key   0x00 (the key was absent), or 0x01 value; only in a data directory
//
// Items, index entries, expiry entries and the versions of global tables' items have images. Change records,
// old versions of items, tombstones and departures have images only if they are not later than the snapshot.
// A key gets an image whether it is written, erased, or part of an erased range.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/mutex.h"
#include "engine/storage/storage.h"

namespace mayfly::engine {

using ImageLog = std::uint32_t;  // one log per snapshot, and a new log after each restore; 0: no log

// What writers need to know about the latest snapshot of an account.
struct ImageKeeper {
  ImageLog log = 0;            // 0: the account has no snapshot
  std::uint64_t sequence = 0;  // number of the last change record or old version in the snapshot
};

// The key and the value of an image in a data directory.
std::string image_key(ImageLog log, std::string_view key);
std::string image_bytes(const std::optional<std::string_view>& value);
bool is_image_of(std::string_view key);  // whether this key can have an image
// is_image tells whether the bytes are well-formed. image_value returns nullopt if the key was absent.
bool is_image(std::string_view bytes);
std::optional<std::string_view> image_value(std::string_view bytes);  // Requires: is_image

class BeforeImages {
 public:
  explicit BeforeImages(const Storage& storage) : storage_(storage), in_memory_(!storage.durable()) {}

  // Adds the images of the keys that the batch changes. If the batch is never written, the images are still
  // right, because the keys still have these values.
  // Requires: no other thread changes these keys before the batch is written.
  void stage(Batch& batch, const ImageKeeper& keeper);

  // nullopt if the key was absent.
  using Value = std::optional<std::string>;
  // Calls visit(key, value) for each image, in key order. Requires: no thread writes to the account.
  using Visit = std::function<void(std::string_view key, const std::optional<std::string_view>& value)>;
  void each(ImageLog log, const Visit& visit) const;
  // nullopt if the log has no image of the key.
  [[nodiscard]] std::optional<Value> find(ImageLog log, std::string_view key) const;
  void put(Batch& batch, ImageLog log, std::string_view key, const std::optional<std::string_view>& value);

  // Images that a batch makes obsolete. They stay until the batch is written and its writer has called
  // written().
  struct Erasure {
    std::vector<ImageLog> logs;  // whole logs
    std::vector<std::pair<ImageLog, std::string>> images;
  };
  void stage(Batch& batch, const Erasure& erasure) const;
  void written(const Erasure& erasure);

 private:
  using Images = std::map<std::string, Value, std::less<>>;

  const Storage& storage_;
  // The images of an in-memory database need not survive a restart, and a map costs a tenth as
  // much as RocksDB.
  const bool in_memory_;
  mutable Mutex mutex_;
  std::map<ImageLog, Images> images_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::engine
