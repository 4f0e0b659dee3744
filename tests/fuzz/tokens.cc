// Parses a string as a token, iterator, ARN, name or escaped text that clients send. A string that Mayfly
// printed is parsed back unchanged. Any other string that a parser accepts either prints unchanged or is
// rejected by every operation that takes it.
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "compat/json/json.h"
#include "compat/lambda/function_name.h"
#include "compat/streams/arn_and_iterator.h"
#include "compat/tables/arn.h"
#include "compat/wire/base64.h"
#include "compat/wire/percent_encoding.h"
#include "tests/fuzz/emulator_for_fuzzing.h"
#include "tests/fuzz/must.h"
#include "tests/fuzz/pieces.h"
#include "tests/fuzz/targets.h"

namespace mayfly::testing {

using namespace compat;

namespace {

void try_iterator(std::string_view text) {
  if (const auto iterator = ShardIterator::parse(text))
    must(iterator->print() == text, "a valid iterator is in printed form");
  // A printed iterator is valid, and the same iterator with one changed character is not.
  std::string_view rest = text;
  ShardIterator made{.shard = take_byte(rest), .next = take_byte(rest), .created = take_byte(rest)};
  const std::size_t place = take_byte(rest);
  const char other = static_cast<char>(take_byte(rest));
  made.stream_arn = rest.substr(0, rest.find('|'));  // no ARN contains '|'
  std::string printed = made.print();
  must(ShardIterator::parse(printed) == made, "a printed iterator can be read", printed);
  char& changed = printed[place % printed.size()];
  if (changed == other) return;
  changed = other;
  must(!ShardIterator::parse(printed), "a changed iterator is invalid", printed);
}

void try_names(std::string_view text) {
  if (const auto arn = parse_stream_arn(text)) {
    must("arn:aws:dynamodb:" + arn->region + ":" + arn->account + ":table/" + arn->table_name + "/stream/" +
                 arn->label ==
             text,
         "a stream's ARN equals the ARN made from its parts", text);
  }
  if (const auto arn = parse_table_arn(text)) {
    const engine::Scope scope{std::string(arn->account), std::string(arn->region)};
    must(table_arn(scope, arn->name) == text, "a table's ARN equals the ARN made from its parts", text);
  }
  const engine::Scope scope{"000000000000", "us-east-1"};
  if (const auto name = triggers::FunctionName::parse(text, scope))
    must(triggers::FunctionName::parse(name->arn(), scope) == name, "a function's ARN is its name",
         name->arn());
  if (const auto position = parse_sequence_number(text)) {
    must(position->after == position->at || position->after == position->at + 1,
         "the position after a sequence number is the same or the next");
    const auto again = parse_sequence_number(sequence_number(position->at));
    must(again && again->at == position->at, "a printed sequence number can be read");
  }
}

void try_escapes(std::string_view text) {
  if (const auto bytes = decode_base64(text)) {
    std::string again;
    append_base64(again, *bytes);
    must(again == text, "base64 has one encoding", text);
  }
  std::string encoded;
  append_base64(encoded, text);
  must(decode_base64(encoded) == text, "encoded base64 decodes to the text", encoded);
  must(decode_path(text).size() <= text.size() && decode_query(text).size() <= text.size(),
       "decoding escapes makes no text longer");
  const auto values = query_values(text, "tagKeys");
  const auto first = query_value(text, "tagKeys");
  must(first.has_value() == !values.empty() && (!first || *first == values.front()),
       "query_value returns the first of query_values");
}

// Operations that take a token, ARN or name, and the request JSON that precedes it. Each input is tried with
// only one operation, because operations are the most expensive part of the target.
constexpr std::pair<std::string_view, std::string_view> operations[] = {
    {"ExecuteStatement", R"({"Statement":"SELECT * FROM long","NextToken":)"},
    {"ListTagsOfResource",
     R"({"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/short","NextToken":)"},
    {"ListContributorInsights", R"({"NextToken":)"},
    {"GetRecords", R"({"ShardIterator":)"},
    {"DescribeStream", R"({"StreamArn":)"},
    {"ListStreams", R"({"ExclusiveStartStreamArn":)"},
    {"ListTables", R"({"ExclusiveStartTableName":)"},
    {"DescribeTable", R"({"TableName":)"},
};

void try_operation(std::string_view text) {
  std::string quoted;
  json::append_escaped(quoted, text);
  if (json::parse(quoted) == nullptr) return;  // not UTF-8
  const auto& [operation, before] = operations[choice(text, std::size(operations))];
  FuzzedEmulator& emulator = FuzzedEmulator::get();
  emulator.begin(text);
  emulator.execute(operation, std::string(before) + quoted + "}");
  emulator.finish();
}

}  // namespace

void fuzz_tokens(std::string_view input) {
  try_iterator(input);
  try_names(input);
  try_escapes(input);
  try_operation(input);
}

}  // namespace mayfly::testing
