#include "cli/views/item_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/base/durations.h"
#include "cli/base/fail.h"
#include "compat/calls/times.h"
#include "compat/wire/base64.h"
#include "compat/wire/plain_values.h"
#include "engine/base/text.h"
#include "engine/values/number.h"
#include "http/base/log.h"

namespace mayfly::cli {
namespace {

using json::Tree;

// A number that was not parsed is stored as a binary value.
bool is_number(const Tree& value) { return value.is_number() || value.is_binary(); }

struct Pair {
  std::string name, value;
};

std::optional<Pair> pair_of(const std::string& word) {
  const auto equals = word.find('=');
  if (equals == 0 || equals == std::string::npos) return std::nullopt;
  return Pair{word.substr(0, equals), word.substr(equals + 1)};
}

const KeyAttribute* find(const KeySchema& schema, std::string_view name) {
  for (const KeyAttribute& attribute : schema.attributes)
    if (attribute.name == name) return &attribute;
  return nullptr;
}

// Returns "id" or "id and at".
std::string names_of(const KeySchema& schema) {
  return engine::joined(schema.attributes, " and ", &KeyAttribute::name);
}

Expected<Tree, std::string> object_of(const std::string& word) {
  auto tree = json::parse_tree(word, json::Decimals::as_written);
  if (!tree || !tree->is_object()) return Unexpected{in_quotes(word) + " is not a valid JSON object."};
  return *std::move(tree);
}

bool is_json_word(const std::vector<std::string>& words) {
  return words.size() == 1 && words[0].starts_with('{');
}

Expected<Tree, std::string> key_of_json(const KeySchema& schema, const KeyAttribute& attribute,
                                        const Tree& value) {
  if (compat::is_typed_value(value)) return value;
  if (value.is_string()) return read_key_value(schema, attribute, value.get_ref<const std::string&>());
  if (is_number(value)) return read_key_value(schema, attribute, json::print(value));
  return Unexpected{"key attribute " + in_quotes(attribute.name) + " of " + schema.table +
                    " must be a string or a number, got " + http::log::printable(json::print(value)) + "."};
}

// Converts each key attribute to its type in the schema, and converts the other members with `others`.
template <typename Others>
Expected<Tree, std::string> of_json(const KeySchema& schema, const Tree& object, const Others& others) {
  Tree result = Tree::object();
  for (const auto& [name, value] : object.items()) {
    if (const KeyAttribute* attribute = find(schema, name)) {
      TRY(Tree key, key_of_json(schema, *attribute, value));
      json::add_member(result, name, std::move(key));
    } else {
      TRY(Tree other, others(name, value));
      json::add_member(result, name, std::move(other));
    }
  }
  return result;
}

Expected<void, std::string> check_is_whole(const KeySchema& schema, const Tree& item, bool whole) {
  for (const KeyAttribute& attribute : schema.attributes) {
    if (!item.contains(attribute.name))
      return Unexpected{"the key of " + schema.table + " is " + names_of(schema) + "; " + attribute.name +
                        " is missing."};
    if (!whole) break;
  }
  return {};
}

// Parses "+48h" or "-1h". Returns nullopt if the string is not such a time span.
std::optional<engine::Instant> span_ms(std::string_view text) {
  if (text.size() < 2 || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  // A plain number is epoch seconds, not a span.
  if (engine::is_digit(text.back())) return std::nullopt;
  const auto seconds = seconds_of(std::string(text.substr(1)));
  if (!seconds) return std::nullopt;
  const double span = std::stod(*seconds) * 1000;
  if (span > static_cast<double>(engine::last_instant)) return std::nullopt;
  return static_cast<engine::Instant>(text[0] == '-' ? -span : span);
}

// Rounds down, like epoch_seconds() in the packages' test fixtures.
std::string epoch_seconds(engine::Instant instant) {
  return std::to_string(instant / 1000 - (instant % 1000 < 0 ? 1 : 0));
}

Expected<Tree, std::string> read_time_to_live(const std::string& name, const std::string& text,
                                              engine::Instant now) {
  if (const auto span = span_ms(text)) return Tree{{"N", epoch_seconds(now + *span)}};
  if (const auto time = compat::control::parse_time(text)) return Tree{{"N", epoch_seconds(*time)}};
  if (const auto plain = json::parse_tree(text, json::Decimals::as_written))
    return compat::typed_value(*plain);
  return Unexpected{"TTL attribute " + in_quotes(name) + " must be a duration from now (+48h), a time " +
                    "(2031-01-03T00:00:00Z) or epoch seconds, got " + in_quotes(text) + "."};
}

}  // namespace

std::optional<KeySchema> key_schema_of(const Tree& table, const Tree& described, std::string name) {
  const Tree* const keys = json::member(described, "KeySchema");
  const Tree* const definitions = json::member(table, "AttributeDefinitions");
  if (keys == nullptr || !keys->is_array() || definitions == nullptr || !definitions->is_array())
    return std::nullopt;
  KeySchema schema{.table = http::log::printable(name), .attributes = {}};
  for (const char* const role : {"HASH", "RANGE"}) {
    for (const Tree& key : *keys) {
      const auto attribute = json::string_member(key, "AttributeName");
      if (!attribute || json::string_member(key, "KeyType") != role) continue;
      std::string type = "S";
      for (const Tree& definition : *definitions)
        if (json::string_member(definition, "AttributeName") == attribute)
          type = json::string_member(definition, "AttributeType").value_or("S");
      schema.attributes.push_back({std::string(*attribute), type});
    }
  }
  if (schema.attributes.empty()) return std::nullopt;
  return schema;
}

bool is_typed_item(const Tree& value) {
  return value.is_object() && !value.empty() &&
         std::all_of(value.begin(), value.end(), compat::is_typed_value);
}

std::optional<Tree> typed_key(std::string_view text) {
  auto tree = json::parse_tree(text, json::Decimals::as_written);
  if (!tree || !is_typed_item(*tree)) return std::nullopt;
  return tree;
}

Expected<Tree, std::string> read_key_value(const KeySchema& schema, const KeyAttribute& attribute,
                                           const std::string& text) {
  const auto wrong = [&](const char* what) {
    return Unexpected{"key attribute " + in_quotes(attribute.name) + " of " + schema.table + " must be " +
                      what + ", got " + in_quotes(text) + "."};
  };
  if (attribute.type == "N" && !engine::Number::parse(text)) return wrong("a number");
  if (attribute.type == "B" && !compat::decode_base64(text)) return wrong("a binary value in base64");
  return Tree{{attribute.type, text}};
}

Expected<Tree, std::string> read_key(const KeySchema& schema, const std::vector<std::string>& words,
                                     bool whole) {
  const auto stranger = [&](const std::string& name) {
    return Unexpected{in_quotes(name) + " is not a key attribute of " + schema.table + "; its key is " +
                      names_of(schema) + "."};
  };
  Tree key = Tree::object();
  if (is_json_word(words)) {
    TRY(const Tree object, object_of(words[0]));
    TRY(key,
        of_json(schema, object, [&](const std::string& name, const Tree&) -> Expected<Tree, std::string> {
          return stranger(name);
        }));
  } else {
    std::size_t next = 0;
    for (const std::string& word : words) {
      // A value may contain '=', so a word is NAME=VALUE only if NAME is a key attribute.
      const auto pair = pair_of(word);
      const KeyAttribute* attribute = pair ? find(schema, pair->name) : nullptr;
      const bool by_name = attribute != nullptr;
      if (!by_name) {
        if (next >= schema.attributes.size())
          return Unexpected{"the key of " + schema.table + " is " + names_of(schema) + "; " +
                            in_quotes(word) + " is an extra value."};
        attribute = &schema.attributes[next++];
      }
      if (key.contains(attribute->name)) return Unexpected{in_quotes(attribute->name) + " was given twice."};
      TRY(Tree value, read_key_value(schema, *attribute, by_name ? pair->value : word));
      json::add_member(key, attribute->name, std::move(value));
    }
  }
  CHECK_OK(check_is_whole(schema, key, whole));
  return key;
}

bool may_have_time_to_live(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    const auto pair = pair_of(word);
    return pair && !word.starts_with('{') && !json::parse_tree(pair->value);
  });
}

Expected<Tree, std::string> read_item(const KeySchema& schema, const std::vector<std::string>& words,
                                      const std::string& ttl_attribute, engine::Instant now) {
  Tree item = Tree::object();
  if (is_json_word(words)) {
    TRY(const Tree object, object_of(words[0]));
    // A key attribute is a string or a number, never a map. So an object here means that the item is DynamoDB
    // JSON.
    const Tree* const key = json::member(object, schema.attributes[0].name);
    const bool is_typed = key != nullptr && key->is_object();
    TRY(item,
        of_json(schema, object, [&](const std::string&, const Tree& value) -> Expected<Tree, std::string> {
          return is_typed ? value : compat::typed_value(value);
        }));
  } else {
    for (const std::string& word : words) {
      const auto pair = pair_of(word);
      if (!pair)
        return Unexpected{in_quotes(word) +
                          " is not NAME=VALUE. Write an item as NAME=VALUE words or as one JSON object."};
      if (item.contains(pair->name)) return Unexpected{in_quotes(pair->name) + " was given twice."};
      const KeyAttribute* const attribute = find(schema, pair->name);
      Tree value;
      if (attribute != nullptr) {
        TRY(value, read_key_value(schema, *attribute, pair->value));
      } else if (pair->name == ttl_attribute) {
        TRY(value, read_time_to_live(pair->name, pair->value, now));
      } else if (const auto plain = json::parse_tree(pair->value, json::Decimals::as_written)) {
        value = compat::typed_value(*plain);
      } else {
        value = Tree{{"S", pair->value}};
      }
      json::add_member(item, pair->name, std::move(value));
    }
  }
  CHECK_OK(check_is_whole(schema, item, true));
  return item;
}

std::string plain_text(const Tree& value) {
  const Tree plain = compat::plain_value(value);
  return http::log::printable(plain.is_string() ? plain.get_ref<const std::string&>() : json::print(plain));
}

std::string plain_key(const Tree& key) {
  std::string text;
  if (!key.is_object()) return text;
  for (const auto& [name, value] : key.items())
    text += (text.empty() ? "" : " ") + http::log::printable(name) + "=" + plain_text(value);
  return text;
}

}  // namespace mayfly::cli
