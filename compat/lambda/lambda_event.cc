#include "compat/lambda/lambda_event.h"

#include <algorithm>

#include "compat/json/json.h"
#include "compat/json/json_members.h"
#include "compat/streams/arn_and_iterator.h"
#include "compat/streams/record.h"

namespace mayfly::compat::triggers {
namespace {

// Formats a time without a fraction of a second: "2024-05-01T00:00:00Z".
std::string seconds_of(engine::Instant instant) { return engine::iso8601(instant).substr(0, 19) + "Z"; }

// Writes the member "Records".
void write_records(json::Writer& out, std::span<const Record> records) {
  out.key("Records");
  out.begin_array();
  for (const Record& record : records) out.raw(record.json);
  out.end_array();
}

}  // namespace

Record make_record(const engine::Stream& stream, const engine::ChangeRecord& change,
                   engine::Instant stream_now) {
  Record record{change.sequence,
                sequence_number(change.sequence),
                change.created,
                std::min(change.created, stream_now),
                {}};
  json::Writer out(record.json);
  write_stream_record(out, stream, change, RecordReader::lambda);
  record.json.pop_back();
  record.json += ",\"eventSourceARN\":";
  json::append_escaped(record.json, stream_arn(stream));
  record.json += '}';
  return record;
}

std::string event_body(std::span<const Record> records, const engine::Stream& stream,
                       std::string_view shard_id, const std::optional<WindowEvent>& window) {
  std::size_t bytes = 16;
  for (const Record& record : records) bytes += record.json.size() + 1;
  std::string body;
  body.reserve(bytes);
  json::Writer out(body);
  out.begin_object();
  write_records(out, records);
  if (window) {
    out.key("window");
    out.begin_object();
    member(out, "start", seconds_of(window->window.start));
    member(out, "end", seconds_of(window->end));
    out.end_object();
    out.key("state");
    out.raw(window->window.state);
    member(out, "shardId", shard_id);
    member(out, "eventSourceARN", stream_arn(stream));
    out.key("isFinalInvokeForWindow");
    out.boolean(window->final);
    out.key("isWindowTerminatedEarly");
    out.boolean(window->terminated_early);
  }
  out.end_object();
  return body;
}

std::string failure_body(const FailedBatch& batch) {
  std::string body;
  json::Writer out(body);
  out.begin_object();
  out.key("requestContext");
  out.begin_object();
  member(out, "requestId", batch.request_id);
  member(out, "functionArn", batch.function_arn);
  member(out, "condition", batch.condition);
  out.key("approximateInvokeCount");
  out.integer(batch.invocations);
  out.end_object();
  if (batch.status != 0) {
    out.key("responseContext");
    out.begin_object();
    out.key("statusCode");
    out.integer(batch.status);
    member(out, "executedVersion", batch.executed_version.empty() ? "$LATEST" : batch.executed_version);
    out.key("functionError");  // null: the function accepted the call and reported failed records
    batch.function_error.empty() ? out.raw("null") : out.string(batch.function_error);
    out.end_object();
  }
  member(out, "version", "1.0");
  member(out, "timestamp", engine::iso8601(batch.now));
  out.key("DDBStreamBatchInfo");
  out.begin_object();
  member(out, "shardId", batch.shard_id);
  member(out, "startSequenceNumber", batch.records.front().number);
  member(out, "endSequenceNumber", batch.records.back().number);
  member(out, "approximateArrivalOfFirstRecord", seconds_of(batch.records.front().created));
  member(out, "approximateArrivalOfLastRecord", seconds_of(batch.records.back().created));
  out.key("batchSize");
  out.integer(static_cast<std::int64_t>(batch.records.size()));
  member(out, "streamArn", batch.stream_arn);
  out.end_object();
  if (batch.with_records) {
    out.key("payload");
    out.begin_object();
    write_records(out, batch.records);
    out.end_object();
  }
  out.end_object();
  return body;
}

}  // namespace mayfly::compat::triggers
