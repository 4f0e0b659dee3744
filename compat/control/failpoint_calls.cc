// PUT, GET, DELETE /_mayfly/failpoints: hold an expired item's deletion (engine/items/failpoints.h).
//
//   PUT    {"table":"carts","key":{"id":{"S":"1"}}}  arms a failpoint
//   GET    {"failpoints":[{"table":"carts","key":{…},"state":"waiting","due":"…Z"}]}
//   DELETE the same body: releases it; {} or no body: releases all of the account
#include <nlohmann/json.hpp>

#include "compat/control/handlers.h"
#include "compat/items/keys.h"
#include "compat/tables/room.h"
#include "engine/items/failpoints.h"

namespace mayfly::compat::control {

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
  TRY(const std::string name, call.body.required_string("table"));
  call.body.any("key");
  CHECK_OK(call.body.nothing_else());
  TRY(auto table, call.table(name));
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
  TRY(const std::string name, call.body.required_string("table"));
  call.body.any("key");
  CHECK_OK(call.body.nothing_else());
  TRY(const auto table, call.table(name));
  TRY(const std::string item_key, call.item_key(*table->description()));
  if (!call.database().failpoints().release(*table, item_key)) {
    return not_found("No failpoint is armed for this item of table '" + name + "'.");
  }
  return show_failpoints(call);
}

}  // namespace mayfly::compat::control
