// Reads a string with both JSON readers and with Boost.JSON's parser. All three accept the same strings with
// the same meaning, and writing and reading again changes nothing.
#include "compat/json/json.h"

#include <boost/json/basic_parser_impl.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "compat/json/json_tree.h"
#include "engine/values/number.h"
#include "tests/fuzz/must.h"
#include "tests/fuzz/targets.h"

namespace mayfly::testing {
namespace {

std::string written(const json::Value& value) {
  std::string text;
  json::Writer(text).value(value);
  return text;
}

// Whether the value contains a number outside the range of doubles, which the tree's reader rejects.
bool beyond_doubles(const json::Value& value) {
  if (value.is(json::Value::Kind::number))
    return nlohmann::json::parse(value.number_text(), nullptr, false).is_discarded();
  for (const json::Value& item : value.items())
    if (beyond_doubles(item)) return true;
  for (const json::Member& member : value.members())
    if (beyond_doubles(member.value)) return true;
  return false;
}

// Writes the events of Boost.JSON's parser as JSON.
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

// What Boost.JSON reads, printed by Writer; nullopt if the text is not JSON.
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

// Boost.JSON's exponents are 32 bits wide. Boost.JSON's exact behavior close to that limit is not compared.
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
    must(model.has_value() == (document != nullptr), "the reader and Boost.JSON accept the same strings");
    if (model) must(written(document->root()) == *model, "the reader and Boost.JSON read the same", *model);
  }
  if (document == nullptr)
    return must(!tree || has_long_exponent(input), "the reader accepts what the tree's reader accepts");
  if (!tree)
    return must(beyond_doubles(document->root()), "the tree's reader accepts what the reader accepts");

  const std::string text = written(document->root());
  const auto again = json::parse(text);
  must(again != nullptr, "written JSON can be read", text);
  must(written(again->root()) == text, "JSON that is read again is written alike", text);

  // The tree prints integers without leading zeros or negative zero, and decimals unchanged.
  const std::string printed = json::print(*tree);
  const auto tree_again = json::parse_tree(printed, json::Decimals::as_written);
  must(tree_again.has_value(), "a printed tree can be read", printed);
  must(json::print(*tree_again) == printed, "a tree that is read again is printed alike", printed);
  must(json::parse_tree(json::print_indented(*tree), json::Decimals::as_written) == tree_again,
       "indented printing changes nothing", printed);
  const auto of_text = json::parse_tree(text, json::Decimals::as_written);
  must(of_text && json::print(*of_text) == printed, "both readers agree", text + "\n" + printed);
}

}  // namespace mayfly::testing
