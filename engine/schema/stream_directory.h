// Contains all streams, enabled or closed, by id and by name. A lookup takes logarithmic time, and listing
// streams takes time proportional to the result. This matters because a test suite that creates and drops
// tables can leave thousands of closed streams, which are kept for a day.
//
//   streams.put(stream);
//   if (const Stream* found = streams.find(scope, "carts", "2024-11-18T14:36:44.149")) use(*found);
//
// Not thread-safe. Pointers are valid until the next put or erase.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "engine/schema/table.h"

namespace mayfly::engine {

class StreamDirectory {
 public:
  void put(Stream stream);  // inserts or replaces
  void erase(StreamId id);

  [[nodiscard]] const Stream* find(StreamId id) const;
  // Like find(), but with shared ownership, so that the stream can be used after the next put or erase. Each
  // put creates a new object. Returns nullptr if the stream does not exist.
  [[nodiscard]] std::shared_ptr<const Stream> share(StreamId id) const;
  [[nodiscard]] const Stream* find(std::string_view account, std::string_view region,
                                   std::string_view table_name, std::string_view label) const;
  // Considers the streams of all tables that have had this name, and returns the stream with the latest
  // label; nullptr if there is no such stream.
  [[nodiscard]] const Stream* last_of(std::string_view account, std::string_view region,
                                      std::string_view table_name) const;
  [[nodiscard]] bool has(std::string_view account) const;
  [[nodiscard]] std::vector<Stream> all() const;  // sorted by id
  // The streams of an account, sorted by region, table name and label.
  [[nodiscard]] std::vector<Stream> of(std::string_view account,
                                       std::optional<std::string_view> region = std::nullopt) const;

 private:
  using Name =
      std::tuple<std::string, std::string, std::string, std::string>;  // account, region, table, label
  using NameView = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;
  // std::less<> would compare the two tuple types directly, which Clang 14 cannot do with libstdc++.
  struct IsBefore {
    using is_transparent = void;
    bool operator()(const NameView& a, const NameView& b) const { return a < b; }
  };
  std::map<StreamId, std::shared_ptr<const Stream>> by_id_;
  std::map<Name, StreamId, IsBefore> by_name_;
};

}  // namespace mayfly::engine
