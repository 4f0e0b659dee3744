// All streams, enabled or closed, by id and by name. A lookup takes logarithmic time, and a walk takes time
// proportional to its result. This matters because a test suite that creates and drops tables leaves
// thousands of closed streams for a day.
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
  // The same with shared ownership, for use beyond the next put or erase. Each put creates a new object;
  // nullptr if the stream does not exist.
  [[nodiscard]] std::shared_ptr<const Stream> share(StreamId id) const;
  [[nodiscard]] const Stream* find(std::string_view account, std::string_view region,
                                   std::string_view table_name, std::string_view label) const;
  // The stream with the latest label among all tables that have had this name; nullptr if there is none.
  [[nodiscard]] const Stream* last_of(std::string_view account, std::string_view region,
                                      std::string_view table_name) const;
  [[nodiscard]] bool has(std::string_view account) const;
  [[nodiscard]] std::vector<Stream> all() const;  // by id
  // By region, table name and label.
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
