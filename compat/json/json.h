// Reads and writes JSON for operations and records: parse (json_reader.cc) and Writer (json.cc). json_tree.h
// reads JSON that people write by hand.
//
// A Document owns an arena. Its Values are small and immutable and point into the arena and into the parsed
// text. Requires: the text outlives every use of the Values. Strings are valid UTF-8. As on AWS,
// Value::member treats a null member as absent.
//
//   auto document = json::parse(body);            // nullptr: not JSON
//   if (const json::Value* name = document->root().member("TableName")) use(name->string());
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/thread_local.h"

namespace mayfly::json {

inline constexpr int depth_max = 600;  // levels of nested arrays and objects

struct Member;

// The number of members whose names Value::member has compared since this thread started. Tests use it to
// check that the cost of a request grows linearly with its size.
extern constinit THREAD_LOCAL std::uint64_t members_compared;

class Value {
 public:
  enum class Kind : std::uint8_t { null, boolean, number, string, array, object };

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool is(Kind kind) const { return kind_ == kind; }
  // Each of these functions returns an empty value (or false) if the value is of another kind.
  [[nodiscard]] bool boolean() const { return boolean_; }
  [[nodiscard]] std::string_view string() const { return text_of(Kind::string); }       // unescaped
  [[nodiscard]] std::string_view number_text() const { return text_of(Kind::number); }  // as written
  [[nodiscard]] std::span<const Value> items() const {
    return is(Kind::array) ? std::span<const Value>(items_, size_) : std::span<const Value>();
  }
  [[nodiscard]] std::span<const Member> members() const;
  // Returns nullptr if the member is absent or null, or if this is not an object. Among members with the same
  // name, the last one counts.
  [[nodiscard]] const Value* member(std::string_view name) const;

 private:
  friend class Builder;
  [[nodiscard]] std::string_view text_of(Kind kind) const {
    return is(kind) ? std::string_view(text_, size_) : std::string_view();
  }

  Kind kind_ = Kind::null;
  bool boolean_ = false;
  std::uint32_t size_ = 0;
  union {
    const char* text_ = nullptr;
    const Value* items_;
    const Member* members_;
  };
};

struct Member {
  std::string_view name;
  Value value;
};

inline std::span<const Member> Value::members() const {
  return is(Kind::object) ? std::span<const Member>(members_, size_) : std::span<const Member>();
}

class Document {
 public:
  Document();
  ~Document();
  [[nodiscard]] const Value& root() const { return root_; }
  // Maximum nesting depth of arrays and objects: 2 for {"a":[1]}, 0 for 1.
  [[nodiscard]] int depth() const { return depth_; }

 private:
  friend std::unique_ptr<Document> parse(std::string_view text);
  struct Arena;
  std::unique_ptr<Arena> arena_;
  Value root_;
  int depth_ = 0;
};

// Returns nullptr if the text is not JSON, has invalid UTF-8 or an unpaired surrogate, nests deeper than
// depth_max, has an exponent beyond 32 bits, or is 4 GB or longer.
std::unique_ptr<Document> parse(std::string_view text);
template <std::same_as<std::string> Temporary>
std::unique_ptr<Document> parse(Temporary&& text) = delete;  // the text would not outlive the Document

// Appends JSON to a string and inserts the commas. Does not check that begin and end calls match.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}
  void begin_object() {
    separate();
    out_ += '{';
    first_ = true;
  }
  void end_object() {
    out_ += '}';
    first_ = false;
  }
  void begin_array() {
    separate();
    out_ += '[';
    first_ = true;
  }
  void end_array() {
    out_ += ']';
    first_ = false;
  }
  void key(std::string_view name);
  void string(std::string_view value);  // escapes
  void integer(std::int64_t value);
  void seconds(std::int64_t milliseconds);  // 1700000000.123; whole seconds without a fraction
  void decimal(double value);               // capacity units: 0.5, 1.0
  void boolean(bool value);
  void raw(std::string_view json);  // one complete value
  void value(const Value& value);   // as in the text that it was parsed from
  [[nodiscard]] std::string& out() { return out_; }

 private:
  void separate();
  std::string& out_;
  bool first_ = true;
};

void append_escaped(std::string& out, std::string_view text);  // with the quotes

}  // namespace mayfly::json
