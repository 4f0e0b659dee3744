// /_mayfly/replication: how the writes to an account's global tables travel between regions
// (engine/background/replication.h), and which are on their way.
//
//   GET    /_mayfly/replication          {"ways":[{"from":"us-east-1","to":"eu-west-1","paused":false,
//                                         "lag_milliseconds":500}],"on_the_way":[{"table":"carts","from":…,
//                                         "to":…,"writes":2,"oldest":"…Z","age_seconds":1.5}]}
//   PUT    /_mayfly/replication          takes {"from":"us-east-1","to":"eu-west-1","paused":true,
//                                         "lag_milliseconds":500}: omitted members keep their values
//   DELETE /_mayfly/replication          opens every way and removes its lag
//   POST   /_mayfly/replication/settle   returns when all writes that can arrive by now have arrived
//
// All return what GET returns.
#include <nlohmann/json.hpp>

#include "compat/control/handlers.h"
#include "engine/background/replication.h"

namespace mayfly::compat::control {
namespace {

constexpr std::int64_t lag_milliseconds_max = 30LL * 24 * 3600 * 1000;

}  // namespace

Result<json::Tree> show_replication(Call& call) {
  CHECK_OK(call.body.nothing_else());
  const engine::Replication& replication = call.database().replication();
  json::Tree ways = json::Tree::array();
  for (const auto& [way, setting] : replication.ways(call.scope.account))
    ways.push_back({{"from", way.from},
                    {"to", way.to},
                    {"paused", setting.paused},
                    {"lag_milliseconds", setting.lag_ms}});
  json::Tree departed = json::Tree::array();
  const engine::Instant now = call.database().accounts().of(call.scope.account).now();
  for (const engine::OnTheWay& each : replication.on_the_way(call.scope.account)) {
    if (each.writes == 0) continue;
    departed.push_back({{"table", each.table},
                        {"from", each.way.from},
                        {"to", each.way.to},
                        {"writes", each.writes},
                        {"oldest", time_or_null(each.oldest)},
                        {"age_seconds", json::seconds(now - each.oldest.value_or(now))}});
  }
  return json::Tree{{"ways", std::move(ways)}, {"on_the_way", std::move(departed)}};
}

Result<json::Tree> set_replication(Call& call) {
  TRY(const std::string from, call.body.required_string("from"));
  TRY(const std::string to, call.body.required_string("to"));
  TRY(const auto paused, call.body.boolean("paused"));
  TRY(const auto lag, call.body.integer("lag_milliseconds", 0, lag_milliseconds_max));
  CHECK_OK(call.body.nothing_else());
  if (from.empty() || to.empty() || from == to || from.find('>') != std::string::npos || from.size() > 64 ||
      to.size() > 64)
    return error::validation("'from' and 'to' must be two different regions.");
  engine::Replication& replication = call.database().replication();
  engine::WaySetting setting = replication.way(call.scope.account, {from, to});
  if (paused) setting.paused = *paused;
  if (lag) setting.lag_ms = *lag;
  if (!replication.set_way(call.scope.account, {from, to}, setting)) {
    return conflict("Too many replication settings in the account (limit " +
                    std::to_string(engine::Replication::ways_max) + ").");
  }
  return show_replication(call);
}

Result<json::Tree> reset_replication(Call& call) {
  CHECK_OK(call.body.nothing_else());
  engine::Replication& replication = call.database().replication();
  for (const auto& [way, setting] : replication.ways(call.scope.account))
    static_cast<void>(replication.set_way(call.scope.account, way, {}));
  return show_replication(call);
}

Result<json::Tree> settle_replication(Call& call) {
  CHECK_OK(call.body.nothing_else());
  call.database().replication().settle_in_slices(call.scope.account, call.stop);
  if (call.stop.stop_requested()) return stopped();
  return show_replication(call);
}

}  // namespace mayfly::compat::control
