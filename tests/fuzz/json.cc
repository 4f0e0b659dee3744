// Any text, by both readers of JSON and by Boost.JSON's parser: what one takes the others take, and it means
// the same, however often it is written and read again.
#include "compat/wire/json.h"

#include <boost/json/basic_parser_impl.hpp>
#include <nlohmann/json.hpp>
#include <optional>
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

// Writes what Boost.JSON's parser tells of.
class BoostWriter {
 public:
  static constexpr std::size_t max_object_size = UINT32_MAX, max_array_size = UINT32_MAX;
  static constexpr std::size_t max_key_size = UINT32_MAX, max_string_size = UINT32_MAX;
  using View = boost::json::string_view;
  using Code = boost::json::error_code;

  bool on_document_begin(Code&) { return true; }
  bool on_document_end(Code&) { return true; }
  bool on_object_begin(Code&) { return out_.begin_object(), true; }
  bool on_object_end(std::size_t, Code&) { return out_.end_object(), true; }
  bool on_array_begin(Code&) { return out_.begin_array(), true; }
  bool on_array_end(std::size_t, Code&) { return out_.end_array(), true; }
  bool on_key_part(View part, std::size_t, Code&) { return add(part); }
  bool on_key(View last, std::size_t, Code&) { return out_.key(whole(last)), true; }
  bool on_string_part(View part, std::size_t, Code&) { return add(part); }
  bool on_string(View last, std::size_t, Code&) { return out_.string(whole(last)), true; }
  bool on_number_part(View part, Code&) { return add(part); }
  bool on_int64(std::int64_t, View last, Code&) { return out_.raw(whole(last)), true; }
  bool on_uint64(std::uint64_t, View last, Code&) { return out_.raw(whole(last)), true; }
  bool on_double(double, View last, Code&) { return out_.raw(whole(last)), true; }
  bool on_bool(bool boolean, Code&) { return out_.boolean(boolean), true; }
  bool on_null(Code&) { return out_.raw("null"), true; }
  bool on_comment_part(View, Code&) { return true; }
  bool on_comment(View, Code&) { return true; }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  bool add(View part) {
    parts_.append(part.data(), part.size());
    return true;
  }
  std::string whole(View last) {
    add(last);
    return std::exchange(parts_, {});
  }

  std::string text_, parts_;
  json::Writer out_{text_};
};

// As Writer writes what it reads; nothing if it is not JSON.
std::optional<std::string> read_by_boost(std::string_view text) {
  boost::json::parse_options options;
  options.max_depth = json::depth_max;
  boost::json::basic_parser<BoostWriter> parser(options);
  boost::json::error_code error;
  const std::size_t consumed = parser.write_some(false, text.data(), text.size(), error);
  if (error || !parser.done()) return std::nullopt;
  if (text.find_first_not_of(" \t\r\n", consumed) != std::string_view::npos) return std::nullopt;
  return parser.handler().text();
}

// Exponents are of 32 bits, and how exactly a number may come near to that is not for us to copy.
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
  if (!has_long_exponent(input)) {
    const auto model = read_by_boost(input);
    must(model.has_value() == (document != nullptr), "what is JSON is JSON for Boost.JSON");
    if (model) must(written(document->root()) == *model, "and reads the same", *model);
  }
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
