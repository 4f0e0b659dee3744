// Injects failures. Rules make an account's operations fail, respond late or not at all, leave work undone,
// or read old data, as can happen on AWS. A rule's decisions depend only on its count and its seed, so a test
// that runs twice sees the same failures.
//
//   faults.set(account, {{.operation = "PutItem", .kind = FaultRule::Kind::throttle, .count = 2}});
//   Answer answer = faults.run(context, operation, body, stop, run);   // no fault for the third PutItem
//
// Thread-safe. While there are no rules, each operation costs one relaxed atomic load. A request body is
// parsed only if a rule depends on its contents, and never under the lock.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "compat/wire/error.h"
#include "engine/base/mutex.h"
#include "engine/tables/catalog.h"
#include "engine/values/sight.h"

namespace mayfly::engine {
class Database;
}

namespace mayfly::compat {

struct Answer;
struct Context;
struct Fault;
struct Operation;
class RequestMemory;

struct FaultRule {
  enum class Kind {
    throttle,
    internal_server_error,
    latency,
    connection_closed,
    unprocessed,
    transaction_conflict,
    stale_reads,
    replicated_write_conflict,
  };

  std::string operation;  // empty: every operation
  std::string table;      // empty: every table
  Kind kind = Kind::throttle;
  std::optional<Error::Kind> exception;  // for throttle; nullopt: AWS's exception for the operation
  std::optional<bool> applied;           // whether the operation runs; nullopt: see applied_by_default
  std::int64_t milliseconds = 0;        // for latency: the delay; for stale_reads: maximum lag (0: unlimited)
  std::int64_t writes = 0;              // for stale_reads: maximum lag (0: unlimited)
  std::size_t items = ~std::size_t{0};  // for unprocessed: number of items at the batch's end
  std::optional<std::int64_t> count;    // the rule becomes inactive after this many faults
  double probability = 1;
  std::uint64_t seed = 0;

  std::int64_t asked = 0, struck = 0;  // requests that matched the rule; faults that the rule caused
};

// Whether rules of this kind can have the member `applied`, and the default of that member. By default, a
// latency fault delays the response of an operation that has run, and other faults replace the operation.
bool can_be_applied(FaultRule::Kind kind);
bool applied_by_default(FaultRule::Kind kind);

class Faults {
 public:
  // The responses that latency faults hold back take at most this memory; further ones are sent immediately.
  static constexpr std::size_t late_bytes_max = std::size_t{64} << 20;

  // `database` and `memory` must outlive this object.
  Faults(engine::Database& database, RequestMemory& memory) : database_(database), memory_(memory) {}

  [[nodiscard]] bool any() const { return any_.load(std::memory_order_relaxed); }

  // Runs an operation under its account's rules: sets the context's `unprocessed` and `lag`, and then calls
  // `run` unless a fault replaces the operation. `run` runs the operation in that context. Returns the
  // response, or Answer::no_status if the client gets no response. A delay ends when `stop` is requested.
  Answer run(Context& context, const Operation& operation, std::string_view body, const std::stop_token& stop,
             const std::function<Answer()>& run);

  void set(const std::string& account, std::vector<FaultRule> rules);  // replaces the account's rules
  [[nodiscard]] std::vector<FaultRule> rules(const std::string& account) const;

 private:
  Fault judge(const engine::Scope& scope, const Operation& operation, std::string_view body);
  // Returns how far behind an eventually consistent read of the table is, or nullopt if it sees the latest
  // state. Each call counts as one read.
  std::optional<engine::Lag> lag(const engine::Scope& scope, const Operation& operation,
                                 std::string_view table);
  void hold_back(const Answer& answer, std::chrono::milliseconds time, const std::stop_token& stop);

  engine::Database& database_;
  RequestMemory& memory_;
  std::atomic<std::size_t> late_bytes_{0};
  engine::Mutex setting_;  // serializes set(); acquired before the commit section
  std::atomic<bool> any_{false};
  mutable engine::Mutex mutex_;
  std::map<std::string, std::vector<FaultRule>> rules_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::compat
