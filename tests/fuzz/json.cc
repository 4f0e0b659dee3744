// Any text, by both readers of JSON: what one takes the other takes, and it means the same, however often it
// is written and read again.
#include "compat/wire/json.h"

#include <nlohmann/json.hpp>
#include <string>

#include "compat/wire/json_tree.h"
#include "engine/number.h"
#include "tests/fuzz/must.h"
#include "tests/fuzz/targets.h"

namespace mayfly::testing {
namespace {

std::string written(const json::Value& value) {
  std::string text;
  json::Writer(text).value(value);
  return text;
}

// A number beyond doubles is none for the tree's reader.
bool beyond_doubles(const json::Value& value) {
  if (value.is(json::Value::Kind::number))
    return nlohmann::json::parse(value.number_text(), nullptr, false).is_discarded();
  for (const json::Value& item : value.items())
    if (beyond_doubles(item)) return true;
  for (const json::Member& member : value.members())
    if (beyond_doubles(member.value)) return true;
  return false;
}

// Boost.JSON's parser has exponents of 32 bits.
bool has_long_exponent(std::string_view text) {
  constexpr std::size_t digits = 10;
  for (auto at = text.find_first_of("eE"); at < text.size(); at = text.find_first_of("eE", at + 1)) {
    const auto first = text.find_first_not_of("+-0", at + 1);
    if (text.find_first_not_of("0123456789", first) - first >= digits) return true;
  }
  return false;
}

}  // namespace

void fuzz_json(std::string_view input) {
  const auto document = json::parse(input);
  const auto tree = json::parse_tree(input, json::Decimals::as_written);
  if (document == nullptr)
    return must(!tree || has_long_exponent(input), "what is JSON for the tree's reader is JSON");
  if (!tree) return must(beyond_doubles(document->root()), "what is JSON is JSON for the tree's reader");

  const std::string text = written(document->root());
  const auto again = json::parse(text);
  must(again != nullptr, "what was written can be read", text);
  must(written(again->root()) == text, "what was written and read is written alike", text);

  // Whole numbers come out of the tree without leading or other forms of zero; decimals as they were.
  const std::string printed = json::print(*tree);
  const auto tree_again = json::parse_tree(printed, json::Decimals::as_written);
  must(tree_again.has_value(), "what a tree printed can be read", printed);
  must(json::print(*tree_again) == printed, "what a tree printed is printed alike", printed);
  must(json::parse_tree(json::print_indented(*tree), json::Decimals::as_written) == tree_again,
       "indented it is the same", printed);
  const auto of_text = json::parse_tree(text, json::Decimals::as_written);
  must(of_text && json::print(*of_text) == printed, "both readers read the same", text + "\n" + printed);
}

}  // namespace mayfly::testing
