#include "cli/views/answer_view.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/views/item_text.h"
#include "http/base/log.h"

namespace mayfly::cli {
namespace {

using json::Tree;

constexpr std::size_t pairs_in_a_cell_max = 6;

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

std::string cut(const std::string& text) {
  if (characters(text) <= TextTable::cell_characters_max) return text;
  std::size_t bytes = 0;
  for (std::size_t count = 0; bytes < text.size(); ++bytes)
    if (!continues_character(text[bytes]) && ++count == TextTable::cell_characters_max) break;
  return text.substr(0, bytes) + "…";
}

std::string padded(std::string text, std::size_t width) {
  const std::size_t has = characters(text);
  return has < width ? text + std::string(width - has, ' ') : text;
}

std::string with_spaces(std::string_view name) {
  std::string words(name);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string words_of(std::string_view name) { return http::log::printable(with_spaces(name)); }

std::string heading_of(std::string_view name) {
  std::string heading = with_spaces(name);
  for (char& c : heading)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return http::log::printable(heading);
}

// Shortens "arn:aws:lambda:us-east-1:000000000000:function:reminder" to "function:reminder".
std::string_view without_arn(std::string_view text) {
  if (!text.starts_with("arn:")) return text;
  std::string_view rest = text;
  for (int fields = 0; fields < 5; ++fields) {
    const auto colon = rest.find(':');
    if (colon == std::string_view::npos) return text;
    rest.remove_prefix(colon + 1);
  }
  return rest;
}

bool is_compound(const Tree& value) { return value.is_object() || value.is_array(); }

bool is_list_of_objects(const Tree& value) {
  return value.is_array() && !value.empty() &&
         std::all_of(value.begin(), value.end(), [](const Tree& one) { return one.is_object(); });
}

// Whether the value is an object whose members are all objects, such as {"carts":{…}}. Clients or servers
// chose the names of these members.
bool is_map_of_objects(const Tree& value) {
  return value.is_object() && !value.empty() && !is_typed_item(value) &&
         std::all_of(value.begin(), value.end(), [](const Tree& one) { return one.is_object(); });
}

// Returns a table with one row for each object. If `has_names` is true, the first column has the names.
std::string table_of(const std::vector<std::pair<std::string, const Tree*>>& objects, bool has_names,
                     std::string_view indent) {
  std::vector<std::string> members;
  for (const auto& [name, object] : objects)
    for (const auto& [member, value] : object->items())
      if (std::find(members.begin(), members.end(), member) == members.end()) members.push_back(member);
  std::vector<std::string> headings;
  if (has_names) headings.emplace_back("NAME");
  for (const std::string& member : members) headings.push_back(heading_of(member));
  TextTable table(std::move(headings));
  for (const auto& [name, object] : objects) {
    std::vector<std::string> cells;
    if (has_names) cells.push_back(http::log::printable(name));
    for (const std::string& member : members) {
      const Tree* const value = json::member(*object, member);
      cells.push_back(value == nullptr ? "" : cell_text(*value));
    }
    table.add(std::move(cells));
  }
  return table.text(indent);
}

std::string table_of(const Tree& value, std::string_view indent) {
  std::vector<std::pair<std::string, const Tree*>> objects;
  if (value.is_array())
    for (const Tree& one : value) objects.emplace_back("", &one);
  else
    for (const auto& [name, one] : value.items()) objects.emplace_back(name, &one);
  return table_of(objects, value.is_object(), indent);
}

// Requires: `text` is JSON.
std::string escaped(const std::string& text) {
  std::string safe;
  safe.reserve(text.size() + 1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    // 8-bit terminals interpret some of the characters U+0080 to U+009F as the beginning of a control
    // sequence.
    const bool is_control = byte == 0x7f || (byte == 0xc2 && next < 0xa0);
    if (!is_control) {
      safe += text[i];
      continue;
    }
    constexpr char digits[] = "0123456789abcdef";
    const unsigned code = byte == 0x7f ? byte : next;
    safe += std::string("\\u00") + digits[code >> 4] + digits[code & 15];
    if (byte == 0xc2) ++i;
  }
  return safe;
}

}  // namespace

TextTable::Widths TextTable::widths() const {
  Widths widths(rows_.front().size(), 0);
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], std::min(characters(row[i]), cell_characters_max));
  return widths;
}

bool TextTable::is_too_wide(const Widths& widths, std::string_view indent) {
  std::size_t width = indent.size();
  for (const std::size_t column : widths) width += column + 2;
  return width > line_characters_max + 2;
}

std::string TextTable::line(const std::vector<std::string>& row, const Widths& widths,
                            std::string_view indent) {
  std::string text(indent);
  for (std::size_t i = 0; i < row.size(); ++i) text += padded(cut(row[i]), widths[i]) + "  ";
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

std::string TextTable::text(std::string_view indent) const {
  const Widths columns = widths();
  if (is_too_wide(columns, indent)) return blocks(indent);
  std::string text;
  for (const auto& row : rows_) text += line(row, columns, indent);
  return text;
}

std::string TextTable::take_page() {
  const bool is_first = !page_widths_;
  if (is_first) page_widths_ = widths();
  std::string text;
  if (is_too_wide(*page_widths_, {})) {
    text = (is_first ? "" : "\n") + blocks({});
  } else {
    for (auto row = rows_.begin() + (is_first ? 0 : 1); row != rows_.end(); ++row)
      text += line(*row, *page_widths_, {});
  }
  rows_.resize(1);
  return text;
}

std::string TextTable::blocks(std::string_view indent) const {
  const auto& headings = rows_.front();
  std::size_t width = 0;
  for (const std::string& heading : headings) width = std::max(width, characters(heading));
  std::string text;
  for (auto row = rows_.begin() + 1; row != rows_.end(); ++row) {
    if (!text.empty()) text += "\n";
    for (std::size_t i = 0; i < row->size(); ++i)
      if (!(*row)[i].empty())
        text += std::string(indent) + padded(headings[i], width + 2) + cut((*row)[i]) + "\n";
  }
  return text;
}

std::string TextList::text() const {
  std::size_t width = 0;
  for (const Row& row : rows_) width = std::max(width, characters(row.name));
  std::string text;
  for (const Row& row : rows_) text += padded(row.name, width + 2) + row.value + "\n";
  return text;
}

std::string cell_text(const Tree& value) {
  if (value.is_string()) return http::log::printable(without_arn(value.get_ref<const std::string&>()));
  if (value.is_null() || (is_compound(value) && value.empty())) return "none";
  if (is_typed_item(value)) return plain_key(value);
  if (is_list_of_objects(value)) return std::to_string(value.size());
  if (!is_compound(value)) return http::log::printable(json::print(value));
  std::string text;
  for (const auto& [name, one] : value.items())
    text += (text.empty() ? "" : ", ") + (value.is_object() ? words_of(name) + " " : "") + cell_text(one);
  return text;
}

std::string view_answer(const Tree& answer, const std::string& list, const std::string& when_empty) {
  if (!answer.is_object()) return cell_text(answer) + "\n";
  const auto listed = answer.find(list);
  const bool is_empty = list.empty() ? answer.empty() : listed == answer.end() || listed->empty();
  if (is_empty && !when_empty.empty()) return when_empty + "\n";
  TextList lines;
  std::string tables;
  for (const auto& [name, value] : answer.items()) {
    const bool is_long_map = value.is_object() && !is_typed_item(value) && value.size() > pairs_in_a_cell_max;
    if (is_list_of_objects(value) || is_map_of_objects(value)) {
      // The requested list needs no heading.
      tables += name == list ? table_of(value, "") : words_of(name) + ":\n" + table_of(value, "  ");
    } else if (is_long_map) {
      TextList pairs;
      for (const auto& [key, one] : value.items()) pairs.add(http::log::printable(key), cell_text(one));
      tables += "\n" + pairs.text();
    } else {
      lines.add(words_of(name), value.is_string() ? http::log::printable(value.get_ref<const std::string&>())
                                                  : cell_text(value));
    }
  }
  return lines.text() + tables;
}

std::string print_json(const Tree& answer) { return escaped(json::print_indented(answer)) + "\n"; }
std::string print_json_line(const Tree& answer) { return escaped(json::print(answer)) + "\n"; }

}  // namespace mayfly::cli
