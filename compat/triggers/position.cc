#include "compat/triggers/position.h"

#include <algorithm>
#include <map>

#include "compat/json/json.h"
#include "compat/wire/shape.h"
#include "engine/base/whole_number.h"

namespace mayfly::compat::triggers {
namespace {

constexpr std::string_view position_kind = "@trigger-position", start_name = "start";

std::string prefix_of(const EventSourceMapping& mapping) {
  return mapping.scope.region + "/" + mapping.uuid + "/";
}

// Parses a lane's name, which has the form "SHARD/LANE-LANES".
std::optional<LaneName> parse_lane(std::string_view text) {
  const auto slash = text.find('/'), dash = text.find('-');
  if (slash == text.npos || dash == text.npos || dash < slash) return std::nullopt;
  const auto shard = engine::whole_number<std::uint32_t>(text.substr(0, slash));
  const auto lane = engine::whole_number<std::uint32_t>(text.substr(slash + 1, dash - slash - 1));
  const auto lanes = engine::whole_number<std::uint32_t>(text.substr(dash + 1));
  if (!shard || !lane || !lanes || *lane >= *lanes) return std::nullopt;
  return LaneName{*shard, *lane, *lanes};
}

}  // namespace

engine::Document to_document(const EventSourceMapping& mapping, const LaneName& lane,
                             const Position& position) {
  engine::Document document{{mapping.scope.account, std::string(position_kind),
                             prefix_of(mapping) + std::to_string(lane.shard) + "/" +
                                 std::to_string(lane.lane) + "-" + std::to_string(lane.lanes)},
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

engine::Document start_document(const EventSourceMapping& mapping, engine::Sequence start) {
  engine::Document document{
      {mapping.scope.account, std::string(position_kind), prefix_of(mapping).append(start_name)}, {}};
  json::Writer out(document.bytes);
  out.begin_object();
  out.key("next");
  out.integer(static_cast<std::int64_t>(start));
  out.end_object();
  return document;
}

StoredProgress stored_progress(const engine::Documents& documents, const EventSourceMapping& mapping) {
  StoredProgress progress;
  const std::string prefix = prefix_of(mapping);
  for (const engine::Document& stored : documents.list(mapping.scope.account, position_kind, prefix)) {
    const std::string_view name = std::string_view(stored.name.name).substr(prefix.size());
    const auto lane = parse_lane(name);
    const auto document = json::parse(stored.bytes);
    if (document == nullptr) continue;
    const auto next = static_cast<engine::Sequence>(integer_member(document->root(), "next").value_or(0));
    if (name == start_name) progress.start = next;
    if (!lane) continue;
    Position position{next, boolean_member(document->root(), "done").value_or(false), std::nullopt};
    if (const json::Value* window = document->root().member("window")) {
      position.window = Window{integer_member(*window, "start").value_or(0),
                               std::string(string_member(*window, "state").value_or("{}"))};
    }
    progress.lanes.push_back({*lane, std::move(position)});
  }
  return progress;
}

std::vector<engine::DocumentName> position_names(const engine::Documents& documents,
                                                 const EventSourceMapping& mapping,
                                                 std::optional<std::uint32_t> shard) {
  std::vector<engine::DocumentName> names;
  const std::string prefix = prefix_of(mapping) + (shard ? std::to_string(*shard) + "/" : std::string());
  for (engine::Document& stored : documents.list(mapping.scope.account, position_kind, prefix)) {
    names.push_back(std::move(stored.name));
  }
  return names;
}

std::vector<std::pair<engine::DocumentName, std::string>> position_owners(const engine::Documents& documents,
                                                                          std::string_view account) {
  std::vector<std::pair<engine::DocumentName, std::string>> owners;
  for (engine::Document& stored : documents.list(account, position_kind)) {
    const std::string& name = stored.name.name;
    const auto uuid = name.find('/') + 1;
    std::string owner = name.substr(uuid, name.find('/', uuid) - uuid);
    owners.emplace_back(std::move(stored.name), std::move(owner));
  }
  return owners;
}

ShardStart shard_start(const std::vector<StoredPosition>& stored, std::uint32_t lanes, bool closed) {
  // Positions by number of lanes. A lane without a stored position is at the beginning.
  std::map<std::uint32_t, std::vector<Position>> by_number;
  for (const StoredPosition& one : stored) {
    auto& positions = by_number.try_emplace(one.lane.lanes, one.lane.lanes).first->second;
    if (one.lane.lane < positions.size()) positions[one.lane.lane] = one.position;
  }
  ShardStart start;
  engine::Sequence low = 0;  // all earlier records are done
  for (const auto& [number, positions] : by_number) {
    const auto behind =
        std::min_element(positions.begin(), positions.end(),
                         [](const Position& a, const Position& b) { return a.next < b.next; });
    low = std::max(low, behind->next);
    start.done = start.done || (closed && std::all_of(positions.begin(), positions.end(),
                                                      [](const Position& one) { return one.done; }));
  }
  start.lanes = by_number.contains(lanes) ? by_number.at(lanes) : std::vector<Position>(lanes);
  for (Position& lane : start.lanes) {
    lane.done = lane.done && closed;
    if (lane.next >= low) continue;
    lane = {low, start.done, std::nullopt};  // its window was given up when the lane count changed
  }
  const auto behind = std::min_element(start.lanes.begin(), start.lanes.end(),
                                       [](const Position& a, const Position& b) { return a.next < b.next; });
  for (const StoredPosition& one : stored) {
    if (one.lane.lanes != lanes && one.position.next > behind->next) start.others.push_back(one);
  }
  return start;
}

bool passed(const std::vector<StoredPosition>& positions, std::uint64_t keys_hash,
            engine::Sequence sequence) {
  return std::any_of(positions.begin(), positions.end(), [&](const StoredPosition& one) {
    return sequence < one.position.next && keys_hash % one.lane.lanes == one.lane.lane;
  });
}

}  // namespace mayfly::compat::triggers
