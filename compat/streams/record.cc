#include "compat/streams/record.h"

#include <string>

#include "compat/streams/arn_and_iterator.h"
#include "compat/tables/description.h"
#include "compat/wire/attribute_value_json.h"

namespace mayfly::compat {
namespace {

void write_change(json::Writer& out, const engine::Stream& stream, const engine::ChangeRecord& record,
                  RecordReader reader) {
  out.begin_object();
  out.key("ApproximateCreationDateTime");
  const std::int64_t seconds = record.created / 1000;  // AWS truncates to seconds
  reader == RecordReader::lambda ? out.raw(std::to_string(seconds) + ".0") : out.integer(seconds);
  out.key("Keys");
  write_item_object(out, record.keys);
  if (record.new_image) {
    out.key("NewImage");
    write_item_object(out, *record.new_image);
  }
  if (record.old_image) {
    out.key("OldImage");
    write_item_object(out, *record.old_image);
  }
  if (record.sequence != 0) {
    out.key("SequenceNumber");
    out.string(sequence_number(record.sequence));
  }
  out.key("SizeBytes");
  out.integer(static_cast<std::int64_t>(record.size_bytes));
  out.key("StreamViewType");
  out.string(stream_view_name(stream.view));
  out.end_object();
}

}  // namespace

std::string_view event_name(engine::ChangeRecord::Kind kind) {
  switch (kind) {
    case engine::ChangeRecord::Kind::insert: return "INSERT";
    case engine::ChangeRecord::Kind::modify: return "MODIFY";
    case engine::ChangeRecord::Kind::remove: return "REMOVE";
  }
  return {};
}

void write_stream_record(json::Writer& out, const engine::Stream& stream, const engine::ChangeRecord& record,
                         RecordReader reader) {
  out.begin_object();
  out.key("eventID");
  out.string(event_id(stream, record.sequence));
  out.key("eventName");
  out.string(event_name(record.kind));
  out.key("eventVersion");
  out.string("1.1");
  out.key("eventSource");
  out.string("aws:dynamodb");
  out.key("awsRegion");
  out.string(stream.region);
  out.key("dynamodb");
  write_change(out, stream, record, reader);
  if (record.cause == engine::Cause::time_to_live) {
    const bool capitals = reader == RecordReader::get_records;
    out.key("userIdentity");
    out.begin_object();
    out.key(capitals ? "Type" : "type");
    out.string("Service");
    out.key(capitals ? "PrincipalId" : "principalId");
    out.string("dynamodb.amazonaws.com");
    out.end_object();
  }
  out.end_object();
}

}  // namespace mayfly::compat
