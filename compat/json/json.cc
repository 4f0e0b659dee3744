#include "compat/json/json.h"

#include <charconv>
#include <cstddef>
#include <iterator>

#include "compat/json/json_text.h"
#include "engine/base/thread_local.h"

namespace mayfly::json {

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
