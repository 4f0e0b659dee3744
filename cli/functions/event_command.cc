#include "cli/functions/event_command.h"

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "cli/base/fail.h"
#include "cli/base/output.h"
#include "cli/views/answer_view.h"
#include "cli/views/item_text.h"
#include "compat/data_files/dynamodb_json.h"
#include "compat/lambda/lambda_event.h"
#include "compat/operation.h"
#include "compat/outbound/page_keys.h"
#include "compat/streams/arn_and_iterator.h"
#include "compat/streams/record.h"
#include "compat/tables/description.h"
#include "engine/values/item_size.h"

namespace mayfly::cli {
namespace {

using compat::outbound::PageKeys;
using engine::ChangeRecord;
using engine::StreamView;
using json::Tree;

template <typename Value>
using OrSentence = Expected<Value, std::string>;

// The table and its stream. `stream` has only what an event shows of it.
struct Source {
  Tree table;
  std::string arn;  // of the stream; empty: the table has none
  engine::Stream stream;
};

Unexpected<std::string> malformed(std::string_view operation) {
  return {std::string(operation) + "'s response is malformed. Is the server a DynamoDB endpoint?"};
}

OrSentence<Tree> call(ServerCalls& server, std::string_view operation, const Tree& body,
                      std::string_view service) {
  auto answer = server.operate(operation, body, service);
  if (!answer) return Unexpected{std::move(answer.error().sentence)};
  return *std::move(answer);
}

// Returns a member that is an array, or nullptr.
const Tree* array_member(const Tree& object, std::string_view name) {
  const Tree* const found = json::member(object, name);
  return found != nullptr && found->is_array() ? found : nullptr;
}

// Returns nullopt if the item is missing or malformed.
std::optional<engine::Item> item_of(const Tree* item) {
  if (item == nullptr) return std::nullopt;
  auto read = compat::data_files::read_dynamodb_json(json::print({{"Item", *item}}));
  return read ? std::optional(*std::move(read)) : std::nullopt;
}

StreamView view_named(std::string_view name) {
  for (const StreamView view :
       {StreamView::keys_only, StreamView::new_image, StreamView::old_image, StreamView::new_and_old_images})
    if (compat::stream_view_name(view) == name) return view;
  return StreamView::new_and_old_images;
}

OrSentence<Source> source_of(ServerCalls& server, const std::string& name) {
  TRY(Tree table, describe_table(server, name));
  Source source;
  source.arn = json::string_member(table, "LatestStreamArn").value_or("");
  if (const Tree* const specification = json::member(table, "StreamSpecification"))
    source.stream.view = view_named(json::string_member(*specification, "StreamViewType").value_or(""));
  source.stream.account = server.account();
  source.stream.region = server.region();
  source.stream.table_name = name;
  if (const auto parsed = compat::parse_stream_arn(source.arn)) {
    source.stream.account = parsed->account;
    source.stream.region = parsed->region;
    source.stream.table_name = parsed->table_name;
    source.stream.label = parsed->label;
  }
  source.table = std::move(table);
  return source;
}

// --- records of the stream

std::optional<ChangeRecord> change_in(const Tree& record) {
  const Tree* const change = json::member(record, "dynamodb");
  if (change == nullptr) return std::nullopt;
  const auto number =
      compat::parse_sequence_number(json::string_member(*change, "SequenceNumber").value_or(""));
  auto keys = item_of(json::member(*change, "Keys"));
  if (!number || !keys) return std::nullopt;
  ChangeRecord read{.sequence = number->at, .keys = *std::move(keys)};
  read.created = json::integer_member(*change, "ApproximateCreationDateTime").value_or(0) * 1000;
  for (const auto kind : {ChangeRecord::Kind::insert, ChangeRecord::Kind::modify, ChangeRecord::Kind::remove})
    if (json::string_member(record, "eventName") == compat::event_name(kind)) read.kind = kind;
  if (json::member(record, "userIdentity") != nullptr) read.cause = engine::Cause::time_to_live;
  read.old_image = item_of(json::member(*change, "OldImage"));
  read.new_image = item_of(json::member(*change, "NewImage"));
  read.size_bytes = static_cast<std::uint64_t>(json::integer_member(*change, "SizeBytes").value_or(0));
  return read;
}

// The newest records of a stream, by sequence number. Sequence numbers of one stream have the same length, so
// the order of their texts is the order of the numbers.
class Newest {
 public:
  explicit Newest(std::size_t count) : count_(count) {}

  // Returns false if the record is malformed.
  bool take(const Tree& record) {
    const Tree* const change = json::member(record, "dynamodb");
    const auto number = change == nullptr ? std::nullopt : json::string_member(*change, "SequenceNumber");
    if (!number) return false;
    if (records_.size() == count_ && *number < records_.begin()->first) return true;
    records_.insert_or_assign(std::string(*number), record);
    if (records_.size() > count_) records_.erase(records_.begin());
    return true;
  }
  [[nodiscard]] const std::map<std::string, Tree>& records() const { return records_; }

 private:
  const std::size_t count_;
  std::map<std::string, Tree> records_;
};

OrSentence<std::vector<std::string>> shards_of(ServerCalls& server, const std::string& arn) {
  std::vector<std::string> shards;
  Tree request = {{"StreamArn", arn}};
  PageKeys keys;
  for (;;) {
    TRY(const Tree answer, call(server, "DescribeStream", request, compat::dynamodb_streams));
    const Tree* const description = json::member(answer, "StreamDescription");
    const Tree* const listed = description == nullptr ? nullptr : array_member(*description, "Shards");
    if (listed == nullptr) return malformed("DescribeStream");
    for (const Tree& shard : *listed) shards.emplace_back(json::string_member(shard, "ShardId").value_or(""));
    const auto last = json::string_member(*description, "LastEvaluatedShardId");
    if (!last) return shards;
    if (!keys.advance(*last)) return Unexpected{std::string(PageKeys::repeated)};
    request["ExclusiveStartShardId"] = *last;
  }
}

// Reads a shard from its first record to its last. (Streams cannot be read backward.)
OrSentence<void> read_shard(ServerCalls& server, const std::string& arn, const std::string& shard,
                            Newest& newest) {
  TRY(const Tree start, call(server, "GetShardIterator",
                             {{"StreamArn", arn}, {"ShardId", shard}, {"ShardIteratorType", "TRIM_HORIZON"}},
                             compat::dynamodb_streams));
  std::string iterator(json::string_member(start, "ShardIterator").value_or(""));
  PageKeys keys;
  while (!iterator.empty()) {
    TRY(const Tree page, call(server, "GetRecords", {{"ShardIterator", iterator}}, compat::dynamodb_streams));
    const Tree* const records = array_member(page, "Records");
    if (records == nullptr) return malformed("GetRecords");
    for (const Tree& record : *records)
      if (!newest.take(record)) return malformed("GetRecords");
    if (records->empty()) return {};
    iterator = json::string_member(page, "NextShardIterator").value_or("");
    if (!keys.advance(iterator)) return Unexpected{std::string(PageKeys::repeated)};
  }
  return {};
}

// Returns the stream's newest records, and sets the stream's view, which the table no longer has if the
// stream was disabled.
OrSentence<std::vector<ChangeRecord>> stream_changes(ServerCalls& server, Source& source,
                                                     std::int64_t limit) {
  std::vector<ChangeRecord> changes;
  if (source.arn.empty()) return changes;
  Newest newest(static_cast<std::size_t>(limit));
  TRY(const auto shards, shards_of(server, source.arn));
  for (const std::string& shard : shards) CHECK_OK(read_shard(server, source.arn, shard, newest));
  for (const auto& [number, record] : newest.records()) {
    auto change = change_in(record);
    if (!change) return malformed("GetRecords");
    source.stream.view = view_named(json::string_member(record["dynamodb"], "StreamViewType").value_or(""));
    changes.push_back(*std::move(change));
  }
  return changes;
}

// --- records of items

// Returns the record that the stream would have if `item` had just been written.
OrSentence<ChangeRecord> insertion(engine::Item item, const KeySchema& keys, StreamView view,
                                   engine::Sequence sequence, engine::Instant now) {
  ChangeRecord record{.sequence = sequence, .created = now};
  for (const KeyAttribute& attribute : keys.attributes) {
    const engine::AttributeValue* const value = item.find(attribute.name);
    if (value == nullptr) return malformed("Scan");
    record.keys.set(attribute.name, *value);
  }
  record.size_bytes = engine::item_size(record.keys);
  if (view == StreamView::new_image || view == StreamView::new_and_old_images) {
    record.size_bytes += engine::item_size(item);
    record.new_image = std::move(item);
  }
  return record;
}

OrSentence<std::vector<ChangeRecord>> item_changes(ServerCalls& server, const Source& source,
                                                   engine::Instant now, std::int64_t limit) {
  const std::string& table = source.stream.table_name;
  const auto schema = key_schema_of(source.table, source.table, table);
  if (!schema) return malformed("DescribeTable");
  std::vector<ChangeRecord> changes;
  Tree request = {{"TableName", table}, {"ConsistentRead", true}};
  PageKeys keys;
  for (;;) {
    request["Limit"] = limit - static_cast<std::int64_t>(changes.size());
    TRY(const Tree page, call(server, "Scan", request, compat::dynamodb));
    const Tree* const items = array_member(page, "Items");
    if (items == nullptr) return malformed("Scan");
    for (const Tree& read : *items) {
      auto item = item_of(&read);
      if (!item) return malformed("Scan");
      TRY(ChangeRecord record,
          insertion(*std::move(item), *schema, source.stream.view, changes.size() + 1, now));
      changes.push_back(std::move(record));
    }
    const Tree* const last = json::member(page, "LastEvaluatedKey");
    if (last == nullptr || static_cast<std::int64_t>(changes.size()) >= limit) return changes;
    if (!keys.advance(json::print(*last))) return Unexpected{std::string(PageKeys::repeated)};
    request["ExclusiveStartKey"] = *last;
  }
}

// Makes records of the table's items, and says so.
OrSentence<std::vector<ChangeRecord>> instead_of_stream(ServerCalls& server, Source& source,
                                                        std::int64_t limit) {
  const std::string table = in_quotes(source.stream.table_name);
  // A server without a control API does not tell the account's time.
  const auto time = account_time(server);
  const engine::Instant now = time ? *time : engine::SystemClock().now();
  if (source.stream.label.empty()) source.stream.label = engine::iso8601(now).substr(0, 23);
  TRY(auto changes, item_changes(server, source, now, limit));
  if (changes.empty())
    return Unexpected{"table " + table + " has neither items nor stream records to make an event of."};
  const std::string why = source.arn.empty() ? "has no stream" : "has an empty stream";
  fail("Table " + table + " " + why + ", so the event has INSERT records of its items.");
  return changes;
}

// Prints the event indented, so that people can edit it.
void print_event(const std::string& event) {
  const auto tree = json::parse_tree(event, json::Decimals::as_written);
  print(tree ? print_json(*tree) : event + "\n");
}

}  // namespace

int run_event_command(const EventCommand& command) {
  auto server = ServerCalls::to(command.server);
  if (!server) return fail(server.error());
  auto source = source_of(*server, command.table);
  if (!source) return fail(source.error());
  auto changes = stream_changes(*server, *source, command.limit);
  if (changes && changes->empty()) changes = instead_of_stream(*server, *source, command.limit);
  if (!changes) return fail(changes.error());
  std::vector<compat::triggers::Record> records;
  for (const ChangeRecord& change : *changes)
    records.push_back(compat::triggers::make_record(source->stream, change, change.created));
  print_event(compat::triggers::event_body(records, source->stream, ""));
  return printed(0);
}

}  // namespace mayfly::cli
