// What an account's keys were when its latest snapshot was taken. Each is written down before it changes for
// the first time.
//
// So a snapshot copies nothing, whatever the account holds, and costs each write that comes after it two
// look-ups a key. A snapshot's state is the present one with the images of its own log and of all later ones
// put back, the earliest of each key (snapshots.h).
//
//   'B' log:u32be key   0x00, or 0x01 value: the key was not there, or had this value; in a directory
//
// Covered are items, index entries, expiry entries, the versions of global tables' items, and the change
// records, old versions of items, tombstones and departures up to the snapshot, whether a key is written,
// erased or lies in a range that is.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/mutex.h"
#include "engine/storage.h"

namespace mayfly::engine {

using ImageLog = std::uint32_t;  // each snapshot has its own, and a new one after each restore; 0: none

// An account's latest snapshot, as far as writers need to know it.
struct ImageKeeper {
  ImageLog log = 0;            // 0: the account has no snapshot
  std::uint64_t sequence = 0;  // later change records and old versions are not the snapshot's
};

// What a directory has of an image.
std::string image_key(ImageLog log, std::string_view key);
std::string image_bytes(const std::optional<std::string_view>& value);
bool is_image_of(std::string_view key);  // whether such a key may have one
// Whether bytes are an image's, and then the value; nothing in it: the key was not there.
bool is_image(std::string_view bytes);
std::optional<std::string_view> image_value(std::string_view bytes);  // Requires: is_image

class BeforeImages {
 public:
  explicit BeforeImages(const Storage& storage) : storage_(storage), in_memory_(!storage.durable()) {}

  // Adds the images of what the batch changes. If the batch is never written they do no harm: they are what
  // the keys still are.
  // Requires: nobody else changes these keys before the batch is written.
  void stage(Batch& batch, const ImageKeeper& keeper);

  // Nothing: the key was not there.
  using Value = std::optional<std::string>;
  // Calls visit(key, value) for each, in the order of the keys. Requires: nobody writes to the account.
  using Visit = std::function<void(std::string_view key, const std::optional<std::string_view>& value)>;
  void each(ImageLog log, const Visit& visit) const;
  [[nodiscard]] std::optional<Value> find(ImageLog log,
                                          std::string_view key) const;  // nothing: there is no image
  void put(Batch& batch, ImageLog log, std::string_view key, const std::optional<std::string_view>& value);

  // Images that a batch makes useless. They stay until it is written and its writer has called written().
  struct Erasure {
    std::vector<ImageLog> logs;  // whole ones
    std::vector<std::pair<ImageLog, std::string>> images;
  };
  void stage(Batch& batch, const Erasure& erasure) const;
  void written(const Erasure& erasure);

 private:
  using Images = std::map<std::string, Value, std::less<>>;

  const Storage& storage_;
  // In memory nothing has to survive, and a map costs a tenth of what RocksDB does.
  const bool in_memory_;
  mutable Mutex mutex_;
  std::map<ImageLog, Images> images_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::engine
