#include "compat/syntax/resolve.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "compat/syntax/lexer.h"
#include "compat/wire/attribute_value_json.h"

namespace mayfly::compat::expression {
namespace {

constexpr std::size_t placeholder_bytes_max = 255;

// Whether the string is the sigil ('#' or ':') followed by letters, digits and underscores.
bool is_placeholder(std::string_view text, char sigil) {
  return text.size() > 1 && text.size() <= placeholder_bytes_max && text.front() == sigil &&
         std::all_of(text.begin() + 1, text.end(), is_word_character);
}

Result<void> check_placeholders(std::string_view parameter, char sigil, const json::Value& given) {
  if (given.members().empty()) return error::validation(std::string(parameter) + " must not be empty");
  for (const json::Member& member : given.members()) {
    if (is_placeholder(member.name, sigil)) continue;
    return error::validation(std::string(parameter) + " contains invalid key: Syntax error; key: \"" +
                             std::string(member.name) + "\"");
  }
  return {};
}

void append_list(std::string& out, std::string_view separator, std::string_view part) {
  if (!out.empty()) out += separator;
  out += part;
}

}  // namespace

template <class T>
void Substitutions::Definitions<T>::define(std::string placeholder, T replacement) {
  all.push_back({std::move(placeholder), std::move(replacement)});
}

template <class T>
void Substitutions::Definitions<T>::sort() {
  sorted.resize(all.size());
  std::iota(sorted.begin(), sorted.end(), 0U);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return all[a].placeholder < all[b].placeholder; });
  // The last definition of a placeholder counts. Earlier definitions of it are marked as used, so that they
  // are not reported as unused.
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    Definition<T>& earlier = all[sorted[i - 1]];
    if (earlier.placeholder == all[sorted[i]].placeholder) earlier.used = true;
  }
}

template <class T>
const T* Substitutions::Definitions<T>::use(std::string_view placeholder) {
  if (sorted.size() != all.size()) sort();
  const auto after = std::upper_bound(
      sorted.begin(), sorted.end(), placeholder,
      [&](std::string_view wanted, std::uint32_t position) { return wanted < all[position].placeholder; });
  if (after == sorted.begin()) return nullptr;
  Definition<T>& definition = all[*std::prev(after)];
  if (definition.placeholder != placeholder) return nullptr;
  definition.used = true;
  return &definition.replacement;
}

template <class T>
std::string Substitutions::Definitions<T>::unused() const {
  std::string out;
  for (const Definition<T>& definition : all) {
    if (!definition.used) append_list(out, ", ", definition.placeholder);
  }
  return out;
}

void Substitutions::define_name(std::string placeholder, std::string name) {
  names_.define(std::move(placeholder), std::move(name));
}

void Substitutions::define_value(std::string placeholder, engine::AttributeValue value) {
  values_.define(std::move(placeholder), std::move(value));
}

Result<void> Substitutions::read_names(const json::Value& names) {
  CHECK_OK(check_placeholders("ExpressionAttributeNames", '#', names));
  for (const json::Member& member : names.members()) {
    if (!member.value.is(json::Value::Kind::string)) continue;  // null counts as absent
    if (member.value.string().empty()) {
      return error::validation(
          "ExpressionAttributeNames contains invalid value: Empty attribute name for key " +
          std::string(member.name));
    }
    define_name(std::string(member.name), std::string(member.value.string()));
  }
  return {};
}

Result<void> Substitutions::read_values(const json::Value& values) {
  CHECK_OK(check_placeholders("ExpressionAttributeValues", ':', values));
  for (const json::Member& member : values.members()) {
    if (member.value.is(json::Value::Kind::null)) continue;
    auto value = read_attribute_value(member.value, inside(frame_));
    if (!value && has_newer_words(frame_)) return Unexpected{std::move(value).error()};
    if (!value) {
      return error::validation("ExpressionAttributeValues contains invalid value: " + value.error().message +
                               " for key " + std::string(member.name));
    }
    define_value(std::string(member.name), *std::move(value));
  }
  return {};
}

Result<Substitutions> Substitutions::read(const json::Value& request, Frame frame) {
  Substitutions out;
  out.frame_ = frame;
  if (const json::Value* names = request.member("ExpressionAttributeNames"))
    CHECK_OK(in_frame(frame, out.read_names(*names)));
  if (const json::Value* values = request.member("ExpressionAttributeValues"))
    CHECK_OK(in_frame(frame, out.read_values(*values)));
  return out;
}

const std::string* Substitutions::name(std::string_view placeholder) { return names_.use(placeholder); }

const SharedValue* Substitutions::value(std::string_view placeholder) { return values_.use(placeholder); }

Result<void> Substitutions::check_all_used() const {
  const auto refuse = [&](std::string_view parameter, const std::string& unused) {
    return in_frame(frame_,
                    Result<void>(error::validation("Value provided in " + std::string(parameter) +
                                                   " unused in expressions: keys: {" + unused + "}")));
  };
  if (const std::string unused = names_.unused(); !unused.empty())
    return refuse("ExpressionAttributeNames", unused);
  if (const std::string unused = values_.unused(); !unused.empty())
    return refuse("ExpressionAttributeValues", unused);
  return {};
}

}  // namespace mayfly::compat::expression
