#include "compat/faults.h"

#include <algorithm>
#include <condition_variable>
#include <set>

#include "compat/dispatch.h"
#include "compat/items/transact_items.h"
#include "compat/request_memory.h"
#include "compat/streams/arn_and_iterator.h"
#include "compat/tables/arn.h"
#include "engine/base/mutex.h"
#include "engine/base/splitmix.h"
#include "engine/database.h"
#include "engine/items/recent_writes.h"

namespace mayfly::compat {

// The effects of the rules on one request. The members are in the order in which they take effect.
struct Fault {
  std::chrono::milliseconds delay_before{0};
  bool runs = true;             // false: the operation is skipped
  std::size_t unprocessed = 0;  // number of items at the end of the batch to leave unprocessed
  std::chrono::milliseconds delay_after{0};
  std::optional<Error> error;  // replaces the operation's response
  bool closes = false;         // the client gets no response: its connection is closed
  [[nodiscard]] std::chrono::milliseconds delay() const { return delay_before + delay_after; }
  [[nodiscard]] bool struck() const { return delay().count() > 0 || error || closes || unprocessed > 0; }
};

namespace {

// Returns the n-th pseudorandom number of the sequence that `seed` starts, in [0, 1).
double chance(std::uint64_t seed, std::int64_t n) {
  const std::uint64_t bits = engine::mix(seed + static_cast<std::uint64_t>(n + 1) * engine::splitmix_step);
  return static_cast<double>(bits >> 11) / static_cast<double>(std::uint64_t{1} << 53);
}

// Returns by how many writes and milliseconds the rule's n-th read lags. Each of these numbers is between 1
// and the rule's limit.
engine::Lag lag_of(const FaultRule& rule, std::int64_t n) {
  const double share = chance(engine::mix(rule.seed), n);  // independent of the number that decided whether
                                                           // the rule applies
  const auto draw = [&](std::int64_t most) {
    return 1 + static_cast<std::int64_t>(share * static_cast<double>(most));
  };
  engine::Lag lag;
  if (rule.writes > 0) lag.writes = static_cast<std::uint64_t>(draw(rule.writes));
  if (rule.milliseconds > 0) lag.milliseconds = draw(rule.milliseconds);
  return lag;
}

// Returns how far behind reads can be under these rules.
std::vector<engine::RecentWrites::Reach> reaches_of(const std::vector<FaultRule>& rules) {
  std::vector<engine::RecentWrites::Reach> reaches;
  for (const FaultRule& rule : rules) {
    if (rule.kind != FaultRule::Kind::stale_reads) continue;
    engine::Lag most;
    if (rule.writes > 0) most.writes = static_cast<std::uint64_t>(rule.writes);
    if (rule.milliseconds > 0) most.milliseconds = rule.milliseconds;
    reaches.push_back({rule.table, most});
  }
  return reaches;
}

// The parts of a request that rules depend on. They are read before the rules are locked, because a body can
// be large.
struct Asked {
  std::set<std::string, std::less<>> tables;  // tables that the request names
  std::size_t actions = 0;                    // number of actions in a transaction
};

// Requires nothing of `body`, because the request has not been validated yet.
Asked read_request(const Operation& operation, std::string_view body) {
  Asked asked;
  const auto document = json::parse(body);
  if (document == nullptr) return asked;
  const json::Value& request = document->root();
  if (const json::Value* actions = request.member("TransactItems")) asked.actions = actions->items().size();
  const auto add = [&](std::string_view name_or_arn) {
    const auto arn = parse_table_arn(name_or_arn);
    asked.tables.emplace(arn ? arn->name : name_or_arn);
  };
  const auto add_stream = [&](std::string_view stream_arn) {
    if (const auto stream = parse_stream_arn(stream_arn)) asked.tables.emplace(stream->table_name);
  };
  switch (operation.tables_in) {
    case TablesIn::nothing: break;
    case TablesIn::table_name:
      if (const json::Value* name = request.member("TableName")) add(name->string());
      break;
    case TablesIn::request_items:
      if (const json::Value* batch = request.member("RequestItems"))
        for (const json::Member& member : batch->members()) add(member.name);
      break;
    case TablesIn::transact_items:
      if (const json::Value* actions = request.member("TransactItems"))
        for (const json::Value& action : actions->items())
          for (const json::Member& member : action.members())
            if (const json::Value* name = member.value.member("TableName")) add(name->string());
      break;
    case TablesIn::stream_arn:
      if (const json::Value* arn = request.member("StreamArn")) add_stream(arn->string());
      break;
    case TablesIn::shard_iterator:
      if (const json::Value* iterator = request.member("ShardIterator"))
        if (const auto position = ShardIterator::parse(iterator->string())) add_stream(position->stream_arn);
      break;
  }
  return asked;
}

Error throttled(const FaultRule& rule, const Operation& operation) {
  using Kind = Error::Kind;
  const Kind usual =
      operation.access == Access::control ? Kind::throttling : Kind::provisioned_throughput_exceeded;
  const Kind kind = rule.exception.value_or(usual);
  if (kind == Kind::throttling)
    return {.kind = kind, .message = "Rate of requests exceeds the allowed throughput."};
  if (kind == Kind::request_limit_exceeded) {
    return {
        .kind = kind,
        .message =
            "Throughput exceeds the current throughput limit for your account. Please contact AWS Support at "
            "https://aws.amazon.com/support to request a limit increase"};
  }
  return {
      .kind = kind,
      .message =
          "The level of configured provisioned throughput for the table was exceeded. Consider increasing "
          "your provisioning level with the UpdateTable API."};
}

// Returns the error for a transaction whose first action has a conflict. Transactions with too many actions
// are rejected only later, so this function limits the length of the list of reasons.
Error conflict(std::size_t actions) {
  const Error single{.kind = Error::Kind::transaction_conflict,
                     .message = "Transaction is ongoing for the item"};
  if (actions == 0) return single;
  return canceled_by(0, std::min(actions, transaction_items_max), single).error;
}

// A read is delayed before it runs, so that its response, which can be large, is not held in memory during
// the delay.
void add_delay(Fault& fault, const FaultRule& rule, const Operation& operation) {
  const bool applied =
      rule.applied.value_or(applied_by_default(rule.kind)) && operation.access != Access::reads;
  (applied ? fault.delay_after : fault.delay_before) += std::chrono::milliseconds(rule.milliseconds);
}

// Returns whether the request's contents determine if the rule applies to the request.
bool asks_request(const FaultRule& rule, const Operation& operation) {
  if (rule.kind == FaultRule::Kind::stale_reads) return false;
  if (!rule.operation.empty() && rule.operation != operation.name) return false;
  return !rule.table.empty() || rule.kind == FaultRule::Kind::transaction_conflict;
}

Fault strike(std::vector<FaultRule>& rules, const Operation& operation, const Asked& asked) {
  Fault fault;
  for (FaultRule& rule : rules) {
    if (rule.kind == FaultRule::Kind::stale_reads) continue;  // decided per read, in lag()
    if (!rule.operation.empty() && rule.operation != operation.name) continue;
    if (!rule.table.empty() && !asked.tables.contains(rule.table)) continue;
    if (rule.kind == FaultRule::Kind::unprocessed && !operation.is_batch()) continue;
    if (rule.kind == FaultRule::Kind::replicated_write_conflict && operation.access != Access::writes)
      continue;
    if (rule.count && rule.struck >= *rule.count) continue;
    if (chance(rule.seed, rule.asked++) >= rule.probability) continue;
    ++rule.struck;
    if (rule.kind == FaultRule::Kind::latency) {
      add_delay(fault, rule, operation);
      continue;
    }
    if (rule.kind == FaultRule::Kind::unprocessed) {
      fault.unprocessed = rule.items;
      continue;
    }
    fault.runs = rule.applied.value_or(applied_by_default(rule.kind));
    switch (rule.kind) {
      case FaultRule::Kind::latency:
      case FaultRule::Kind::unprocessed:
      case FaultRule::Kind::stale_reads: continue;
      case FaultRule::Kind::connection_closed: fault.closes = true; return fault;
      case FaultRule::Kind::throttle: fault.error.emplace(throttled(rule, operation)); return fault;
      case FaultRule::Kind::internal_server_error:
        fault.error = error::internal_server_error().error;
        return fault;
      case FaultRule::Kind::transaction_conflict: fault.error = conflict(asked.actions); return fault;
      case FaultRule::Kind::replicated_write_conflict:
        fault.error = error::replicated_write_conflict().error;
        return fault;
    }
  }
  return fault;
}

// Returns the text of the log message, such as "a fault struck PutItem of account 000000000000:
// ThrottlingException".
std::string sentence_of(const Fault& fault, const Operation& operation, const engine::Scope& scope) {
  std::string what;
  const auto add = [&](std::string_view text) { what.append(what.empty() ? "" : ", ").append(text); };
  if (fault.delay().count() > 0) add(std::to_string(fault.delay().count()) + " ms delay");
  if (fault.unprocessed > 0) add("items left unprocessed");
  if (fault.error) add(error_name(fault.error->kind));
  if (fault.closes) add("connection closed");
  if (fault.runs && (fault.error || fault.closes)) add("after the operation ran");
  return "a fault struck " + std::string(operation.name) + " of account " + scope.account + ": " + what;
}

// Sleeps until the time has passed or `stop` is requested.
void sleep(std::chrono::milliseconds time, const std::stop_token& stop) {
  engine::Mutex mutex;
  engine::Lock lock(mutex);
  std::condition_variable_any().wait_for(lock, stop, time, [] { return false; });
}

}  // namespace

bool can_be_applied(FaultRule::Kind kind) {
  return kind == FaultRule::Kind::internal_server_error || kind == FaultRule::Kind::connection_closed ||
         kind == FaultRule::Kind::latency;
}

bool applied_by_default(FaultRule::Kind kind) { return kind == FaultRule::Kind::latency; }

Answer Faults::run(Context& context, const Operation& operation, std::string_view body,
                   const std::stop_token& stop, const std::function<Answer()>& run) {
  const Fault fault = judge(context.scope, operation, body);
  if (fault.delay_before.count() > 0) sleep(fault.delay_before, stop);
  context.unprocessed = fault.unprocessed;
  context.lag = [&](std::string_view table) { return lag(context.scope, operation, table); };
  Answer answer;
  if (fault.runs) answer = run();
  if (const auto& notice = database_.options().notice; notice && fault.struck())
    notice(sentence_of(fault, operation, context.scope));
  if (fault.delay_after.count() > 0) hold_back(answer, fault.delay_after, stop);
  if (fault.closes) return {.status = Answer::no_status};
  if (fault.error) return error_answer(*fault.error);
  return answer;
}

void Faults::hold_back(const Answer& answer, std::chrono::milliseconds time, const std::stop_token& stop) {
  const std::size_t bytes = answer.body.capacity();
  if (late_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= late_bytes_max) sleep(time, stop);
  late_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
}

Fault Faults::judge(const engine::Scope& scope, const Operation& operation, std::string_view body) {
  const auto room = memory_.room_for(body);
  Asked asked;
  for (bool read = false;; read = true) {
    {
      const engine::Lock lock(mutex_);
      const auto found = rules_.find(scope.account);
      if (found == rules_.end()) return {};
      std::vector<FaultRule>& rules = found->second;
      const auto asks = [&](const FaultRule& rule) { return asks_request(rule, operation); };
      if (read || std::none_of(rules.begin(), rules.end(), asks)) return strike(rules, operation, asked);
    }
    asked = read_request(operation, body);  // without the lock, so the rules can change meanwhile
  }
}

std::optional<engine::Lag> Faults::lag(const engine::Scope& scope, const Operation& operation,
                                       std::string_view table) {
  const engine::Lock lock(mutex_);
  const auto found = rules_.find(scope.account);
  if (found == rules_.end()) return std::nullopt;
  for (FaultRule& rule : found->second) {
    if (rule.kind != FaultRule::Kind::stale_reads) continue;
    if (!rule.operation.empty() && rule.operation != operation.name) continue;
    if (!rule.table.empty() && rule.table != table) continue;
    if (rule.count && rule.struck >= *rule.count) continue;
    const std::int64_t read = rule.asked++;
    if (chance(rule.seed, read) >= rule.probability) continue;
    ++rule.struck;
    return lag_of(rule, read);
  }
  return std::nullopt;
}

void Faults::set(const std::string& account, std::vector<FaultRule> rules) {
  const engine::Lock setting(setting_);
  database_.recent_writes().follow(account, reaches_of(rules));
  const engine::Lock lock(mutex_);
  if (rules.empty()) {
    rules_.erase(account);
  } else {
    rules_[account] = std::move(rules);
  }
  any_ = !rules_.empty();
}

std::vector<FaultRule> Faults::rules(const std::string& account) const {
  const engine::Lock lock(mutex_);
  const auto found = rules_.find(account);
  return found == rules_.end() ? std::vector<FaultRule>() : found->second;
}

}  // namespace mayfly::compat
