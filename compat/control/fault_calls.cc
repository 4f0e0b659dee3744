// PUT, GET, DELETE /_mayfly/faults: the account's fault rules (faults.h).
//
//   {"rules":[{"operation":"PutItem","table":"carts","fault":"throttle","count":2},
//             {"fault":"latency","milliseconds":200,"probability":0.1,"seed":7},
//             {"fault":"stale_reads","table":"carts","writes":3,"milliseconds":1000,"seed":1}]}
#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "compat/control/handlers.h"
#include "compat/faults.h"
#include "compat/tables/room.h"

namespace mayfly::compat::control {
namespace {

constexpr std::size_t rules_max = 100;
constexpr std::size_t table_bytes_max = 1024;  // enough for an ARN
constexpr std::int64_t milliseconds_max = 600'000;
constexpr std::int64_t writes_max = 1'000;
static_assert(static_cast<std::size_t>(writes_max) <= engine::RecentWrites::writes_max);

constexpr std::pair<std::string_view, FaultRule::Kind> kinds[] = {
    {"throttle", FaultRule::Kind::throttle},
    {"internal_server_error", FaultRule::Kind::internal_server_error},
    {"latency", FaultRule::Kind::latency},
    {"connection_closed", FaultRule::Kind::connection_closed},
    {"unprocessed", FaultRule::Kind::unprocessed},
    {"transaction_conflict", FaultRule::Kind::transaction_conflict},
    {"stale_reads", FaultRule::Kind::stale_reads},
    {"replicated_write_conflict", FaultRule::Kind::replicated_write_conflict},
};

// The exceptions that a throttle rule can raise.
constexpr Error::Kind throttlings[] = {Error::Kind::provisioned_throughput_exceeded, Error::Kind::throttling,
                                       Error::Kind::request_limit_exceeded};

bool is_operation(const std::string& name) { return operation_named(name).has_value(); }

Result<FaultRule> read_rule(const json::Tree& value) {
  if (!value.is_object()) return error::validation("Each rule must be a JSON object.");
  Fields fields(&value);
  FaultRule rule;
  TRY(auto operation, fields.string("operation"));
  if (operation && !is_operation(*operation))
    return must_be("operation", "an operation, for example \"PutItem\"", *operation);
  TRY(auto table, fields.string("table"));
  if (table && table->size() > table_bytes_max)
    return error::validation("'table' must have at most " + std::to_string(table_bytes_max) + " bytes.");
  TRY(const std::optional<std::string> name, fields.required_string("fault"));
  TRY(const auto kind, choose("fault", name, kinds));
  TRY(const auto exception, fields.string("exception"));
  if (exception) {
    const auto meant = std::find_if(std::begin(throttlings), std::end(throttlings),
                                    [&](Error::Kind each) { return error_name(each) == *exception; });
    if (meant == std::end(throttlings)) {
      std::vector<std::string_view> names;
      for (const Error::Kind each : throttlings) names.push_back(error_name(each));
      return must_be_one_of("exception", names, *exception);
    }
    rule.exception = *meant;
  }
  TRY(rule.applied, fields.boolean("applied"));
  if (rule.applied && !can_be_applied(*kind)) {
    return error::validation(
        "'applied' is allowed only when fault is internal_server_error, latency or connection_closed.");
  }
  TRY(const auto milliseconds, fields.integer("milliseconds", 1, milliseconds_max));
  TRY(const auto writes, fields.integer("writes", 1, writes_max));
  TRY(const auto items, fields.integer("items", 1, 100));
  TRY(rule.count, fields.integer("count", 1, 1'000'000'000));
  TRY(const auto probability, fields.number("probability", 0, 1));
  TRY(const auto seed, fields.integer("seed", 0, std::int64_t{1} << 53));
  CHECK_OK(fields.nothing_else());
  rule.operation = std::move(operation).value_or("");
  rule.table = std::move(table).value_or("");
  rule.kind = *kind;
  if (rule.kind == FaultRule::Kind::latency && !milliseconds) {
    return error::validation("'milliseconds' is required when fault is \"latency\".");
  }
  if (rule.kind == FaultRule::Kind::stale_reads && !milliseconds && !writes) {
    return error::validation("'writes' or 'milliseconds' is required when fault is \"stale_reads\".");
  }
  rule.milliseconds = milliseconds.value_or(0);
  rule.writes = writes.value_or(0);
  if (items) rule.items = static_cast<std::size_t>(*items);
  rule.probability = probability.value_or(1);
  rule.seed = static_cast<std::uint64_t>(seed.value_or(0));
  return rule;
}

json::Tree show_rule(const FaultRule& rule) {
  json::Tree shown = json::Tree::object();
  if (!rule.operation.empty()) shown["operation"] = rule.operation;
  if (!rule.table.empty()) shown["table"] = rule.table;
  for (const auto& [name, kind] : kinds)
    if (kind == rule.kind) shown["fault"] = name;
  if (rule.exception) shown["exception"] = error_name(*rule.exception);
  if (rule.applied) shown["applied"] = *rule.applied;
  const bool stale = rule.kind == FaultRule::Kind::stale_reads;
  if (stale && rule.writes > 0) shown["writes"] = rule.writes;
  if (rule.kind == FaultRule::Kind::latency || (stale && rule.milliseconds > 0))
    shown["milliseconds"] = rule.milliseconds;
  if (rule.kind == FaultRule::Kind::unprocessed && rule.items != ~std::size_t{0}) shown["items"] = rule.items;
  if (rule.count) shown["count"] = *rule.count;
  if (rule.probability < 1) shown["probability"] = rule.probability;
  if (rule.probability < 1 || stale) shown["seed"] = rule.seed;
  shown["asked"] = rule.asked;
  shown["struck"] = rule.struck;
  return shown;
}

}  // namespace

Result<json::Tree> show_faults(Call& call) {
  json::Tree rules = json::Tree::array();
  for (const FaultRule& rule : call.emulator.faults().rules(call.scope.account))
    rules.push_back(show_rule(rule));
  return json::Tree{{"rules", std::move(rules)}};
}

Result<json::Tree> put_faults(Call& call) {
  const json::Tree* list = call.body.any("rules");
  CHECK_OK(call.body.nothing_else());
  if (list == nullptr || !list->is_array()) {
    return error::validation("'rules' is required and must be an array.");
  }
  if (list->size() > rules_max) return error::validation("'rules' must have at most 100 elements.");
  std::vector<FaultRule> rules;
  for (const json::Tree& value : *list) {
    TRY(rules.emplace_back(), read_rule(value));
  }
  if (!rules.empty()) CHECK_OK(check_room(call.database()));
  call.emulator.faults().set(call.scope.account, std::move(rules));
  return show_faults(call);
}

Result<json::Tree> clear_faults(Call& call) {
  CHECK_OK(call.body.nothing_else());
  call.emulator.faults().set(call.scope.account, {});
  return show_faults(call);
}

}  // namespace mayfly::compat::control
