// A change as DynamoDB Streams shows it: {"eventID":…,"eventName":"REMOVE",…,"dynamodb":{…}}.
//
// The identity of a service's deletion is spelled with capitals for GetRecords, without for Lambda events and
// Kinesis records: SDKs drop members that are spelled the other way. A user's write has none at all.
#pragma once

#include <string_view>

#include "compat/wire/json.h"
#include "engine/change_log.h"
#include "engine/table.h"

namespace mayfly::compat {

enum class IdentitySpelling { capitals, lower_case };

// Writes one object. A change that is in no stream has the sequence 0, and shows none.
void write_stream_record(json::Writer& out, const engine::Stream& stream, const engine::ChangeRecord& record,
                         IdentitySpelling spelling = IdentitySpelling::capitals);

// "INSERT", "MODIFY", "REMOVE".
std::string_view event_name(engine::ChangeRecord::Kind kind);

}  // namespace mayfly::compat
