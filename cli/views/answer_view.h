// Formats answers for reading: aligned columns, "none" for empty values, keys as id=1.
//
//   mode  frozen                          TABLE  KEY   EXPIRES AT
//   now   2031-01-01T00:00:00Z            carts  id=1  2031-01-03T00:00:00.001Z
//
// Text that a server or its clients chose is made printable. With --json, commands print the answers
// themselves instead (print_json).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/json/json_tree.h"

namespace mayfly::cli {

// A table with headings. If its lines would be longer than line_characters_max, each row becomes a block of
// lines. Cells are cut after cell_characters_max characters.
class TextTable {
 public:
  static constexpr std::size_t cell_characters_max = 80, line_characters_max = 130;

  explicit TextTable(std::vector<std::string> headings) : rows_{std::move(headings)} {}

  // Requires: `cells` has one cell for each heading.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] std::string text(std::string_view indent = {}) const;
  // Supports rows that arrive in pages: returns the rows that were added since the last call, and forgets
  // them. The first call also returns the headings and fixes the widths of the columns.
  std::string take_page();

 private:
  using Widths = std::vector<std::size_t>;  // of the columns, in characters

  [[nodiscard]] Widths widths() const;
  [[nodiscard]] static bool is_too_wide(const Widths& widths, std::string_view indent);
  [[nodiscard]] static std::string line(const std::vector<std::string>& row, const Widths& widths,
                                        std::string_view indent);
  [[nodiscard]] std::string blocks(std::string_view indent) const;

  std::vector<std::vector<std::string>> rows_;
  std::optional<Widths> page_widths_;  // set by the first take_page()
};

// Names and values, one pair per line.
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

// Returns the text of a cell that shows `value`: "true", "none", "id=1", "carts 2, sessions 1". For an ARN,
// it is only the part after the account.
std::string cell_text(const json::Tree& value);

// Formats an answer of the control API. Returns `when_empty` if the answer has no members, or if `list` names
// a member that is empty or missing.
std::string view_answer(const json::Tree& answer, const std::string& list, const std::string& when_empty);

// Indented JSON and a newline. C1 control characters (U+0080 to U+009F) and DEL are escaped too.
std::string print_json(const json::Tree& answer);
std::string print_json_line(const json::Tree& answer);  // everything on one line

}  // namespace mayfly::cli
