// Anonymization rules: which values a transfer keeps, drops or replaces, by table and path.
//
//   {"default":"hash","rules":[
//     {"table":"users","path":"email","action":"fake","kind":"email"},
//     {"path":"**.password","action":"drop"},
//     {"table":"orders*","path":"lines[*].sku","action":"keep"}]}
//
// A path consists of attribute names separated by dots, with `*` for any name, `[3]` and `[*]` for list
// elements, and `**` for any number of steps. A backslash makes the next character part of a name. A rule for
// a map or a list applies to everything in it. If several rules match, the rule whose path ends deepest
// applies. If several paths end at that depth, the first of these rules in the file applies. Repeated members
// are errors, and so are two rules with the same table and path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/anonymize/fakes.h"
#include "engine/base/expected.h"

namespace mayfly::transfer {

enum class Action : std::uint8_t { keep, drop, hash, fake, shift };
std::string_view name_of(Action action);

struct PathStep {
  enum class Kind : std::uint8_t { name, any_name, element, any_element, any_way };
  Kind kind = Kind::name;
  std::string name{};     // set if kind is name
  std::size_t index = 0;  // set if kind is element
};

struct Rule {
  std::string table = "*";  // may contain * and ?
  std::string path;         // as written in the file
  std::vector<PathStep> steps;
  Action action = Action::keep;
  Fake fake{};
  std::string after{};             // for hash and fake: keep the text up to and including this string
  std::int64_t shift_seconds = 0;  // for shift
};

struct Rules {
  static constexpr std::size_t file_bytes_max = 1024 * 1024;
  static constexpr std::size_t rules_max = 1000;
  static constexpr std::size_t steps_max = 40;  // items nest at most 32 deep

  Action otherwise = Action::hash;  // for values without a rule: keep, drop or hash
  std::vector<Rule> rules;

  // The error is a sentence that names the rule.
  static Expected<Rules, std::string> parse(std::string_view text);
};

Expected<std::vector<PathStep>, std::string> parse_path(std::string_view text);

// `pattern` may contain * for any characters and ? for one character.
bool matches(std::string_view pattern, std::string_view name);

}  // namespace mayfly::transfer
