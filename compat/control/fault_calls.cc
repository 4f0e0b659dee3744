// PUT, GET, DELETE /_mayfly/faults: the account's rules for failing (faults.h).
//
// {"rules":[{"operation":"PutItem","table":"carts","fault":"throttle","count":2},
//           {"fault":"latency","milliseconds":200,"probability":0.1,"seed":7}]}
#include <algorithm>
#include <iterator>

#include "compat/control/handlers.h"
#include "compat/faults.h"

namespace mayfly::compat::control {
namespace {

constexpr std::size_t rules_max = 100;
constexpr std::int64_t milliseconds_max = 600'000;

constexpr std::pair<std::string_view, FaultRule::Kind> kinds[] = {
    {"throttle", FaultRule::Kind::throttle},
    {"internal_server_error", FaultRule::Kind::internal_server_error},
    {"latency", FaultRule::Kind::latency},
    {"unprocessed", FaultRule::Kind::unprocessed},
    {"transaction_conflict", FaultRule::Kind::transaction_conflict},
};

// What a rule may throttle with.
constexpr Error::Kind throttlings[] = {Error::Kind::provisioned_throughput_exceeded, Error::Kind::throttling,
                                       Error::Kind::request_limit_exceeded};

bool is_operation(const std::string& name) {
  return find_operation(std::string(dynamodb) + "." + name) != nullptr ||
         find_operation(std::string(dynamodb_streams) + "." + name) != nullptr;
}

Result<FaultRule> read_rule(const json::Value& value) {
  if (!value.is(json::Value::Kind::object)) return error::validation("A rule must be a JSON object.");
  Fields fields(&value);
  FaultRule rule;
  TRY(auto operation, fields.string("operation"));
  if (operation && !is_operation(*operation))
    return error::validation("There is no operation " + *operation + ".");
  TRY(auto table, fields.string("table"));
  TRY(const std::string kind, fields.required_string("fault"));
  const auto known =
      std::find_if(std::begin(kinds), std::end(kinds), [&](const auto& each) { return each.first == kind; });
  if (known == std::end(kinds)) {
    return error::validation(
        "fault must be throttle, internal_server_error, latency, unprocessed or transaction_conflict.");
  }
  TRY(const auto exception, fields.string("exception"));
  if (exception) {
    const auto meant = std::find_if(std::begin(throttlings), std::end(throttlings),
                                    [&](Error::Kind each) { return error_name(each) == *exception; });
    if (meant == std::end(throttlings)) {
      return error::validation(
          "exception must be ProvisionedThroughputExceededException, ThrottlingException or "
          "RequestLimitExceeded.");
    }
    rule.exception = *meant;
  }
  TRY(const auto milliseconds, fields.integer("milliseconds", 1, milliseconds_max));
  TRY(const auto items, fields.integer("items", 1, 100));
  TRY(rule.count, fields.integer("count", 1, 1'000'000'000));
  TRY(const auto probability, fields.number("probability", 0, 1));
  TRY(const auto seed, fields.integer("seed", 0, std::int64_t{1} << 53));
  CHECK_OK(fields.nothing_else());
  rule.operation = std::move(operation).value_or("");
  rule.table = std::move(table).value_or("");
  rule.kind = known->second;
  if (rule.kind == FaultRule::Kind::latency && !milliseconds) {
    return error::validation("A rule of the fault latency needs the member milliseconds.");
  }
  rule.milliseconds = milliseconds.value_or(0);
  if (items) rule.items = static_cast<std::size_t>(*items);
  rule.probability = probability.value_or(1);
  rule.seed = static_cast<std::uint64_t>(seed.value_or(0));
  return rule;
}

void write_rule(json::Writer& out, const FaultRule& rule) {
  const auto text = [&](std::string_view name, std::string_view value) {
    if (value.empty()) return;
    out.key(name);
    out.string(value);
  };
  const auto number = [&](std::string_view name, std::int64_t value) {
    out.key(name);
    out.integer(value);
  };
  out.begin_object();
  text("operation", rule.operation);
  text("table", rule.table);
  for (const auto& [name, kind] : kinds)
    if (kind == rule.kind) text("fault", name);
  if (rule.exception) text("exception", error_name(*rule.exception));
  if (rule.kind == FaultRule::Kind::latency) number("milliseconds", rule.milliseconds);
  if (rule.kind == FaultRule::Kind::unprocessed && rule.items != ~std::size_t{0}) {
    number("items", static_cast<std::int64_t>(rule.items));
  }
  if (rule.count) number("count", *rule.count);
  if (rule.probability < 1) {
    out.key("probability");
    out.decimal(rule.probability);
    number("seed", static_cast<std::int64_t>(rule.seed));
  }
  number("asked", rule.asked);
  number("struck", rule.struck);
  out.end_object();
}

}  // namespace

Result<void> show_faults(Call& call, json::Writer& out) {
  out.begin_object();
  out.key("rules");
  out.begin_array();
  for (const FaultRule& rule : call.emulator.faults().rules(call.scope.account)) write_rule(out, rule);
  out.end_array();
  out.end_object();
  return {};
}

Result<void> put_faults(Call& call, json::Writer& out) {
  const json::Value* list = call.body.any("rules");
  CHECK_OK(call.body.nothing_else());
  if (list == nullptr || !list->is(json::Value::Kind::array)) {
    return error::validation("The body needs the member rules, a list.");
  }
  if (list->items().size() > rules_max) return error::validation("rules must be at most 100.");
  std::vector<FaultRule> rules;
  for (const json::Value& value : list->items()) {
    TRY(rules.emplace_back(), read_rule(value));
  }
  call.emulator.faults().set(call.scope.account, std::move(rules));
  return show_faults(call, out);
}

Result<void> clear_faults(Call& call, json::Writer& out) {
  CHECK_OK(call.body.nothing_else());
  call.emulator.faults().set(call.scope.account, {});
  return show_faults(call, out);
}

}  // namespace mayfly::compat::control
