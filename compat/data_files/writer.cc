#include "compat/data_files/writer.h"

#include <array>
#include <variant>

#include "compat/json/json.h"
#include "compat/wire/attribute_value_json.h"
#include "compat/wire/base64.h"
#include "engine/base/check.h"
#include "engine/base/hex.h"
#include "engine/base/text.h"

namespace mayfly::compat::data_files {
namespace {

constexpr std::string_view ion_marker = "$ion_1_0 ";

// Writes `text` enclosed in `quote`. Escapes control characters (including U+0080 to U+009F), `quote` and
// backslashes.
void append_ion_quoted(std::string& out, std::string_view text, char quote) {
  constexpr std::string_view with_letters("\0\a\b\t\n\v\f\r\\", 9);
  constexpr std::string_view letters = "0abtnvfr\\";
  out += quote;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    const auto escape = [&](unsigned char code) {
      out += "\\x";
      out += engine::hex_digits[code >> 4];
      out += engine::hex_digits[code & 15];
    };
    if (const auto at = with_letters.find(c); at != with_letters.npos) {
      out += '\\';
      out += letters[at];
    } else if (c == quote) {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      escape(byte);
    } else if (byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0) {
      escape(static_cast<unsigned char>(text[++i]));  // U+0080 to U+009F
    } else {
      out += c;
    }
  }
  out += quote;
}

void append_ion_name(std::string& out, std::string_view name) {
  const auto is_letter = [](char c) { return engine::is_letter(c) || c == '_' || c == '$'; };
  bool plain = !name.empty() && is_letter(name.front());
  bool is_symbol_number = name.size() > 1 && name.front() == '$';  // $10
  for (const char c : name.substr(std::min<std::size_t>(name.size(), 1))) {
    plain = plain && (is_letter(c) || engine::is_digit(c));
    is_symbol_number = is_symbol_number && engine::is_digit(c);
  }
  for (const std::string_view keyword : {"null", "true", "false", "nan"}) plain = plain && name != keyword;
  if (plain && !is_symbol_number) {
    out += name;
  } else {
    append_ion_quoted(out, name, '\'');
  }
}

// Writes the minimum number of digits. A number that is not whole has a decimal point if at most five zeros
// must follow the point; otherwise, it has an exponent.
void append_ion_decimal(std::string& out, const engine::Number& number) {
  constexpr int magnitude_without_exponent = -6;
  std::array<char, engine::Number::digits_max> buffer;
  const auto count = static_cast<std::size_t>(number.write_digits(buffer.data()));
  const std::string digits = number.is_zero() ? "0" : std::string(buffer.data(), count);
  const int exponent = number.exponent();
  if (number.negative()) out += '-';
  if (exponent == 0) {
    out += digits + '.';
  } else if (exponent > 0) {
    out += digits + 'd' + std::to_string(exponent);
  } else if (number.magnitude() >= 0) {
    const auto whole = static_cast<std::size_t>(number.magnitude()) + 1;
    out.append(digits, 0, whole) += '.';
    out.append(digits, whole);
  } else if (number.magnitude() >= magnitude_without_exponent) {
    out += "0.";
    out.append(static_cast<std::size_t>(-number.magnitude()) - 1, '0') += digits;
  } else {
    out += digits + "d-" + std::to_string(-exponent);
  }
}

// A visitor for std::visit, with one function for each type.
struct IonWriter {
  std::string& out;

  void operator()(const std::string& text) const { append_ion_quoted(out, text, '"'); }
  void operator()(const engine::Number& number) const { append_ion_decimal(out, number); }
  void operator()(const engine::Binary& binary) const {
    out += "{{";
    append_base64(out, binary.bytes);
    out += "}}";
  }
  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(engine::Null) const { out += "null"; }
  void operator()(const engine::StringSet& set) const { annotated("$dynamodb_SS", set.members()); }
  void operator()(const engine::NumberSet& set) const { annotated("$dynamodb_NS", set.members()); }
  void operator()(const engine::BinarySet& set) const { annotated("$dynamodb_BS", set.members()); }
  void operator()(const engine::AttributeValue& value) const { std::visit(*this, value.variant()); }
  void operator()(const engine::List& list) const { elements(list); }
  void operator()(const engine::Map& map) const {
    out += '{';
    bool first = true;
    for (const engine::Attribute& attribute : map) {
      if (!first) out += ',';
      first = false;
      append_ion_name(out, attribute.name);
      out += ':';
      (*this)(attribute.value);
    }
    out += '}';
  }

 private:
  template <class Members>
  void annotated(std::string_view annotation, const Members& members) const {
    out += annotation;
    out += "::";
    elements(members);
  }
  template <class Elements>
  void elements(const Elements& elements) const {
    out += '[';
    bool first = true;
    for (const auto& element : elements) {
      if (!first) out += ',';
      first = false;
      (*this)(element);
    }
    out += ']';
  }
};

constexpr std::string_view micros_name = "WriteTimestampMicros";

void append_change_as_json(std::string& out, const Change& change) {
  json::Writer writer(out);
  const auto image = [&](std::string_view name, const engine::Item* item) {
    if (item == nullptr) return;
    writer.key(name);
    write_item_object(writer, *item);
  };
  writer.begin_object();
  writer.key("Metadata");
  writer.begin_object();
  writer.key(micros_name);
  writer.begin_object();
  writer.key("N");
  writer.string(std::to_string(change.write_micros));
  writer.end_object();
  writer.end_object();
  image("Keys", &change.keys);
  image("NewImage", change.new_image);
  image("OldImage", change.old_image);
  writer.end_object();
}

void append_change_as_ion(std::string& out, const Change& change) {
  const IonWriter writer{out};
  const auto image = [&](std::string_view name, const engine::Item* item) {
    if (item == nullptr) return;
    out += ',';
    out += name;
    out += ':';
    writer(*item);
  };
  out += ion_marker;
  out += "{Metadata:{";
  out += micros_name;
  out += ':';
  append_ion_decimal(out, engine::Number(change.write_micros));
  out += '}';
  image("Keys", &change.keys);
  image("NewImage", change.new_image);
  image("OldImage", change.old_image);
  out += '}';
}

}  // namespace

void append_item(std::string& out, Format format, const engine::Item& item) {
  MAYFLY_CHECK(format != Format::csv);
  if (format == Format::ion) {
    out += ion_marker;
    out += "{Item:";
    IonWriter{out}(item);
  } else {
    out += "{\"Item\":";
    json::Writer writer(out);
    write_item_object(writer, item);
  }
  out += "}\n";
}

void append_change(std::string& out, Format format, const Change& change) {
  MAYFLY_CHECK(format != Format::csv);
  if (format == Format::ion) {
    append_change_as_ion(out, change);
  } else {
    append_change_as_json(out, change);
  }
  out += '\n';
}

}  // namespace mayfly::compat::data_files
