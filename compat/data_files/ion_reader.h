// Reads Amazon Ion text as DynamoDB writes it: $ion_1_0 {Item:{Id:103.,Authors:$dynamodb_SS::["a","b"]}}.
//
// A record is a struct with a member Item. The struct is at the top level, or in a list at the top level.
// Values are read as the developer guide maps them: strings, decimals (and integers) as N, blobs, lists,
// structs, true, false, null, and lists with one of DynamoDB's annotations as sets. Ion's other types and
// annotations, and symbols written as numbers, do not occur in items; after one of them, the rest of the file
// is skipped. The text is converted to DYNAMODB_JSON and checked as such, so that the rules for items are in
// one place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compat/data_files/record_parser.h"

namespace mayfly::compat::data_files {

// Converts {Item:{…}} to {"Item":{…}}; returns nullopt if `ion` is not such a struct. If `with_condition` is
// true, also converts the condition's members: ConditionExpression (a string) and ExpressionAttributeNames (a
// struct of strings). Requires: `ion` is UTF-8.
std::optional<std::string> dynamodb_json_of_ion(std::string_view ion, bool with_condition = false);

// Finds where structs begin and end; dynamodb_json_of_ion reads their contents.
class IonReader final : public RecordParser {
 public:
  explicit IonReader(bool with_conditions = false) : with_conditions_(with_conditions) {}
  std::optional<Record> next(Text& text, bool last) override;

 private:
  enum class In : unsigned char { plain, string, symbol, long_string, line_comment, block_comment, blob };
  // The effect of the token at one position in the text.
  enum class Step : unsigned char { goes_on, needs_more, struct_begins, struct_ends, wrong };

  // Examines the token at `place` and advances `place`.
  Step look(std::string_view rest, std::size_t& place, bool last);
  Step look_outside(std::string_view rest, std::size_t& place, bool last);
  Record read(std::string_view ion);

  const bool with_conditions_;

  In in_ = In::plain;
  std::uint64_t depth_ = 0;    // nesting of brackets, counting the struct's own; 0: outside a struct
  bool in_list_ = false;       // within a list at the top level
  std::size_t looked_at_ = 0;  // bytes of the rest that have been examined
};

}  // namespace mayfly::compat::data_files
