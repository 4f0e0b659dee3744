#include "compat/triggers/position.h"

#include <charconv>

#include "compat/json.h"
#include "compat/shape.h"

namespace mayfly::compat::triggers {
namespace {

constexpr std::string_view kind = "trigger-position";

std::string prefix_of(const EventSourceMapping& mapping) { return mapping.scope.region + "/" + mapping.uuid + "/"; }

// "SHARD/LANE-LANES"
std::optional<LaneName> parse_lane(std::string_view text) {
  LaneName name;
  const char* const end = text.data() + text.size();
  const auto shard = std::from_chars(text.data(), end, name.shard);
  if (shard.ec != std::errc{} || shard.ptr == end || *shard.ptr != '/') return std::nullopt;
  const auto lane = std::from_chars(shard.ptr + 1, end, name.lane);
  if (lane.ec != std::errc{} || lane.ptr == end || *lane.ptr != '-') return std::nullopt;
  const auto lanes = std::from_chars(lane.ptr + 1, end, name.lanes);
  if (lanes.ec != std::errc{} || lanes.ptr != end) return std::nullopt;
  return name;
}

}  // namespace

engine::Document to_document(const EventSourceMapping& mapping, const LaneName& lane, const Position& position) {
  engine::Document document{{mapping.scope.account, std::string(kind),
                             prefix_of(mapping) + std::to_string(lane.shard) + "/" + std::to_string(lane.lane) + "-" +
                                 std::to_string(lane.lanes)},
                            {}};
  json::Writer out(document.bytes);
  out.begin_object();
  out.key("next");
  out.integer(static_cast<std::int64_t>(position.next));
  out.key("done");
  out.boolean(position.done);
  if (position.window) {
    out.key("window");
    out.begin_object();
    out.key("start");
    out.integer(position.window->start);
    out.key("state");
    out.string(position.window->state);
    out.end_object();
  }
  out.end_object();
  return document;
}

std::vector<StoredPosition> stored_positions(const engine::Documents& documents, const EventSourceMapping& mapping) {
  std::vector<StoredPosition> positions;
  const std::string prefix = prefix_of(mapping);
  for (const engine::Document& stored : documents.list(mapping.scope.account, kind, prefix)) {
    const auto lane = parse_lane(std::string_view(stored.name.name).substr(prefix.size()));
    const auto document = json::parse(stored.bytes);
    if (!lane || document == nullptr) continue;
    Position position{static_cast<engine::Sequence>(integer_member(document->root(), "next").value_or(0)),
                      boolean_member(document->root(), "done").value_or(false), std::nullopt};
    if (const json::Value* window = document->root().member("window")) {
      position.window = Window{integer_member(*window, "start").value_or(0),
                               std::string(string_member(*window, "state").value_or("{}"))};
    }
    positions.push_back({*lane, std::move(position)});
  }
  return positions;
}

std::vector<engine::DocumentName> position_names(const engine::Documents& documents,
                                                 const EventSourceMapping& mapping) {
  std::vector<engine::DocumentName> names;
  for (engine::Document& stored : documents.list(mapping.scope.account, kind, prefix_of(mapping))) {
    names.push_back(std::move(stored.name));
  }
  return names;
}

}  // namespace mayfly::compat::triggers
