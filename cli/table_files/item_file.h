// Reads item files that other programs write, in one of these layouts:
//
//   {"Items":[{"id":{"S":"1"}}],"Count":1,…}                      `aws dynamodb scan` and query
//   {"carts":[{"PutRequest":{"Item":{"id":{"S":"1"}}}}]}          `aws dynamodb batch-write-item`
//   [{"id":"1","n":5},{"id":"2"}]                                 a list, such as a Serverless seed
//   {"id":{"S":"1"}}                                              one item after another
//
// The first item decides whether all items are DynamoDB JSON or plain JSON. In plain JSON, numbers become N,
// lists become L, and objects become M. A batch-write-item file is read whole. The other layouts are read a
// piece at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/table_files/unpacked_text.h"
#include "engine/base/expected.h"
#include "engine/values/attribute_value.h"

namespace mayfly::transfer {

enum class ItemLayout : std::uint8_t { scan, batch, list, rows };

// Recognizes the layout by the first bytes of `text`. nullopt: another layout, possibly that of
// table_file.h.
Expected<std::optional<ItemLayout>, std::string> item_layout_of(UnpackedText& text);

// Reads the items of one table. Errors are sentences with the file's name and the line.
class ItemFile {
 public:
  // Requires: `layout` is not batch.
  ItemFile(std::unique_ptr<UnpackedText> text, ItemLayout layout);
  // Returns the next item. nullopt: the end of the file.
  Expected<std::optional<engine::Item>, std::string> next();
  // Whether the file contains a scan that did not reach the end of its table.
  [[nodiscard]] bool is_cut_short() const { return is_cut_short_; }

 private:
  enum class Style : std::uint8_t { unknown, dynamodb, plain };
  enum class State : std::uint8_t { begin, members, list };

  Expected<char, std::string> peek();  // the next nonblank character; '\0': the end
  Expected<void, std::string> take(char expected);
  Expected<std::string, std::string> take_value();
  Expected<bool, std::string> enter_items();
  Expected<bool, std::string> next_element(char end);
  Expected<engine::Item, std::string> item(const std::string& value);
  [[nodiscard]] Unexpected<std::string> malformed(const std::string& what) const;

  const std::unique_ptr<UnpackedText> text_;
  const ItemLayout layout_;
  Style style_ = Style::unknown;
  State state_ = State::begin;
  bool is_first_ = true;  // no element of the current list or object has been read
  bool is_cut_short_ = false;
};

// Reads all items of a batch-write-item file, by table, in the file's order. The file can be up to 64 MB,
// uncompressed.
Expected<std::vector<std::pair<std::string, std::vector<engine::Item>>>, std::string> read_batch(
    UnpackedText& text);

}  // namespace mayfly::transfer
