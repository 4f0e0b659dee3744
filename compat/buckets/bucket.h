// An S3 bucket, as exports, imports and bulk puts see it: objects by their keys.
//
//   bucket->list("2024/", {}, stop, [](Outcome<Listing> listing) { … });   // and its next_token for the rest
//   bucket->read(key, 0, {}, stop, [](Outcome<Piece> piece) { … });        // then from 0 +
//   piece->bytes.size() auto upload = bucket->upload("2024/data.json.gz"); upload->append(bytes, stop,
//   [](Outcome<void> taken) { … });            // as often as there is something upload->finish(stop,
//   [](Outcome<Stored> stored) { … });                // now it is there, whole Outcome<Listing> listing =
//   wait<Listing>([&](auto done) { bucket->list("2024/", {}, stop, done); });
//
// Nothing here holds more than a piece of an object, or a page of a listing, and no call waits: each tells
// its `done`, once, before it returns (a directory) or from another thread (an endpoint), as
// outbound/invoker.h does. `done` takes a note and wakes somebody. What is asked of a bucket or of an upload
// is asked by one thread at a time, and of an upload when the call before has told its `done`.
//
// Keys are S3's: up to 1,024 bytes of UTF-8. Those with parts "." and ".." are refused, by every kind of
// bucket: what is between us and an endpoint may take them for a way out of the bucket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compat/buckets/failure.h"
#include "engine/bell.h"

namespace mayfly::compat::buckets {

inline constexpr std::size_t key_bytes_max = 1024;
inline constexpr std::size_t listed_max = 1000;              // objects of a page, as S3's
inline constexpr std::size_t piece_bytes_max = 1024 * 1024;  // of what is read at once
// An upload's parts, so what it holds at most, twice. S3 takes parts of 5 MB or more, but for the last, and
// 10,000 of them.
inline constexpr std::size_t part_bytes = 8 * 1024 * 1024;
inline constexpr std::uint64_t object_bytes_max = std::uint64_t{5} << 30;  // S3's, of one PUT

struct Object {
  std::string key;
  std::uint64_t bytes = 0;
  friend bool operator==(const Object&, const Object&) = default;
};

struct Listing {
  std::vector<Object> objects;            // by their keys' bytes
  std::optional<std::string> next_token;  // nothing: that was all
};

struct Piece {
  std::string bytes;
  std::uint64_t object_bytes = 0;
  std::string version;  // of the object: with it, what is read further is of the same one
};

struct Stored {
  std::string etag;  // without quotes: "af83d6f217c19b8b0fff8023d8ca4716-1"
  std::uint64_t bytes = 0;
};

template <class T>
using Done = std::function<void(Outcome<T>)>;

// An object on its way into a bucket. Dropped before it is finished, it leaves nothing there.
class Upload {
 public:
  virtual ~Upload() = default;
  // Requires: at most part_bytes.
  virtual void append(std::string_view bytes, std::stop_token stop, Done<void> done) = 0;
  // Requires: once, and nothing failed before.
  virtual void finish(std::stop_token stop, Done<Stored> done) = 0;
};

class Bucket {
 public:
  virtual ~Bucket() = default;
  // Those whose keys begin with `prefix`; `token`: a listing's next_token, of the same prefix.
  virtual void list(std::string_view prefix, const std::optional<std::string>& token, std::stop_token stop,
                    Done<Listing> done) = 0;
  virtual void head(std::string_view key, std::stop_token stop, Done<Object> done) = 0;
  // piece_bytes_max from `offset` on, or what there is; `version`: empty, or that of a piece of it. Another
  // object under that key meanwhile: PreconditionFailed.
  virtual void read(std::string_view key, std::uint64_t offset, std::string_view version,
                    std::stop_token stop, Done<Piece> done) = 0;
  // Says what is wrong with the key when it is appended to, or finished.
  virtual std::unique_ptr<Upload> upload(std::string_view key) = 0;
};

// What keeps a key from being one, in whatever bucket; nothing: it is one.
std::optional<Failure> problem_of_key(std::string_view key);

// Waits for what `start` tells its `done`.
template <class T, class Start>
Outcome<T> wait(Start&& start) {
  struct Slot {
    engine::Bell bell;
    std::optional<Outcome<T>> outcome;
  };
  const auto slot = std::make_shared<Slot>();
  const auto before = slot->bell.ticket();
  std::forward<Start>(start)(Done<T>([slot](Outcome<T> outcome) {
    slot->outcome.emplace(std::move(outcome));
    slot->bell.ring();
  }));
  slot->bell.wait(before, std::nullopt);
  return *std::move(slot->outcome);
}

}  // namespace mayfly::compat::buckets
