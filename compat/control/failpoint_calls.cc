// PUT, GET, DELETE /_mayfly/failpoints: pause the deletion of an expired item (engine/items/failpoints.h).
//
//   PUT    {"table":"carts","key":{"id":{"S":"1"}}}  arms a failpoint
//   GET    {"failpoints":[{"table":"carts","key":{…},"state":"waiting","due":"…Z"}]}
//   DELETE with the same body releases the failpoint; with {} or no body, it releases all failpoints of the
//          account
#include <nlohmann/json.hpp>

#include "compat/control/families.h"
#include "compat/items/keys.h"
#include "compat/memory_room.h"
#include "engine/items/failpoints.h"

namespace mayfly::compat::control {
namespace {

Result<json::Tree> show_failpoints(Call& call) {
  json::Tree points = json::Tree::array();
  for (const engine::Failpoints::Point& point : call.database().failpoints().of(call.scope.account)) {
    const auto table = point.table->description();
    json::Tree shown{{"region", table->region},
                     {"table", table->name},
                     {"key", item_tree(point.keys)},
                     {"state", point.waiting ? "waiting" : "armed"}};
    if (point.waiting) shown["due"] = print_time(point.due);
    points.push_back(std::move(shown));
  }
  return json::Tree{{"failpoints", std::move(points)}};
}

Result<json::Tree> arm_failpoint(Call& call) {
  TRY(auto table, call.table(*call.body.text("table")));
  TRY(engine::Item keys, call.key());
  TRY(std::string item_key, request_key(*table->description(), keys));
  CHECK_OK(check_room(call.database()));
  if (!call.database().failpoints().arm(std::move(table), std::move(item_key), std::move(keys))) {
    return error::limit_exceeded("Too many failpoints on this server (limit " +
                                 std::to_string(engine::Failpoints::points_max) + ").");
  }
  return show_failpoints(call);
}

Result<json::Tree> release_failpoints(Call& call) {
  if (call.body.empty()) {
    call.database().failpoints().release_all(call.scope.account);
    return show_failpoints(call);
  }
  const std::string name = call.body.text("table").value_or("");
  if (name.empty()) return error::validation("'table' is required when there is a 'key'.");
  TRY(const auto table, call.table(name));
  TRY(const std::string item_key, call.item_key(*table->description()));
  if (!call.database().failpoints().release(*table, item_key)) {
    return not_found("No failpoint is armed for this item of table '" + name + "'.");
  }
  return show_failpoints(call);
}

}  // namespace

std::span<const ControlCall> failpoint_calls() {
  static constexpr Member arm_body[] = {
      Member{"table", Kind::text, "Table of the item", Given::always}.as("TABLE"), key_member};
  static constexpr Member release_body[] = {
      Member{"table", Kind::text, "Table; without table and key, all failpoints of the account"}.as("TABLE"),
      Member{"key", Kind::key, R"(Primary key of the item: {"id":{"S":"1"}})"}.as("KEY")};
  static constexpr std::string_view states[] = {"armed", "waiting"};
  static constexpr Member point_members[] = {
      {"region", Kind::text, "Region of the table", Given::always},
      {"table", Kind::text, "Table of the item", Given::always},
      {"key", Kind::image, "Primary key of the item", Given::always},
      Member{"state", Kind::text, "waiting if the item's expiry has reached the failpoint, otherwise armed",
             Given::always}
          .of(states),
      {"due", Kind::time, "When the waiting item expired"}};
  static constexpr Member answer[] = {
      Member{"failpoints", Kind::list, "The account's failpoints", Given::always}.with(point_members)};
  static constexpr std::string_view when_empty = "No failpoints in account {account}, region {region}.";

  static constexpr ControlCall calls[] = {
      {.method = "GET",
       .path = "/_mayfly/failpoints",
       .name = "show_failpoints",
       .about = "List failpoints and whether an expiry is waiting at each",
       .answer = answer,
       .handle = &show_failpoints,
       .command = "failpoint list",
       .rows = "failpoints",
       .when_empty = when_empty},
      {.method = "PUT",
       .path = "/_mayfly/failpoints",
       .name = "arm_failpoint",
       .about = "Hold an item's expiry just before the item is deleted; an advance waits at the failpoint",
       .effect = Effect::sets,
       .waits = Waits::for_changes,
       .body = arm_body,
       .answer = answer,
       .handle = &arm_failpoint,
       .command = "failpoint arm",
       .rows = "failpoints",
       .when_empty = when_empty},
      {.method = "DELETE",
       .path = "/_mayfly/failpoints",
       .name = "release_failpoints",
       .about = "Release one failpoint or all, so that held expiries continue",
       .effect = Effect::sets,
       .body = release_body,
       .answer = answer,
       .handle = &release_failpoints,
       .command = "failpoint release",
       .rows = "failpoints",
       .when_empty = when_empty},
  };
  return calls;
}

}  // namespace mayfly::compat::control
