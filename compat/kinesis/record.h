// A change as a Kinesis data stream gets it. Unlike DynamoDB's own streams it always has both images, a
// user's write says "userIdentity":null, and there is no eventVersion.
//
//   {"awsRegion":"us-east-1","eventID":"3b241101-…","eventName":"INSERT","userIdentity":null,
//    "recordFormat":"application/json","tableName":"carts",
//    "dynamodb":{"ApproximateCreationDateTime":1700000000123,"Keys":{…},"NewImage":{…},"SizeBytes":12},
//    "eventSource":"aws:dynamodb"}
#pragma once

#include <string>

#include "engine/change_feed.h"
#include "engine/random.h"

namespace mayfly::compat::kinesis {

// Decodes and prints: not in a commit.
std::string record_json(const engine::Change& change, bool microseconds, engine::Random& ids);
// The partition key of a change's record: the same for all changes of an item, so that they stay in order.
std::string partition_key(const engine::Change& change);

}  // namespace mayfly::compat::kinesis
