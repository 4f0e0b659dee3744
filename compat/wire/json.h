// JSON in and out, for operations and records: a reader of our own (json_reader.cc) and a Writer (json.cc).
// What people write by hand is read by json_tree.h.
//
// A Document owns an arena; its Values are small, immutable, and point into it and into the text that it was
// read of, which stays as long as they are looked at. Strings are valid UTF-8.
// Null members are the same as absent ones for Value::member, as for AWS.
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

namespace mayfly::json {

inline constexpr int depth_max = 600;  // of nested arrays and objects

struct Member;

// How many members this thread has compared names with in Value::member, ever: tests see by it that what a
// request costs grows as it does.
extern constinit thread_local std::uint64_t members_compared;

class Value {
 public:
  enum class Kind : std::uint8_t { null, boolean, number, string, array, object };

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool is(Kind kind) const { return kind_ == kind; }
  // Each is empty (or false) if the value is of another kind.
  [[nodiscard]] bool boolean() const { return boolean_; }
  [[nodiscard]] std::string_view string() const { return text_of(Kind::string); }       // unescaped
  [[nodiscard]] std::string_view number_text() const { return text_of(Kind::number); }  // as it was written
  [[nodiscard]] std::span<const Value> items() const {
    return is(Kind::array) ? std::span<const Value>(items_, size_) : std::span<const Value>();
  }
  [[nodiscard]] std::span<const Member> members() const;
  // nullptr if absent, null, or this is no object. Of members with one name the last counts.
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
  // How many arrays and objects lie within each other at the deepest place: 2 for {"a":[1]}, 0 for 1.
  [[nodiscard]] int depth() const { return depth_; }

 private:
  friend std::unique_ptr<Document> parse(std::string_view text);
  struct Arena;
  std::unique_ptr<Arena> arena_;
  Value root_;
  int depth_ = 0;
};

// nullptr: not JSON, bad UTF-8, half a surrogate, deeper than depth_max, an exponent beyond 32 bits, 4 GB.
std::unique_ptr<Document> parse(std::string_view text);
template <std::same_as<std::string> Temporary>
std::unique_ptr<Document> parse(Temporary&& text) = delete;  // it would be gone before the Document

// Appends JSON to a string; puts the commas. Nothing checks that begins and ends match.
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
  void seconds(std::int64_t milliseconds);  // 1700000000.123; whole ones without a fraction
  void decimal(double value);               // capacity units: 0.5, 1.0
  void boolean(bool value);
  void raw(std::string_view json);  // a whole value
  void value(const Value& value);   // as it was read
  [[nodiscard]] std::string& out() { return out_; }

 private:
  void separate();
  std::string& out_;
  bool first_ = true;
};

void append_escaped(std::string& out, std::string_view text);  // with the quotes

}  // namespace mayfly::json
