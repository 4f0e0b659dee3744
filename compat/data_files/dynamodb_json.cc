#include "compat/data_files/dynamodb_json.h"

#include <utility>

#include "compat/wire/attribute_value_json.h"
#include "compat/wire/json.h"
#include "compat/wire/shapes_common.h"

namespace mayfly::compat::data_files {
namespace {

constexpr Member line_members[] = {{"Item", &shapes::attribute_map}};
constexpr Shape line_shape = structure("Item", line_members);

Record unreadable(std::string what) {
  return Unexpected{BadRecord{.what = std::move(what), .ends_file = true}};
}

}  // namespace

Record read_dynamodb_json(std::string_view text) {
  const auto document = json::parse(text);
  if (document == nullptr) return unreadable("The line is not JSON");
  const json::Value* const item = document->root().member("Item");
  if (item == nullptr || !item->is(json::Value::Kind::object)) return unreadable("The line has no Item");
  if (const auto checked = check_types(line_shape, document->root()); !checked)
    return unreadable(checked.error().message);
  auto read = read_item(*item);
  if (!read) return Unexpected{BadRecord{.what = std::move(read.error().message)}};
  return *std::move(read);
}

std::optional<Record> JsonLinesReader::next(Text& text, bool last) {
  for (;;) {
    const std::string_view rest = text.rest();
    const std::uint64_t line = text.line(), offset = text.offset();
    auto end = rest.find('\n', looked_at_);
    if (end == rest.npos && last) end = rest.size();
    std::optional<Record> record;
    if (std::min(end, rest.size()) > record_bytes_max) {
      record = unreadable("The line is too long for an item");
    } else if (end == rest.npos || rest.empty()) {
      looked_at_ = rest.size();
      return std::nullopt;
    } else if (const std::string_view found = rest.substr(0, end);
               found.find_first_not_of(" \t\r") != found.npos) {
      record = read_dynamodb_json(found);
      if (keeps_json_ && *record) json_ = found;
    }
    looked_at_ = 0;
    text.pass(std::min(end, rest.size() - 1) + 1);
    if (!record) continue;
    if (!*record) {
      record->error().line = line;
      record->error().offset = offset;
    }
    return record;
  }
}

}  // namespace mayfly::compat::data_files
