// Stored keys as they are at one instant, or as a snapshot of an account has them: then the images of its log
// and of all later ones stand before what is there now, of each key the earliest (snapshots.h).
//
//   const KeyView now(storage, at);
//   const KeyView then(storage, at, {log_of_the_snapshot, log_of_the_next});
//   for (KeyView::Walk walk(then, lower, upper); walk.valid(); walk.next()) … walk.key() …
//
// Of a directory: in memory, images are not in storage.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/before_images.h"
#include "engine/storage.h"

namespace mayfly::engine {

class KeyView {
 public:
  // Both outlive it. `logs`: the earliest first.
  KeyView(const Storage& storage, const Storage::Snapshot& at, std::vector<ImageLog> logs = {})
      : storage_(storage), at_(at), logs_(std::move(logs)) {}

  [[nodiscard]] bool get(std::string_view key, std::string& value) const;
  [[nodiscard]] bool has(std::string_view key) const;
  // The keys in storage that hold what this one does; of a snapshot's, nobody says: they are other snapshots'
  // too.
  [[nodiscard]] std::vector<std::string> holding(std::string_view key) const;
  // Puts into the batch what makes the key this, here.
  void put(Batch& batch, std::string_view key, std::string_view value) const;
  void erase(Batch& batch, std::string_view key) const;

  // In key order.
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
      std::size_t prefix_bytes;  // of an image's key, before the key itself
      bool at_end = false;
      [[nodiscard]] std::string_view key() const { return iterator.key().substr(prefix_bytes); }
    };
    void settle();
    void pass();

    std::vector<Source> sources_;  // the first that has a key counts
    std::size_t source_ = 0;       // whose turn it is; as many as there are: at the end
    std::string key_;
  };

 private:
  const Storage& storage_;
  const Storage::Snapshot& at_;
  const std::vector<ImageLog> logs_;
};

}  // namespace mayfly::engine
