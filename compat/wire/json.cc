#include "compat/wire/json.h"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>
#include <new>
#include <vector>

#include "compat/wire/json_text.h"
#include "engine/thread_local.h"

namespace mayfly::json {
namespace {

// Memory that is given back all at once. Nothing in it has a destructor.
class Blocks {
 public:
  explicit Blocks(std::size_t first_block_bytes) : block_bytes_(first_block_bytes) {}

  char* allocate(std::size_t bytes, std::size_t alignment) {
    const std::size_t aligned = (used_ + alignment - 1) & ~(alignment - 1);
    if (blocks_.empty() || aligned + bytes > capacity_) return allocate_block(bytes);
    used_ = aligned + bytes;
    return blocks_.back().get() + aligned;
  }

 private:
  char* allocate_block(std::size_t bytes) {
    capacity_ = std::max(bytes, block_bytes_);
    block_bytes_ *= 2;
    blocks_.emplace_back(new char[capacity_]);  // aligned for everything we keep
    used_ = bytes;
    return blocks_.back().get();
  }

  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t block_bytes_;
  std::size_t capacity_ = 0;
  std::size_t used_ = 0;
};

}  // namespace

// What the parser tells of. Values gather on a stack; a container has its place there before its elements
// do, and takes them into the arena when it ends.
class Builder {
 public:
  static constexpr std::size_t max_object_size = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t max_array_size = max_object_size;
  static constexpr std::size_t max_key_size = max_object_size;
  static constexpr std::size_t max_string_size = max_object_size;

  using View = boost::json::string_view;
  using Code = boost::json::error_code;

  Builder(Blocks& arena, std::string_view source) : arena_(arena), source_(source) { stack_.reserve(64); }

  [[nodiscard]] const Value& root() const { return stack_.front().value; }

  bool on_document_begin(Code&) { return true; }
  bool on_document_end(Code&) { return true; }

  bool on_object_begin(Code&) {
    place();
    return true;
  }
  bool on_object_end(std::size_t size, Code&) {
    auto* members = reinterpret_cast<Member*>(arena_.allocate(size * sizeof(Member), alignof(Member)));
    std::uninitialized_copy(stack_.end() - static_cast<std::ptrdiff_t>(size), stack_.end(), members);
    Value& object = end_container(Value::Kind::object, size);
    object.members_ = members;
    return true;
  }
  bool on_array_begin(Code&) {
    place();
    return true;
  }
  bool on_array_end(std::size_t size, Code&) {
    auto* items = reinterpret_cast<Value*>(arena_.allocate(size * sizeof(Value), alignof(Value)));
    for (std::size_t i = 0; i < size; ++i) new (items + i) Value(stack_[stack_.size() - size + i].value);
    Value& array = end_container(Value::Kind::array, size);
    array.items_ = items;
    return true;
  }

  bool on_key_part(View part, std::size_t, Code&) { return add_part(part); }
  bool on_key(View last, std::size_t, Code&) {
    stack_.push_back({keep(last), Value()});
    named_ = true;
    return true;
  }
  bool on_string_part(View part, std::size_t, Code&) { return add_part(part); }
  bool on_string(View last, std::size_t, Code&) { return text(Value::Kind::string, last); }
  bool on_number_part(View part, Code&) { return add_part(part); }
  bool on_int64(std::int64_t, View last, Code&) { return text(Value::Kind::number, last); }
  bool on_uint64(std::uint64_t, View last, Code&) { return text(Value::Kind::number, last); }
  bool on_double(double, View last, Code&) { return text(Value::Kind::number, last); }
  bool on_bool(bool boolean, Code&) {
    Value& value = place();
    value.kind_ = Value::Kind::boolean;
    value.boolean_ = boolean;
    return true;
  }
  bool on_null(Code&) {
    place();
    return true;
  }
  bool on_comment_part(View, Code&) { return true; }
  bool on_comment(View, Code&) { return true; }

 private:
  // Where the next value goes: beside its name, or into an entry of its own.
  Value& place() {
    if (!named_) stack_.emplace_back();
    named_ = false;
    return stack_.back().value;
  }

  Value& end_container(Value::Kind kind, std::size_t size) {
    stack_.resize(stack_.size() - size);
    Value& container = stack_.back().value;
    container.kind_ = kind;
    container.size_ = static_cast<std::uint32_t>(size);
    return container;
  }

  bool text(Value::Kind kind, View last) {
    const std::string_view kept = keep(last);
    Value& value = place();
    value.kind_ = kind;
    value.size_ = static_cast<std::uint32_t>(kept.size());
    value.text_ = kept.data();
    return true;
  }

  // Escapes make the parser hand over a text in parts.
  bool add_part(View part) {
    parts_.append(part.data(), part.size());
    return true;
  }
  std::string_view keep(View last) {
    if (parts_.empty() && lies_in_source(last)) return {last.data(), last.size()};
    char* kept = arena_.allocate(parts_.size() + last.size(), 1);
    std::memcpy(kept, parts_.data(), parts_.size());
    if (!last.empty()) std::memcpy(kept + parts_.size(), last.data(), last.size());
    const std::string_view whole(kept, parts_.size() + last.size());
    parts_.clear();
    return whole;
  }

  [[nodiscard]] bool lies_in_source(View text) const {
    const std::less_equal<const char*> before;
    return before(source_.data(), text.data()) &&
           before(text.data() + text.size(), source_.data() + source_.size());
  }

  Blocks& arena_;
  const std::string_view source_;
  std::vector<Member> stack_;
  std::string parts_;
  bool named_ = false;  // the top of the stack is a name that waits for its value
};

struct Document::Arena {
  Blocks blocks;
};

Document::Document() = default;
Document::~Document() = default;

std::unique_ptr<Document> parse(std::string_view text) {
  // A value takes 16 bytes or 32, a text none unless it has escapes: mostly one block.
  constexpr std::size_t block_bytes_min = 512, block_bytes_max = std::size_t{1} << 20;
  auto arena = std::make_unique<Document::Arena>(
      Document::Arena{Blocks(std::clamp(text.size(), block_bytes_min, block_bytes_max))});

  boost::json::parse_options options;
  options.max_depth = depth_max;
  boost::json::basic_parser<Builder> parser(options, arena->blocks, text);
  boost::json::error_code error;
  const std::size_t consumed = parser.write_some(false, text.data(), text.size(), error);
  if (error || !parser.done()) return nullptr;
  const bool rest_is_space = text.find_first_not_of(" \t\r\n", consumed) == std::string_view::npos;
  if (!rest_is_space) return nullptr;

  auto document = std::make_unique<Document>();
  document->arena_ = std::move(arena);
  document->root_ = parser.handler().root();
  return document;
}

constinit THREAD_LOCAL std::uint64_t members_compared = 0;

const Value* Value::member(std::string_view name) const {
  if (kind_ != Kind::object) return nullptr;
  for (std::size_t i = size_; i > 0; --i) {
    const Member& member = members_[i - 1];
    if (member.name != name) continue;
    members_compared += size_ - i + 1;
    return member.value.is(Kind::null) ? nullptr : &member.value;
  }
  members_compared += size_;
  return nullptr;
}

void Writer::separate() {
  if (!first_) out_ += ',';
  first_ = false;
}

void Writer::key(std::string_view name) {
  separate();
  append_escaped(out_, name);
  out_ += ':';
  first_ = true;  // no comma between a name and its value
}

void Writer::string(std::string_view value) {
  separate();
  append_escaped(out_, value);
}

void Writer::integer(std::int64_t value) {
  separate();
  char digits[20];
  out_.append(digits, std::to_chars(std::begin(digits), std::end(digits), value).ptr);
}

void Writer::seconds(std::int64_t milliseconds) {
  separate();
  const std::uint64_t magnitude = milliseconds < 0 ? 0 - static_cast<std::uint64_t>(milliseconds)
                                                   : static_cast<std::uint64_t>(milliseconds);
  if (milliseconds < 0) out_ += '-';
  char digits[20];
  out_.append(digits, std::to_chars(std::begin(digits), std::end(digits), magnitude / 1000).ptr);
  if (const auto fraction = static_cast<int>(magnitude % 1000); fraction != 0) {
    out_ += '.';
    out_ += static_cast<char>('0' + fraction / 100);
    out_ += static_cast<char>('0' + fraction / 10 % 10);
    out_ += static_cast<char>('0' + fraction % 10);
  }
}

void Writer::decimal(double value) {
  separate();
  char digits[400];  // the largest double has 309 digits
  const char* end = std::to_chars(std::begin(digits), std::end(digits), value, std::chars_format::fixed).ptr;
  const std::string_view text(digits, static_cast<std::size_t>(end - digits));
  out_ += text;
  if (text.find('.') == std::string_view::npos) out_ += ".0";
}

void Writer::boolean(bool value) {
  separate();
  out_ += value ? "true" : "false";
}

void Writer::raw(std::string_view json) {
  separate();
  out_ += json;
}

void Writer::value(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::null: return raw("null");
    case Value::Kind::boolean: return boolean(value.boolean());
    case Value::Kind::number: return raw(value.number_text());
    case Value::Kind::string: return string(value.string());
    case Value::Kind::array:
      begin_array();
      for (const Value& item : value.items()) this->value(item);
      return end_array();
    case Value::Kind::object:
      begin_object();
      for (const Member& member : value.members()) {
        key(member.name);
        this->value(member.value);
      }
      return end_object();
  }
}

void append_escaped(std::string& out, std::string_view text) {
  TextAppender(out, text.size() + 2).quoted(text);
}

}  // namespace mayfly::json
