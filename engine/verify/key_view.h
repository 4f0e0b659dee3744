// A view of the stored keys as they are at one instant, or as a snapshot of an account has them. In a
// snapshot's view, the images in its log and in all later logs replace the current values; of several images
// of a key, the earliest counts (snapshots.h).
//
//   const KeyView now(storage, at);
//   const KeyView then(storage, at, {log_of_the_snapshot, log_of_the_next});
//   for (KeyView::Walk walk(then, lower, upper); walk.valid(); walk.next()) … walk.key() …
//
// A snapshot's view needs a database in a directory: an in-memory database does not keep its
// images in storage.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/storage/before_images.h"
#include "engine/storage/storage.h"

namespace mayfly::engine {

class KeyView {
 public:
  // `logs` is sorted, the earliest first. Requires: `storage` and `at` outlive this object.
  KeyView(const Storage& storage, const Storage::Snapshot& at, std::vector<ImageLog> logs = {})
      : storage_(storage), at_(at), logs_(std::move(logs)) {}

  [[nodiscard]] bool get(std::string_view key, std::string& value) const;
  [[nodiscard]] bool has(std::string_view key) const;
  // The storage keys that hold the value of this key. Empty for a snapshot's view, whose keys also belong to
  // other snapshots.
  [[nodiscard]] std::vector<std::string> holding(std::string_view key) const;
  // put() and erase() add to the batch the writes that set or erase the key in this view.
  void put(Batch& batch, std::string_view key, std::string_view value) const;
  void erase(Batch& batch, std::string_view key) const;

  // Walks the keys in [lower, upper), in key order.
  class Walk {
   public:
    Walk(const KeyView& view, std::string_view lower, std::string_view upper);
    [[nodiscard]] bool valid() const { return source_ < sources_.size(); }
    void next();
    [[nodiscard]] std::string_view key() const { return key_; }
    [[nodiscard]] std::string_view value() const;

   private:
    struct Source {
      Storage::Iterator iterator;
      std::size_t prefix_bytes;  // size of the part of an image's key before the key itself
      bool at_end = false;
      [[nodiscard]] std::string_view key() const { return iterator.key().substr(prefix_bytes); }
    };
    void settle();
    void pass();

    std::vector<Source> sources_;  // the first one that has a key determines its value
    std::size_t source_ = 0;       // the source of the current key; sources_.size() at the end
    std::string key_;
  };

 private:
  const Storage& storage_;
  const Storage::Snapshot& at_;
  const std::vector<ImageLog> logs_;
};

}  // namespace mayfly::engine
