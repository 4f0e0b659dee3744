// What an account's keys were when its latest snapshot was taken: written down before they change for the first time.
//
// So a snapshot copies nothing, whatever the account holds, and costs each write that comes after it two look-ups a
// key. A snapshot's state is the present one with the images of its own log and of all later ones put back, the
// earliest of each key (snapshots.h).
//
//   'B' log:u32be key            0x00, or 0x01 value: the key was not there, or had this value
//
// Covered are items, index entries, expiry entries and the change records up to the snapshot, whether a key is written,
// erased or lies in a range that is.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "engine/storage.h"

namespace mayfly::engine {

using ImageLog = std::uint32_t;  // each snapshot has its own, and a new one after each restore; 0: none

// An account's latest snapshot, as far as writers need to know it.
struct ImageKeeper {
  ImageLog log = 0;            // 0: the account has no snapshot
  std::uint64_t sequence = 0;  // later change records are not the snapshot's
};

class BeforeImages {
 public:
  explicit BeforeImages(const Storage& storage) : storage_(storage) {}

  // Adds the images of what the batch changes. Nobody else may change these keys before the batch is written.
  void stage(Batch& batch, const ImageKeeper& keeper) const;

  static std::string prefix(ImageLog log);
  // visit(key, value); nothing: the key was not there. In the keys' order.
  using Visit = std::function<void(std::string_view key, const std::optional<std::string_view>& value)>;
  void each(ImageLog log, const Visit& visit) const;
  [[nodiscard]] std::optional<std::optional<std::string>> find(ImageLog log, std::string_view key) const;
  static void erase(Batch& batch, ImageLog log, std::string_view key);
  static void put(Batch& batch, ImageLog log, std::string_view key, const std::optional<std::string_view>& value);

 private:
  const Storage& storage_;
};

}  // namespace mayfly::engine
