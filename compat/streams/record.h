// A change as DynamoDB Streams shows it: {"eventID":…,"eventName":"REMOVE",…,"dynamodb":{…}}.
//
// Two things are spelled in another way for Lambda's events than for GetRecords: the identity of a service's
// deletion without capitals (SDKs drop members that are spelled the other way; a user's write has none at
// all), and the time with a fraction, 1700000000.0, which is a float in languages that tell them apart.
#pragma once

#include <string_view>

#include "compat/wire/json.h"
#include "engine/change_log.h"
#include "engine/table.h"

namespace mayfly::compat {

enum class RecordReader { get_records, lambda };

// Writes one object. A change that is in no stream has the sequence 0, and shows none.
void write_stream_record(json::Writer& out, const engine::Stream& stream, const engine::ChangeRecord& record,
                         RecordReader reader = RecordReader::get_records);

// "INSERT", "MODIFY", "REMOVE".
std::string_view event_name(engine::ChangeRecord::Kind kind);

}  // namespace mayfly::compat
