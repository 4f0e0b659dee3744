#include "compat/data_files/csv.h"

#include <algorithm>
#include <utility>

#include "compat/json/utf8.h"
#include "compat/wire/attribute_value_json.h"
#include "compat/wire/base64.h"

namespace mayfly::compat::data_files {
namespace {

Record bad(std::string what) { return Unexpected{BadRecord{.what = std::move(what)}}; }

bool has_duplicates(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) != names.end();
}

}  // namespace

CsvReader::Step CsvReader::take(char c) {
  if (at_ == At::quoted) {
    if (c == '"') {
      at_ = At::after_quote;
    } else {
      field_ += c;
    }
    return Step::goes_on;
  }
  if (c == '"') {
    if (at_ == At::plain || at_ == At::after_quote_and_return) return Step::misplaced_quote;
    if (at_ == At::after_quote) field_ += c;  // the second of two quotes
    at_ = At::quoted;
    has_quotes_ = true;
    return Step::goes_on;
  }
  if (c == '\n') {
    if (at_ == At::plain && field_.ends_with('\r')) field_.pop_back();
    end_field();
    return Step::row_ends;
  }
  if (at_ == At::after_quote_and_return) return Step::misplaced_quote;
  if (c == options_.delimiter) {
    end_field();
    return Step::goes_on;
  }
  if (at_ == At::after_quote) {
    if (c != '\r') return Step::misplaced_quote;
    at_ = At::after_quote_and_return;
    return Step::goes_on;
  }
  field_ += c;
  at_ = At::plain;
  return Step::goes_on;
}

void CsvReader::end_field() {
  fields_.push_back(std::exchange(field_, {}));
  at_ = At::field_start;
}

std::optional<Record> CsvReader::next(Text& text, bool last) {
  for (;;) {
    if (row_bytes_ == 0) {
      line_ = text.line();
      offset_ = text.offset();
    }
    const std::string_view rest = text.rest();
    Step step = Step::goes_on;
    std::size_t taken = 0;
    while (taken < rest.size() && step == Step::goes_on && row_bytes_ <= record_bytes_max) {
      step = take(rest[taken++]);
      ++row_bytes_;
    }
    text.pass(taken);
    std::optional<Record> record;
    if (row_bytes_ > record_bytes_max) {
      record = unreadable("The row is too long for an item");
    } else if (step == Step::misplaced_quote || (last && step == Step::goes_on && at_ == At::quoted)) {
      record = unreadable("A double quote is neither escaped nor closed");
    } else if (step == Step::row_ends || (last && row_bytes_ > 0)) {
      if (step != Step::row_ends) end_field();
      record = row();
    } else {
      return std::nullopt;
    }
    row_bytes_ = 0;
    fields_.clear();
    has_quotes_ = false;
    if (!record) continue;
    if (!*record) {
      record->error().line = line_;
      record->error().offset = offset_;
    }
    return record;
  }
}

std::optional<Record> CsvReader::row() {
  if (fields_.size() == 1 && fields_.front().empty() && !has_quotes_) return std::nullopt;
  if (!header_.empty()) return item();
  if (has_duplicates(fields_)) return unreadable("The header names a column twice");
  for (const std::string& name : fields_)
    if (name.empty() || !is_utf8(name)) return unreadable("The header has a column without a name");
  header_ = std::move(fields_);
  return std::nullopt;
}

Record CsvReader::item() const {
  if (fields_.size() != header_.size()) {
    return bad("The row has " + std::to_string(fields_.size()) + " columns, but the header has " +
               std::to_string(header_.size()));
  }
  std::vector<engine::Attribute> attributes;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const std::string& field = fields_[i];
    if (field.empty()) continue;
    if (!is_utf8(field)) return bad("The column " + header_[i] + " is not UTF-8");
    const auto type = options_.types.find(header_[i]);
    if (type == options_.types.end() || type->second == engine::Type::string) {
      attributes.push_back({header_[i], field});
    } else if (type->second == engine::Type::number) {
      const auto number = read_number(field);
      if (!number) return bad(number.error().message);
      attributes.push_back({header_[i], *number});
    } else {
      auto bytes = decode_base64(field);
      if (!bytes) return bad("The column " + header_[i] + " is not base64");
      attributes.push_back({header_[i], engine::Binary{*std::move(bytes)}});
    }
  }
  return engine::Item::from_unsorted(std::move(attributes));
}

}  // namespace mayfly::compat::data_files
