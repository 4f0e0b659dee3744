#include "compat/settings/tags.h"

#include <algorithm>
#include <optional>

#include "compat/wire/java_string.h"
#include "compat/wire/shapes_common.h"

namespace mayfly::compat {
namespace {

constexpr std::int64_t key_length_max = 128;
constexpr std::int64_t value_length_max = 256;

constexpr Member tag_members[] = {
    {"Key", &shapes::any_string},
    {"Value", &shapes::any_string},
};
constexpr Shape tag = structure("Tag", tag_members);

// Takes the next code point. Requires: `text` is valid UTF-8.
char32_t next_character(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  char32_t character = size == 1 ? lead : lead & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i)
    character = character << 6 | (static_cast<unsigned char>(text[i]) & 0x3fU);
  text.remove_prefix(size);
  return character;
}

// Whether the string consists only of letters and digits of any script, white space and a few punctuation
// characters. Arrows and emoji, for example, are invalid.
bool is_tag_text(std::string_view text) {
  while (!text.empty()) {
    const char32_t c = next_character(text);
    if (c >= 0x80) {
      if ((c >= 0x2190 && c <= 0x2bff) || c >= 0x1f000) return false;
      continue;
    }
    const bool known = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view(" +-=._:/@").find(static_cast<char>(c)) != std::string_view::npos;
    if (!known) return false;
  }
  return true;
}

Result<void> check_key(std::optional<std::string_view> key) {
  const auto length = java_length(key.value_or(""));
  if (length == 0 || length > key_length_max || !is_tag_text(*key)) {
    return error::validation("The Tag Key provided is invalid, Key: " + std::string(key.value_or("null")));
  }
  if (key->starts_with("aws:")) {
    return error::validation("Tag Key cannot be prefixed with aws:, Key: " + std::string(*key));
  }
  return {};
}

Result<void> check_value(std::optional<std::string_view> value) {
  if (!value || java_length(*value) > value_length_max || !is_tag_text(*value)) {
    return error::validation("The Tag Value provided is invalid, Value: " +
                             std::string(value.value_or("null")));
  }
  return {};
}

}  // namespace

constinit const Shape shapes::tags = list_of(tag);
constinit const Shape shapes::tag_keys = list_of(shapes::any_string);

Result<Tags> read_tags(const json::Value& list) {
  Tags tags;
  for (const json::Value& each : list.items()) {
    const auto key = string_member(each, "Key");
    const auto value = string_member(each, "Value");
    CHECK_OK(check_key(key));
    CHECK_OK(check_value(value));
    if (!tags.emplace(*key, *value).second) {
      return error::validation("Duplicate Tag Keys provided as input: Duplicate Tag Key found " +
                               std::string(*key));
    }
  }
  if (tags.size() > tags_max) return too_many_tags();
  return tags;
}

Result<void> check_tag_keys(const json::Value& list) {
  for (const json::Value& each : list.items()) CHECK_OK(check_key(each.string()));
  if (list.items().size() > tags_max) return too_many_tags();
  return {};
}

Unexpected<Error> too_many_tags() {
  return error::validation("Number of Tags exceed the current limit for the provided ResourceArn");
}

}  // namespace mayfly::compat
