// GET /_mayfly/streams/{table}/shards, POST …/split, POST …/roll: the shards of a table's enabled stream
// (engine/schema/shards.h).
//
//   POST {"shard":"shardId-…"}  closes the shard; a split creates two children with half of the shard's
//                               partitions each, and a roll creates one child with all of its partitions
//        {}, or no body         does the same for all open shards, or for none if any of them cannot be
//                               closed
// Each call returns {"stream":"arn:…","shards":[{"id":"shardId-…","parent":"shardId-…","open":true}]}.
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "compat/control/families.h"
#include "compat/streams/arn_and_iterator.h"
#include "engine/schema/shards.h"

namespace mayfly::compat::control {
namespace {

Unexpected<Error> no_stream(const std::string& table) {
  return conflict("Table " + table +
                  " has no enabled stream. Enable one with UpdateTable and "
                  "{\"StreamSpecification\":{\"StreamEnabled\":true,\"StreamViewType\":"
                  "\"NEW_AND_OLD_IMAGES\"}}.");
}

Result<engine::Stream> stream_of(const Call& call, const engine::LiveTable& table) {
  const auto description = table.description();
  if (description->stream) {
    auto stream =
        call.database().catalog().find_stream(call.scope, description->name, description->stream->label);
    if (stream) return *std::move(stream);
  }
  return no_stream(description->name);
}

Result<json::Tree> shards_of(const Call& call, const engine::LiveTable& table) {
  TRY(const engine::Stream stream, stream_of(call, table));
  json::Tree shards = json::Tree::array();
  for (const engine::Shard& shard : stream.shards) {
    json::Tree shown{{"id", shard_id(stream, shard)}};
    if (const auto parent = parent_shard_id(stream, shard)) shown["parent"] = *parent;
    shown["open"] = !shard.closed;
    shards.push_back(std::move(shown));
  }
  return json::Tree{{"stream", stream_arn(stream)}, {"shards", std::move(shards)}};
}

// `asked` is the requested shard; nullopt means all open shards.
Unexpected<Error> refuse(engine::ReshardRefusal why, const std::string& table,
                         const std::optional<std::string>& asked) {
  const std::string shard = asked ? "Shard " + *asked : "A shard of the stream of table " + table;
  switch (why) {
    case engine::ReshardRefusal::no_stream: return no_stream(table);
    case engine::ReshardRefusal::no_such_shard:
      return not_found("The stream of table " + table + " has no " +
                       (asked ? "shard " + *asked : std::string("open shard")) + ".");
    case engine::ReshardRefusal::already_closed: return conflict(shard + " is already closed.");
    case engine::ReshardRefusal::cannot_split: return conflict(shard + " is too narrow to split.");
    case engine::ReshardRefusal::too_many_open:
      return conflict("The stream of table " + table + " would have more than " +
                      std::to_string(engine::open_shards_max) + " open shards.");
    case engine::ReshardRefusal::too_many: break;
  }
  return conflict("The stream of table " + table + " would have more than " +
                  std::to_string(engine::shards_max) +
                  " shards, including closed ones, which are deleted after a day.");
}

Result<json::Tree> reshard(Call& call, engine::Resharding how) {
  const auto asked = call.body.text("shard");
  TRY(const auto table, call.table(call.parameters[0]));
  TRY(const engine::Stream stream, stream_of(call, *table));
  std::optional<engine::ShardNumber> number;
  if (asked) {
    const engine::Shard* const shard = find_shard(stream, *asked);
    if (shard == nullptr) return refuse(engine::ReshardRefusal::no_such_shard, stream.table_name, asked);
    number = shard->number;
  }
  if (call.stop.stop_requested()) return stopped();
  const auto children = call.database().tables().reshard(table, number, how);
  if (!children) return refuse(children.error(), stream.table_name, asked);
  return shards_of(call, *table);
}

Result<json::Tree> show_shards(Call& call) {
  TRY(const auto table, call.table(call.parameters[0]));
  return shards_of(call, *table);
}

Result<json::Tree> split_shards(Call& call) { return reshard(call, engine::Resharding::split); }
Result<json::Tree> roll_shards(Call& call) { return reshard(call, engine::Resharding::roll); }

}  // namespace

std::span<const ControlCall> shard_calls() {
  static constexpr Member body[] = {
      Member{"shard", Kind::text, "Id of the shard (default: all open shards)"}.as("--shard")};
  static constexpr Member shard_members[] = {
      {"id", Kind::text, "Id of the shard", Given::always},
      {"parent", Kind::text, "Id of the shard that this shard continues"},
      {"open", Kind::flag, "Whether the shard receives new records", Given::always}};
  static constexpr Member answer[] = {
      {"stream", Kind::text, "ARN of the stream", Given::always},
      Member{"shards", Kind::list, "The stream's shards, oldest first", Given::always}.with(shard_members)};

  static constexpr ControlCall calls[] = {
      {.method = "GET",
       .path = "/_mayfly/streams/{table}/shards",
       .name = "list_shards",
       .about = "List a stream's shards, oldest first",
       .place = table_place,
       .answer = answer,
       .handle = &show_shards,
       .command = "stream shards",
       .rows = "shards",
       .when_empty = "No shards."},
      {.method = "POST",
       .path = "/_mayfly/streams/{table}/split",
       .name = "split_shards",
       .about = "Close shards and continue each one in two new shards",
       .effect = Effect::adds,
       .waits = Waits::for_changes,
       .place = table_place,
       .body = body,
       .answer = answer,
       .handle = &split_shards,
       .command = "stream split",
       .rows = "shards",
       .when_empty = "No shards."},
      {.method = "POST",
       .path = "/_mayfly/streams/{table}/roll",
       .name = "roll_shards",
       .about = "Close shards and continue each one in a new shard",
       .effect = Effect::adds,
       .waits = Waits::for_changes,
       .place = table_place,
       .body = body,
       .answer = answer,
       .handle = &roll_shards,
       .command = "stream roll",
       .rows = "shards",
       .when_empty = "No shards."},
  };
  return calls;
}

}  // namespace mayfly::compat::control
