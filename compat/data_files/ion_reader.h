// Amazon Ion's text, as DynamoDB writes it: $ion_1_0 {Item:{Id:103.,Authors:$dynamodb_SS::["a","b"]}}.
//
// A record is a struct with a member Item, outside of all else or in a list that is. Values are read as the
// developer guide maps them: strings, decimals (and whole numbers) as N, blobs, lists, structs, true, false,
// null, and lists with one of DynamoDB's annotations as sets. Ion's other types and annotations, and symbols
// by their numbers, are no item's, and end the file. What is read becomes DYNAMODB_JSON, and is checked as
// that is: there is one place that knows what an item is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compat/data_files/reader.h"

namespace mayfly::compat::data_files {

// {Item:{…}} as {"Item":{…}}; nothing: it is no such struct. `with_condition`: its condition, too, whose
// expression is a string, and its names a struct of strings. Requires: `ion` is UTF-8.
std::optional<std::string> dynamodb_json_of_ion(std::string_view ion, bool with_condition = false);

// Finds where structs begin and end; what is in them is dynamodb_json_of_ion's.
class IonReader final : public RecordParser {
 public:
  explicit IonReader(bool with_conditions = false) : with_conditions_(with_conditions) {}
  std::optional<Record> next(Text& text, bool last) override;

 private:
  enum class In : unsigned char { plain, string, symbol, long_string, line_comment, block_comment, blob };
  // What a place in the text brings about.
  enum class Step : unsigned char { goes_on, needs_more, struct_begins, struct_ends, wrong };

  // Looks at what begins at `place`, and moves it on.
  Step look(std::string_view rest, std::size_t& place, bool last);
  Step look_outside(std::string_view rest, std::size_t& place, bool last);
  Record read(std::string_view ion);

  const bool with_conditions_;

  In in_ = In::plain;
  std::uint64_t depth_ = 0;    // of brackets within the struct, it included; 0: outside
  bool in_list_ = false;       // a list around the structs
  std::size_t looked_at_ = 0;  // of the text's rest
};

}  // namespace mayfly::compat::data_files
