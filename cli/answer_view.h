// Answers as people read them: aligned columns, "none" for empty values, keys as id=1.
//
//   mode  frozen                          TABLE  KEY   EXPIRES AT
//   now   2031-01-01T00:00:00Z            carts  id=1  2031-01-03T00:00:00.001Z
//
// Whatever a server or its clients chose is printable. With --json commands print answers instead
// (print_json).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/wire/json_tree.h"

namespace mayfly::http {

// Columns under headings; if they would be wider than line_characters_max, a block of lines for each row.
// Longer cells are cut after cell_characters_max characters.
class TextTable {
 public:
  static constexpr std::size_t cell_characters_max = 80, line_characters_max = 130;

  explicit TextTable(std::vector<std::string> headings) : rows_{std::move(headings)} {}

  // Requires: as many cells as there are headings.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] std::string text(std::string_view indent = {}) const;
  // For rows that arrive in pages: the rows that were added since the last call, which are forgotten then.
  // The first call prints the headings and fixes the widths of the columns.
  std::string take_page();

 private:
  using Widths = std::vector<std::size_t>;  // in characters, of the columns

  [[nodiscard]] Widths widths() const;
  [[nodiscard]] static bool is_too_wide(const Widths& widths, std::string_view indent);
  [[nodiscard]] static std::string line(const std::vector<std::string>& row, const Widths& widths,
                                        std::string_view indent);
  [[nodiscard]] std::string blocks(std::string_view indent) const;

  std::vector<std::vector<std::string>> rows_;
  std::optional<Widths> page_widths_;  // once a page was taken
};

// Names and values, one pair a line.
class TextList {
 public:
  void add(std::string name, std::string value) { rows_.push_back({std::move(name), std::move(value)}); }
  [[nodiscard]] std::string text() const;

 private:
  struct Row {
    std::string name, value;
  };
  std::vector<Row> rows_;
};

// One value in a cell: "true", "none", "id=1", "carts 2, sessions 1"; of an ARN what follows the account.
std::string cell_text(const json::Tree& value);

// An answer of the control API. `when_empty` is printed instead if the answer has no members, or if `list`
// names a member and that is empty.
std::string view_answer(const json::Tree& answer, const std::string& list, const std::string& when_empty);

// Indented JSON and an end of line. Control characters of 8 bits are escaped as well.
std::string print_json(const json::Tree& answer);
std::string print_json_line(const json::Tree& answer);  // all on one line

}  // namespace mayfly::http
