#include "cli/table_files/item_file.h"

#include <algorithm>

#include "compat/data_files/dynamodb_json.h"
#include "compat/data_files/record.h"
#include "compat/json/json.h"

namespace mayfly::transfer {

using compat::data_files::record_bytes_max;

namespace {

constexpr std::size_t batch_bytes_max = 64 * 1024 * 1024;
// An attribute's name is at most 64 KB long.
constexpr std::size_t head_bytes = 256 * 1024;
constexpr std::string_view blanks = " \t\r\n";
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

// Examines the beginning of a JSON text, which may be cut off anywhere.
class Head {
 public:
  explicit Head(std::string_view text) : rest_(text) {
    if (rest_.starts_with(byte_order_mark)) rest_.remove_prefix(byte_order_mark.size());
  }
  // Returns the next nonblank character, or '\0' if the text ends before such a character.
  [[nodiscard]] char next() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(blanks), rest_.size()));
    is_cut_off_ = is_cut_off_ || rest_.empty();
    return rest_.empty() ? '\0' : rest_[0];
  }
  // Whether more text could change the result.
  [[nodiscard]] bool is_cut_off() const { return is_cut_off_; }
  bool take(char c) {
    if (next() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // Takes a member's name and returns it as written, without unescaping it.
  std::string_view name() {
    if (!take('"')) return {};
    std::size_t end = 0;
    while (end < rest_.size() && rest_[end] != '"') end += rest_[end] == '\\' ? 2 : 1;
    if (end >= rest_.size()) {
      is_cut_off_ = true;
      return {};
    }
    const std::string_view name = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return take(':') ? name : std::string_view();
  }
  void pass_number() {
    (void)next();
    rest_.remove_prefix(std::min(rest_.find_first_not_of("0123456789"), rest_.size()));
  }

 private:
  std::string_view rest_;
  bool is_cut_off_ = false;
};

std::optional<ItemLayout> layout_of(Head& head) {
  if (head.take('[')) return ItemLayout::list;
  if (!head.take('{')) return std::nullopt;
  std::string_view name = head.name();
  for (int i = 0; i < 2 && (name == "Count" || name == "ScannedCount"); ++i) {
    head.pass_number();
    if (head.take(',')) name = head.name();
  }
  if (name == "Items" && head.next() == '[') return ItemLayout::scan;
  if (name == "Item" || (name == "Tables" && head.next() == '[')) return std::nullopt;
  if (name == "RequestItems" && head.take('{')) head.name();
  if (!head.take('[') || !head.take('{')) return ItemLayout::rows;
  const std::string_view request = head.name();
  return request == "PutRequest" || request == "DeleteRequest" ? ItemLayout::batch : ItemLayout::rows;
}

bool is_typed(const json::Value& value) {
  constexpr std::string_view types[] = {"S", "N", "B", "SS", "NS", "BS", "M", "L", "BOOL", "NULL"};
  return value.members().size() == 1 &&
         std::find(std::begin(types), std::end(types), value.members()[0].name) != std::end(types);
}

// Writes plain JSON as DynamoDB JSON. The parser has already limited the depth of `value`.
void write_typed(json::Writer& out, const json::Value& value) {
  using Kind = json::Value::Kind;
  const auto typed = [&](const char* type, const auto& write) {
    out.begin_object();
    out.key(type);
    write();
    out.end_object();
  };
  switch (value.kind()) {
    case Kind::null: return typed("NULL", [&] { out.boolean(true); });
    case Kind::boolean: return typed("BOOL", [&] { out.boolean(value.boolean()); });
    case Kind::number: return typed("N", [&] { out.string(value.number_text()); });
    case Kind::string: return typed("S", [&] { out.string(value.string()); });
    case Kind::array:
      return typed("L", [&] {
        out.begin_array();
        for (const json::Value& element : value.items()) write_typed(out, element);
        out.end_array();
      });
    case Kind::object:
      return typed("M", [&] {
        out.begin_object();
        for (const json::Member& member : value.members()) {
          out.key(member.name);
          write_typed(out, member.value);
        }
        out.end_object();
      });
  }
}

// The error says what is wrong, without the position.
Expected<engine::Item, std::string> read_item(const json::Value& value, bool is_plain) {
  if (!value.is(json::Value::Kind::object)) return Unexpected{std::string("an item must be an object")};
  std::string line = R"({"Item":)";
  json::Writer out(line);
  if (is_plain) {
    out.begin_object();
    for (const json::Member& member : value.members()) {
      out.key(member.name);
      write_typed(out, member.value);
    }
    out.end_object();
  } else {
    out.value(value);
  }
  line += '}';
  auto item = compat::data_files::read_dynamodb_json(line);
  if (!item) return Unexpected{item.error().what};
  return *std::move(item);
}

bool is_dynamodb_json(const json::Value& item) {
  return std::all_of(item.members().begin(), item.members().end(),
                     [](const json::Member& member) { return is_typed(member.value); });
}

}  // namespace

Expected<std::optional<ItemLayout>, std::string> item_layout_of(UnpackedText& text) {
  for (;;) {
    Head head(text.rest());
    const std::optional<ItemLayout> layout = layout_of(head);
    if (!head.is_cut_off() || text.rest().size() > head_bytes) return layout;
    TRY(const bool more, text.extend());
    if (!more) return layout;
  }
}

ItemFile::ItemFile(std::unique_ptr<UnpackedText> text, ItemLayout layout)
    : text_(std::move(text)), layout_(layout) {
  if (text_->rest().starts_with(byte_order_mark)) text_->pass(byte_order_mark.size());
}

Unexpected<std::string> ItemFile::malformed(const std::string& what) const { return {text_->sentence(what)}; }

Expected<char, std::string> ItemFile::peek() {
  for (;;) {
    const std::string_view rest = text_->rest();
    text_->pass(std::min(rest.find_first_not_of(blanks), rest.size()));
    if (!text_->rest().empty()) return text_->rest()[0];
    TRY(const bool more, text_->extend());
    if (!more) return '\0';
  }
}

Expected<void, std::string> ItemFile::take(char expected) {
  TRY(const char c, peek());
  if (c == '\0') return malformed("the file ends too early");
  if (c != expected) return malformed(std::string("expected '") + expected + "'");
  text_->pass(1);
  return {};
}

// Takes one complete JSON value. Searches for the end of the value without parsing the value.
Expected<std::string, std::string> ItemFile::take_value() {
  TRY(const char first, peek());
  std::size_t depth = 0;
  bool in_string = false, escaped = false;
  for (std::size_t at = 0;; ++at) {
    if (at == text_->rest().size()) {
      TRY(const bool more, text_->extend());
      if (!more && (at == 0 || depth > 0 || in_string)) return malformed("the file ends too early");
    }
    if (at > record_bytes_max) return malformed("the value is too long for an item");
    const char c = at < text_->rest().size() ? text_->rest()[at] : '\n';
    bool ends_behind = false;
    if (in_string) {
      in_string = escaped || c != '"';
      escaped = !escaped && c == '\\';
      ends_behind = !in_string && depth == 0;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && depth > 0) {
      ends_behind = --depth == 0;
    } else if (depth == 0 && std::string_view(",]} \t\r\n").find(c) != std::string_view::npos) {
      // A number or a literal ends before this character.
      if (at == 0) return malformed(std::string("expected a value, found '") + first + "'");
      std::string value(text_->rest().substr(0, at));
      text_->pass(at);
      return value;
    }
    if (ends_behind) {
      std::string value(text_->rest().substr(0, at + 1));
      text_->pass(at + 1);
      return value;
    }
  }
}

// Returns whether the list or object has another element, and moves to that element or past `end`. Requires:
// the opening bracket was taken.
Expected<bool, std::string> ItemFile::next_element(char end) {
  TRY(const char c, peek());
  if (c == end) {
    text_->pass(1);
    return false;
  }
  if (!is_first_) CHECK_OK(take(','));
  is_first_ = false;
  return true;
}

// Reads the output of a Scan up to the list of items. Returns false at the end of the file.
Expected<bool, std::string> ItemFile::enter_items() {
  for (;;) {
    if (state_ == State::begin) {
      TRY(const char c, peek());
      if (c == '\0') return false;
      CHECK_OK(take('{'));
      state_ = State::members;
      is_first_ = true;
    }
    TRY(const bool has_more, next_element('}'));
    if (!has_more) {
      state_ = State::begin;
      continue;
    }
    TRY(const std::string name, take_value());
    CHECK_OK(take(':'));
    if (name == R"("Items")") {
      CHECK_OK(take('['));
      state_ = State::list;
      is_first_ = true;
      return true;
    }
    TRY(const std::string value, take_value());
    if ((name == R"("LastEvaluatedKey")" || name == R"("NextToken")") && value != "null")
      is_cut_short_ = true;
  }
}

Expected<std::optional<engine::Item>, std::string> ItemFile::next() {
  const std::optional<engine::Item> nothing;
  if (layout_ == ItemLayout::rows) {
    TRY(const char c, peek());
    if (c == '\0') return nothing;
  } else {
    if (layout_ == ItemLayout::list && state_ == State::begin) {
      CHECK_OK(take('['));
      state_ = State::list;
    }
    for (;;) {
      if (state_ != State::list) {
        TRY(const bool has_more, enter_items());
        if (!has_more) return nothing;
      }
      TRY(const bool has_more, next_element(']'));
      if (has_more) break;
      state_ = State::members;
      is_first_ = false;
      if (layout_ != ItemLayout::list) continue;
      TRY(const char c, peek());
      if (c != '\0') return malformed("unexpected text after the list of items");
      return nothing;
    }
  }
  const std::string before = text_->sentence("");
  TRY(const std::string value, take_value());
  auto read = item(value);
  if (!read) return Unexpected{before + read.error()};
  return std::optional(*std::move(read));
}

Expected<engine::Item, std::string> ItemFile::item(const std::string& value) {
  const auto document = json::parse(value);
  if (document == nullptr) return Unexpected{std::string("not JSON")};
  const json::Value& root = document->root();
  if (style_ == Style::unknown && !root.members().empty())
    style_ = is_dynamodb_json(root) ? Style::dynamodb : Style::plain;
  return read_item(root, style_ == Style::plain);
}

Expected<std::vector<std::pair<std::string, std::vector<engine::Item>>>, std::string> read_batch(
    UnpackedText& text) {
  for (;;) {
    TRY(const bool more, text.extend());
    if (!more) break;
    if (text.rest().size() > batch_bytes_max)
      return Unexpected{text.name() + " is larger than 64 MB, the limit for a batch-write-item file"};
  }
  std::string whole(text.rest());
  if (whole.starts_with(byte_order_mark)) whole.erase(0, byte_order_mark.size());
  const auto document = json::parse(whole);
  if (document == nullptr) return Unexpected{text.name() + " is not JSON"};
  const json::Value* const wrapped = document->root().member("RequestItems");
  std::vector<std::pair<std::string, std::vector<engine::Item>>> tables;
  for (const json::Member& member : (wrapped != nullptr ? *wrapped : document->root()).members()) {
    auto& [table, items] = tables.emplace_back(member.name, std::vector<engine::Item>());
    for (const json::Value& request : member.value.items()) {
      const std::string where =
          text.name() + ": request " + std::to_string(items.size() + 1) + " of " + table;
      const json::Value* const put = request.member("PutRequest");
      const json::Value* const written = put != nullptr ? put->member("Item") : nullptr;
      if (written == nullptr) return Unexpected{where + " is not a PutRequest with an Item"};
      auto item = read_item(*written, false);
      if (!item) return Unexpected{where + ": " + item.error()};
      items.push_back(*std::move(item));
    }
  }
  return tables;
}

}  // namespace mayfly::transfer
