#include "compat/kinesis/record.h"

#include <array>
#include <cstdio>

#include "compat/json/json.h"
#include "compat/streams/record.h"
#include "compat/wire/attribute_value_json.h"
#include "compat/wire/hash.h"
#include "engine/base/check.h"
#include "engine/base/uuid.h"
#include "engine/values/item_codec.h"
#include "engine/values/item_size.h"

namespace mayfly::compat::kinesis {
namespace {

void write_change(json::Writer& out, const engine::Change& change, bool microseconds) {
  const engine::Item keys = change.keys();
  out.begin_object();
  out.key("ApproximateCreationDateTime");
  out.integer(microseconds ? change.at * 1000 : change.at);
  if (microseconds) {
    out.key("ApproximateCreationDateTimePrecision");
    out.string("MICROSECOND");
  }
  out.key("Keys");
  write_item_object(out, keys);
  std::size_t bytes = engine::item_size(keys);
  for (const auto& [name, image] :
       {std::pair("NewImage", change.new_item), std::pair("OldImage", change.old_item)}) {
    if (image.empty()) continue;
    out.key(name);
    write_stored_item(out, image);
    bytes += engine::stored_item_size(image);
  }
  out.key("SizeBytes");
  out.integer(static_cast<std::int64_t>(bytes));
  out.end_object();
}

}  // namespace

std::string record_json(const engine::Change& change, bool microseconds, engine::Random& ids) {
  MAYFLY_CHECK(!engine::ChangeFeed::telling());
  std::string text;
  json::Writer out(text);
  out.begin_object();
  out.key("awsRegion");
  out.string(change.table->region);
  out.key("eventID");
  out.string(engine::random_uuid(ids));
  out.key("eventName");
  out.string(event_name(change.kind));
  out.key("userIdentity");
  if (change.cause == engine::Cause::time_to_live) {
    out.begin_object();
    out.key("type");
    out.string("Service");
    out.key("principalId");
    out.string("dynamodb.amazonaws.com");
    out.end_object();
  } else {
    out.raw("null");
  }
  out.key("recordFormat");
  out.string("application/json");
  out.key("tableName");
  out.string(change.table->name);
  out.key("dynamodb");
  write_change(out, change, microseconds);
  out.key("eventSource");
  out.string("aws:dynamodb");
  out.end_object();
  return text;
}

std::string partition_key(const engine::Change& change) {
  std::array<char, 33> text{};
  std::snprintf(text.data(), text.size(), "%016llX%016llX",
                static_cast<unsigned long long>(hash(change.key, 1)),
                static_cast<unsigned long long>(hash(change.key, 2)));
  return text.data();
}

}  // namespace mayfly::compat::kinesis
