// Writes a change as a DynamoDB Streams record: {"eventID":…,"eventName":"REMOVE",…,"dynamodb":{…}}.
//
// Lambda events and GetRecords differ in two details. In Lambda events, the members of userIdentity are in
// lower case (SDKs drop members in the other spelling; changes by users have no userIdentity), and the time
// has a fraction, 1700000000.0, which is a float in languages that distinguish floats from integers.
#pragma once

#include <string_view>

#include "compat/json/json.h"
#include "engine/schema/table.h"
#include "engine/tables/change_log.h"

namespace mayfly::compat {

enum class RecordReader { get_records, lambda };

// Writes one object. A change that is not in a stream has sequence 0 and no SequenceNumber.
void write_stream_record(json::Writer& out, const engine::Stream& stream, const engine::ChangeRecord& record,
                         RecordReader reader = RecordReader::get_records);

// "INSERT", "MODIFY", "REMOVE".
std::string_view event_name(engine::ChangeRecord::Kind kind);

}  // namespace mayfly::compat
