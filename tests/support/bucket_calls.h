// Makes synchronous calls to a bucket.
//
//   const BucketCalls calls{bucket};
//   calls.put("a/b.json", "{}");                    // empty if the upload succeeds
//   calls.get("a/b.json") == "{}"
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "compat/buckets/bucket.h"

namespace mayfly::testing {

struct BucketCalls {
  compat::buckets::Bucket& bucket;

  compat::buckets::Outcome<compat::buckets::Stored> store(
      std::string_view key, std::string_view bytes, std::size_t chunk = compat::buckets::part_bytes) const {
    using namespace compat::buckets;
    const auto upload = bucket.upload(key);
    for (; !bytes.empty(); bytes.remove_prefix(std::min(chunk, bytes.size())))
      CHECK_OK(wait<void>([&](auto done) { upload->append(bytes.substr(0, chunk), {}, done); }));
    return wait<Stored>([&](auto done) { upload->finish({}, done); });
  }
  compat::buckets::Outcome<std::string> load(std::string_view key) const {
    using namespace compat::buckets;
    std::string bytes, version;
    for (;;) {
      TRY(const Piece piece,
          wait<Piece>([&](auto done) { bucket.read(key, bytes.size(), version, {}, done); }));
      bytes += piece.bytes;
      version = piece.version;
      if (bytes.size() >= piece.object_bytes) return bytes;
    }
  }
  compat::buckets::Outcome<compat::buckets::Listing> list(
      std::string_view prefix, const std::optional<std::string>& token = {}) const {
    using namespace compat::buckets;
    return wait<Listing>([&](auto done) { bucket.list(prefix, token, {}, done); });
  }
  compat::buckets::Outcome<compat::buckets::Object> head(std::string_view key) const {
    using namespace compat::buckets;
    return wait<Object>([&](auto done) { bucket.head(key, {}, done); });
  }

  // Returns the error code, or an empty string if the upload succeeded.
  std::string put(std::string_view key, std::string_view bytes) const {
    const auto stored = store(key, bytes);
    return stored ? "" : stored.error().code;
  }
  // Returns the object, or the error code.
  std::string get(std::string_view key) const {
    const auto loaded = load(key);
    return loaded ? *loaded : loaded.error().code;
  }
  std::vector<std::string> keys(std::string_view prefix) const {
    std::vector<std::string> keys;
    std::optional<std::string> token;
    do {
      const auto listing = list(prefix, token);
      if (!listing) return {listing.error().code};
      for (const auto& object : listing->objects) keys.push_back(object.key);
      token = listing->next_token;
    } while (token);
    return keys;
  }
};

}  // namespace mayfly::testing
