// An S3 bucket as exports, imports and bulk puts use it: objects by key.
//
//   bucket->list("2024/", {}, stop, [](Outcome<Listing> listing) { … });   // next_token: the next page
//   bucket->read(key, 0, {}, stop, [](Outcome<Piece> piece) { … });        // next: offset += bytes.size()
//   auto upload = bucket->upload("2024/data.json.gz");
//   upload->append(bytes, stop, [](Outcome<void> taken) { … });            // repeat for all data
//   upload->finish(stop, [](Outcome<Stored> stored) { … });                // now the whole object exists
//   Outcome<Listing> listing =
//       wait<Listing>([&](auto done) { bucket->list("2024/", {}, stop, done); });
//
// A bucket holds at most a piece of an object or a page of a listing in memory. No function blocks: each
// calls its `done` once, either before it returns (a directory) or on another thread (an endpoint), like
// outbound/invoker.h. `done` must only record the outcome and wake a waiter. Requires: one thread at a time
// uses a bucket or an upload, and an upload's next call begins after the previous one has called its `done`.
//
// Keys are S3's: up to 1,024 bytes of UTF-8. All kinds of buckets reject keys that have "." or ".." as a
// part, because a proxy in front of an endpoint could resolve such a key to a path outside the bucket.
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
#include "engine/base/bell.h"

namespace mayfly::compat::buckets {

inline constexpr std::size_t key_bytes_max = 1024;
inline constexpr std::size_t listed_max = 1000;              // objects per page, as on S3
inline constexpr std::size_t piece_bytes_max = 1024 * 1024;  // maximum size of one read
// The size of an upload's parts. An upload holds at most two parts in memory. S3 accepts up to 10,000 parts,
// each of 5 MB or more except the last.
inline constexpr std::size_t part_bytes = 8 * 1024 * 1024;
inline constexpr std::uint64_t object_bytes_max = std::uint64_t{5} << 30;  // S3's limit for one PUT

struct Object {
  std::string key;
  std::uint64_t bytes = 0;
  friend bool operator==(const Object&, const Object&) = default;
};

struct Listing {
  std::vector<Object> objects;            // in byte order of their keys
  std::optional<std::string> next_token;  // nullopt: this was the last page
};

struct Piece {
  std::string bytes;
  std::uint64_t object_bytes = 0;
  std::string version;  // the object's version; a read with this version fails if the object has changed
};

struct Stored {
  std::string etag;  // without quotes: "af83d6f217c19b8b0fff8023d8ca4716-1"
  std::uint64_t bytes = 0;
};

template <class T>
using Done = std::function<void(Outcome<T>)>;

// An upload in progress. If the upload is destroyed before finish(), the bucket keeps none of its data.
class Upload {
 public:
  virtual ~Upload() = default;
  // Requires: at most part_bytes bytes.
  virtual void append(std::string_view bytes, std::stop_token stop, Done<void> done) = 0;
  // Requires: finish() is called once, and no earlier call has failed.
  virtual void finish(std::stop_token stop, Done<Stored> done) = 0;
};

class Bucket {
 public:
  virtual ~Bucket() = default;
  // Lists the objects whose keys begin with `prefix`. `token` is the next_token of a listing with the same
  // prefix.
  virtual void list(std::string_view prefix, const std::optional<std::string>& token, std::stop_token stop,
                    Done<Listing> done) = 0;
  virtual void head(std::string_view key, std::stop_token stop, Done<Object> done) = 0;
  // Reads up to piece_bytes_max bytes from `offset` on. `version` is empty, or the version of an earlier
  // piece. Error: PreconditionFailed if the object was replaced after that piece was read.
  virtual void read(std::string_view key, std::uint64_t offset, std::string_view version,
                    std::stop_token stop, Done<Piece> done) = 0;
  // If the key is invalid, append() and finish() of the upload return the error.
  virtual std::unique_ptr<Upload> upload(std::string_view key) = 0;
};

// Returns the failure with which all kinds of buckets reject this key; nullopt if the key is valid.
std::optional<Failure> problem_of_key(std::string_view key);

// Calls `start` with a `done` callback and waits for the outcome.
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
