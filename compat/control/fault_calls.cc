// PUT, GET, DELETE /_mayfly/faults: the account's fault rules (faults.h).
//
//   {"rules":[{"operation":"PutItem","table":"carts","fault":"throttle","count":2},
//             {"fault":"latency","milliseconds":200,"probability":0.1,"seed":7},
//             {"fault":"stale_reads","table":"carts","writes":3,"milliseconds":1000,"seed":1}]}
#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "compat/control/families.h"
#include "compat/faults.h"
#include "compat/memory_room.h"
#include "engine/items/recent_writes.h"

namespace mayfly::compat::control {
namespace {

constexpr std::size_t rules_max = 100, items_max = 100, count_max = 1'000'000'000;
constexpr std::size_t table_bytes_max = 1024;  // enough for an ARN
constexpr std::int64_t milliseconds_max = 600'000;
constexpr std::int64_t writes_max = 1'000, seed_max = std::int64_t{1} << 53;
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
constexpr std::pair<std::string_view, Error::Kind> throttlings[] = {
    {"ProvisionedThroughputExceededException", Error::Kind::provisioned_throughput_exceeded},
    {"ThrottlingException", Error::Kind::throttling},
    {"RequestLimitExceeded", Error::Kind::request_limit_exceeded}};
constexpr auto kind_names = names_of(kinds);
constexpr auto throttling_names = names_of(throttlings);

constexpr Member fault_member =
    Member{"fault", Kind::text, "What happens to a matching request", Given::always}
        .of(kind_names)
        .as("FAULT");
constexpr Member rule_conditions[] = {
    Member{"operation", Kind::text, "Only this operation, such as PutItem"}.as("--operation"),
    Member{"table", Kind::text, "Only this table"}.within(0, table_bytes_max).as("--table")};
constexpr Member exception_member =
    Member{"exception", Kind::text, "Exception that throttle returns"}.of(throttling_names).as("--exception");
constexpr Member applied_member =
    Member{"applied", Kind::flag,
           "Whether the operation takes effect even though its response is lost or late"}
        .as("--applied");
constexpr Member writes_member = Member{"writes", Kind::whole, "Maximum lag for stale_reads, in commits"}
                                     .within(1, writes_max)
                                     .as("--writes");
constexpr Member milliseconds_member =
    Member{"milliseconds", Kind::whole, "Delay for latency; maximum lag for stale_reads"}
        .within(1, milliseconds_max)
        .as("--milliseconds");
constexpr Member items_member =
    Member{"items", Kind::whole, "Number of items to leave out, if fault is unprocessed"}
        .within(1, items_max)
        .as("--items");
constexpr Member count_member =
    Member{"count", Kind::whole, "Maximum number of times the rule strikes (default: no limit)"}
        .within(1, count_max)
        .as("--count");
constexpr Member probability_member =
    Member{"probability", Kind::number, "Probability that the rule strikes, such as 0.1"}
        .within(0, 1)
        .by_default("1")
        .as("--probability");
constexpr Member seed_member = Member{"seed", Kind::whole, "Random seed for probability and stale_reads"}
                                   .within(0, seed_max)
                                   .by_default("0")
                                   .as("--seed");
constexpr Member rule_members[] = {
    rule_conditions[0],  rule_conditions[1], fault_member, exception_member,   applied_member, writes_member,
    milliseconds_member, items_member,       count_member, probability_member, seed_member};

bool is_operation(const std::string& name) { return operation_named(name).has_value(); }

Result<FaultRule> read_rule(const json::Tree& object) {
  const Body fields(&object, rule_members);
  FaultRule rule;
  auto operation = fields.text("operation");
  if (operation && !is_operation(*operation))
    return must_be("operation", "an operation, for example \"PutItem\"", *operation);
  auto table = fields.text("table");
  const auto kind = fields.choice("fault", kinds);
  rule.exception = fields.choice("exception", throttlings);
  rule.applied = fields.flag("applied");
  if (rule.applied && !can_be_applied(*kind)) {
    return error::validation(
        "'applied' is allowed only when fault is internal_server_error, latency or connection_closed.");
  }
  const auto milliseconds = fields.whole("milliseconds");
  const auto writes = fields.whole("writes");
  const auto items = fields.whole("items");
  rule.count = fields.whole("count");
  const auto probability = fields.number("probability");
  const auto seed = fields.whole("seed");
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

Result<json::Tree> show_faults(Call& call) {
  json::Tree rules = json::Tree::array();
  for (const FaultRule& rule : call.emulator.faults().rules(call.scope.account))
    rules.push_back(show_rule(rule));
  return json::Tree{{"rules", std::move(rules)}};
}

Result<json::Tree> put_faults(Call& call) {
  std::vector<FaultRule> rules;
  for (const json::Tree& value : *call.body.any("rules")) {
    TRY(rules.emplace_back(), read_rule(value));
  }
  if (!rules.empty()) CHECK_OK(check_room(call.database()));
  call.emulator.faults().set(call.scope.account, std::move(rules));
  return show_faults(call);
}

Result<json::Tree> clear_faults(Call& call) {
  call.emulator.faults().set(call.scope.account, {});
  return show_faults(call);
}

}  // namespace

std::span<const ControlCall> fault_calls() {
  static constexpr Member body[] = {
      Member{"rules", Kind::list,
             "The rules; the first matching rule that strikes applies, but latencies add up", Given::always}
          .within(0, rules_max)
          .with(rule_members)};
  static constexpr Member shown_members[] = {
      rule_conditions[0],
      rule_conditions[1],
      fault_member,
      exception_member,
      applied_member,
      writes_member,
      milliseconds_member,
      items_member,
      count_member,
      {"probability", Kind::number, "Probability that the rule strikes"},
      {"seed", Kind::whole, "Random seed"},
      {"asked", Kind::whole, "Requests that matched the rule", Given::always},
      {"struck", Kind::whole, "Faults that the rule caused", Given::always}};
  static constexpr Member answer[] = {
      Member{"rules", Kind::list, "The account's fault rules", Given::always}.with(shown_members)};
  static constexpr std::string_view when_empty = "No fault rules in account {account}.";

  static constexpr ControlCall calls[] = {
      {.method = "GET",
       .path = "/_mayfly/faults",
       .name = "show_faults",
       .about = "List fault rules and how often each one struck",
       .answer = answer,
       .handle = &show_faults,
       .command = "faults show",
       .rows = "rules",
       .when_empty = when_empty},
      {.method = "PUT",
       .path = "/_mayfly/faults",
       .name = "set_faults",
       .about = "Replace all fault rules, which make operations fail on purpose",
       .effect = Effect::sets,
       .waits = Waits::for_changes,
       .body = body,
       .answer = answer,
       .handle = &put_faults,
       .rows = "rules",
       .when_empty = when_empty},
      {.method = "DELETE",
       .path = "/_mayfly/faults",
       .name = "clear_faults",
       .about = "Remove all fault rules",
       .effect = Effect::sets,
       .answer = answer,
       .handle = &clear_faults,
       .command = "faults clear",
       .rows = "rules",
       .when_empty = when_empty},
  };
  return calls;
}

}  // namespace mayfly::compat::control
