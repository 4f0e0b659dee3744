#include "compat/data_files/dynamodb_json.h"

#include <algorithm>
#include <utility>

#include "compat/json/json.h"
#include "compat/wire/attribute_value_json.h"
#include "compat/wire/shapes_common.h"

namespace mayfly::compat::data_files {
namespace {

constexpr Member line_members[] = {{"Item", &shapes::attribute_map}};
constexpr Shape line_shape = structure("Item", line_members);

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

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

void JsonLinesReader::look(char c) {
  if (in_string_) {
    in_string_ = escaped_ || c != '"';
    escaped_ = !escaped_ && c == '\\';
    return;
  }
  if (c == '{') {
    ++depth_;
  } else if (depth_ == 0) {
    is_object_ = is_blank(c);
  } else if (c == '"') {
    in_string_ = true;
  } else if (c == '}' && --depth_ == 0) {
    object_end_ = looked_at_ + 1;
  }
}

std::optional<std::size_t> JsonLinesReader::find_end(std::string_view rest, bool last) {
  for (; looked_at_ < rest.size() && looked_at_ <= record_bytes_max; ++looked_at_) {
    const char c = rest[looked_at_];
    if (c == '\n') return looked_at_;
    if (object_end_ && c == '{') return object_end_;
    if (object_end_ && !is_blank(c)) {
      object_end_.reset();
      is_object_ = false;
    }
    if (is_object_ && !object_end_) look(c);
  }
  if (looked_at_ > record_bytes_max) return looked_at_;
  return last ? std::optional(rest.size()) : std::nullopt;
}

std::optional<Record> JsonLinesReader::next(Text& text, bool last) {
  for (;;) {
    const std::string_view rest = text.rest();
    const std::uint64_t line = text.line(), offset = text.offset();
    const auto end = find_end(rest, last);
    if (!end || rest.empty()) return std::nullopt;
    std::optional<Record> record;
    if (*end > record_bytes_max) {
      record = unreadable("The line is too long for an item");
    } else if (const std::string_view found = rest.substr(0, *end);
               !std::all_of(found.begin(), found.end(), is_blank)) {
      record = read_dynamodb_json(found);
      if (keeps_json_ && *record) json_ = found;
    }
    looked_at_ = depth_ = 0;
    in_string_ = escaped_ = false;
    is_object_ = true;
    object_end_.reset();
    text.pass(*end + (*end < rest.size() && rest[*end] == '\n' ? 1 : 0));
    if (!record) continue;
    if (!*record) {
      record->error().line = line;
      record->error().offset = offset;
    }
    return record;
  }
}

}  // namespace mayfly::compat::data_files
