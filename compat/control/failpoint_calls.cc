// PUT, GET, DELETE /_mayfly/failpoints: stop an expiry between "due" and "delete" (engine/failpoints.h).
//
// PUT    {"table":"carts","key":{"id":{"S":"1"}}}  arms a point
// GET    {"failpoints":[{"table":"carts","key":{…},"state":"waiting","due":"…Z"}]}
// DELETE the same body: releases it; {}, or no body: all of the account
#include "compat/control/handlers.h"
#include "compat/wire/attribute_value_json.h"
#include "engine/failpoints.h"

namespace mayfly::compat::control {

Result<void> show_failpoints(Call& call, json::Writer& out) {
  out.begin_object();
  out.key("failpoints");
  out.begin_array();
  for (const engine::Failpoints::Point& point : call.database().failpoints().of(call.scope.account)) {
    const auto table = point.table->description();
    out.begin_object();
    out.key("region");
    out.string(table->region);
    out.key("table");
    out.string(table->name);
    out.key("key");
    write_item_object(out, point.keys);
    out.key("state");
    out.string(point.waiting ? "waiting" : "armed");
    if (point.waiting) {
      out.key("due");
      out.string(print_time(point.due));
    }
    out.end_object();
  }
  out.end_array();
  out.end_object();
  return {};
}

Result<void> arm_failpoint(Call& call, json::Writer& out) {
  TRY(const std::string name, call.body.required_string("table"));
  const json::Value* key = call.body.any("key");
  CHECK_OK(call.body.nothing_else());
  TRY(auto table, call.table(name));
  TRY(std::string item_key, Call::item_key(*table->description(), key));
  TRY(engine::Item keys, read_item(*key));
  call.database().failpoints().arm(std::move(table), std::move(item_key), std::move(keys));
  return show_failpoints(call, out);
}

Result<void> release_failpoints(Call& call, json::Writer& out) {
  if (call.body.empty()) {
    call.database().failpoints().release_all(call.scope.account);
    return show_failpoints(call, out);
  }
  TRY(const std::string name, call.body.required_string("table"));
  const json::Value* key = call.body.any("key");
  CHECK_OK(call.body.nothing_else());
  TRY(const auto table, call.table(name));
  TRY(const std::string item_key, Call::item_key(*table->description(), key));
  if (!call.database().failpoints().release(*table, item_key)) {
    return not_found("There is no failpoint for this item of " + name + ".");
  }
  return show_failpoints(call, out);
}

}  // namespace mayfly::compat::control
