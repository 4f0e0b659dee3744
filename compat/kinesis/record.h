// Builds the record of a change for a Kinesis data stream. Unlike a record in DynamoDB's own streams, such a
// record always has both images, has "userIdentity":null for a user's write, and has no eventVersion.
//
//   {"awsRegion":"us-east-1","eventID":"3b241101-…","eventName":"INSERT","userIdentity":null,
//    "recordFormat":"application/json","tableName":"carts",
//    "dynamodb":{"ApproximateCreationDateTime":1700000000123,"Keys":{…},"NewImage":{…},"SizeBytes":12},
//    "eventSource":"aws:dynamodb"}
#pragma once

#include <string>

#include "engine/base/random.h"
#include "engine/tables/change_feed.h"

namespace mayfly::compat::kinesis {

// Decodes and prints the whole change, so it is too slow to call within a commit.
std::string record_json(const engine::Change& change, bool microseconds, engine::Random& ids);
// Returns the partition key of a change's record. All changes to an item have the same partition key, so that
// they stay in order.
std::string partition_key(const engine::Change& change);

}  // namespace mayfly::compat::kinesis
