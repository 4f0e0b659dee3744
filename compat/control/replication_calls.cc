// /_mayfly/replication: how the writes to an account's global tables travel between regions
// (engine/background/replication.h), and which writes are in flight.
//
//   GET    /_mayfly/replication          {"routes":[{"from":"us-east-1","to":"eu-west-1","paused":false,
//                                         "lag_milliseconds":500}],"in_flight":[{"table":"carts","from":…,
//                                         "to":…,"writes":2,"oldest":"…Z","age_seconds":1.5}]}
//   PUT    /_mayfly/replication          takes {"from":"us-east-1","to":"eu-west-1","paused":true,
//                                         "lag_milliseconds":500}: omitted members keep their values
//   DELETE /_mayfly/replication          opens every route and removes its lag
//   POST   /_mayfly/replication/settle   returns when all writes that can arrive by now have arrived
//
// All of these calls return what GET returns.
#include <nlohmann/json.hpp>

#include "compat/control/families.h"
#include "engine/background/replication.h"

namespace mayfly::compat::control {
namespace {

constexpr std::int64_t lag_milliseconds_max = 30LL * 24 * 3600 * 1000;

Result<json::Tree> show_replication(Call& call) {
  const engine::Replication& replication = call.database().replication();
  json::Tree routes = json::Tree::array();
  for (const auto& [route, setting] : replication.routes(call.scope.account))
    routes.push_back({{"from", route.from},
                      {"to", route.to},
                      {"paused", setting.paused},
                      {"lag_milliseconds", setting.lag_ms}});
  json::Tree in_flight = json::Tree::array();
  const engine::Instant now = call.database().accounts().of(call.scope.account).now();
  for (const engine::InFlight& each : replication.in_flight(call.scope.account)) {
    if (each.writes == 0) continue;
    in_flight.push_back({{"table", each.table},
                         {"from", each.route.from},
                         {"to", each.route.to},
                         {"writes", each.writes},
                         {"oldest", time_or_null(each.oldest)},
                         {"age_seconds", json::seconds(now - each.oldest.value_or(now))}});
  }
  return json::Tree{{"routes", std::move(routes)}, {"in_flight", std::move(in_flight)}};
}

Result<json::Tree> set_replication(Call& call) {
  const std::string from = *call.body.text("from"), to = *call.body.text("to");
  const auto paused = call.body.flag("paused");
  const auto lag = call.body.whole("lag_milliseconds");
  if (from == to || from.find('>') != std::string::npos)
    return error::validation("'from' and 'to' must be two different regions.");
  engine::Replication& replication = call.database().replication();
  engine::RouteSetting setting = replication.route(call.scope.account, {from, to});
  if (paused) setting.paused = *paused;
  if (lag) setting.lag_ms = *lag;
  if (!replication.set_route(call.scope.account, {from, to}, setting)) {
    return conflict("Too many replication settings in the account (limit " +
                    std::to_string(engine::Replication::routes_max) + ").");
  }
  return show_replication(call);
}

Result<json::Tree> reset_replication(Call& call) {
  engine::Replication& replication = call.database().replication();
  for (const auto& [route, setting] : replication.routes(call.scope.account))
    static_cast<void>(replication.set_route(call.scope.account, route, {}));
  return show_replication(call);
}

Result<json::Tree> settle_replication(Call& call) {
  call.database().replication().settle_in_slices(call.scope.account, call.stop);
  if (call.stop.stop_requested()) return stopped();
  return show_replication(call);
}

}  // namespace

std::span<const ControlCall> replication_calls() {
  static constexpr Member set_body[] = {
      Member{"from", Kind::text, "Source region", Given::always}.within(1, 64).as("--from"),
      Member{"to", Kind::text, "Target region", Given::always}.within(1, 64).as("--to"),
      Member{"lag_milliseconds", Kind::whole, "Delay of each write in milliseconds, by the account's clock"}
          .within(0, lag_milliseconds_max)
          .as("--lag-ms"),
      {"paused", Kind::flag, "Whether all writes are held back"}};
  static constexpr Member setting_members[] = {
      {"from", Kind::text, "Source region", Given::always},
      {"to", Kind::text, "Target region", Given::always},
      {"paused", Kind::flag, "Whether all writes are held back", Given::always},
      {"lag_milliseconds", Kind::whole, "Delay of each write, by the account's clock", Given::always}};
  static constexpr Member pending_members[] = {
      {"table", Kind::text, "Table", Given::always},
      {"from", Kind::text, "Source region", Given::always},
      {"to", Kind::text, "Target region", Given::always},
      {"writes", Kind::whole, "Writes that have not arrived", Given::always},
      {"oldest", Kind::time, "Time of the oldest of these writes", Given::or_null},
      {"age_seconds", Kind::number, "Age of the oldest of these writes, by the account's clock",
       Given::always}};
  static constexpr Member answer[] = {
      Member{"routes", Kind::list, "Routes with a delay or a pause", Given::always}.with(setting_members),
      Member{"in_flight", Kind::list, "Routes with writes that have not arrived", Given::always}.with(
          pending_members)};

  static constexpr ControlCall calls[] = {
      {.method = "GET",
       .path = "/_mayfly/replication",
       .name = "show_replication",
       .about = "Get the delays, pauses and pending writes between regions",
       .answer = answer,
       .handle = &show_replication,
       .command = "replication show"},
      {.method = "PUT",
       .path = "/_mayfly/replication",
       .name = "set_replication",
       .about = "Delay, pause or resume replication between two regions",
       .effect = Effect::sets,
       .waits = Waits::for_changes,
       .body = set_body,
       .answer = answer,
       .handle = &set_replication},
      {.method = "DELETE",
       .path = "/_mayfly/replication",
       .name = "reset_replication",
       .about = "Remove all delays and pauses of replication",
       .effect = Effect::sets,
       .answer = answer,
       .handle = &reset_replication,
       .command = "replication reset",
       .when_empty = "Reset."},
      {.method = "POST",
       .path = "/_mayfly/replication/settle",
       .name = "settle_replication",
       .about = "Wait until every write that can be delivered has arrived",
       .effect = Effect::sets,
       .waits = Waits::for_changes,
       .answer = answer,
       .handle = &settle_replication,
       .command = "replication settle",
       .when_empty = "Settled."},
  };
  return calls;
}

}  // namespace mayfly::compat::control
