// Injects failures: rules that make an account's operations fail, respond late or not at all, leave work
// undone, or read old data, as AWS's do on a bad day. A rule's decisions depend only on its count and its
// seed, so a test that runs twice sees the same failures.
//
//   faults.set(account, {{.operation = "PutItem", .kind = FaultRule::Kind::throttle, .count = 2}});
//   Fault fault = faults.judge(scope, operation, body);   // no fault for the third PutItem
//   auto lag = faults.lag(scope, operation, "carts");     // from a rule of kind stale_reads
//
// Thread-safe. Without rules, an operation pays for one relaxed load. A request body is parsed only if a rule
// depends on its contents, and never under the lock.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/wire/error.h"
#include "engine/base/mutex.h"
#include "engine/items/recent_writes.h"
#include "engine/tables/catalog.h"
#include "engine/values/sight.h"

namespace mayfly::json {
class Value;
}

namespace mayfly::compat {

struct Operation;

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
  std::optional<Error::Kind> exception;  // for throttle; nullopt: the one that AWS returns for the operation
  std::optional<bool> applied;           // whether the operation runs; nullopt: see applied_by_default
  std::int64_t milliseconds = 0;        // for latency: the delay; for stale_reads: maximum lag (0: unlimited)
  std::int64_t writes = 0;              // for stale_reads: maximum lag (0: unlimited)
  std::size_t items = ~std::size_t{0};  // for unprocessed: how many, from the batch's end
  std::optional<std::int64_t> count;    // after this many faults the rule is inactive
  double probability = 1;
  std::uint64_t seed = 0;

  std::int64_t asked = 0, struck = 0;  // requests that matched the rule; faults that it caused
};

// Whether rules of this kind can have the member `applied`, and its default. Latency delays the response of
// an operation that has run; the other faults replace the operation.
bool can_be_applied(FaultRule::Kind kind);
bool applied_by_default(FaultRule::Kind kind);

// What happens to one request; the members are in the order in which they take effect.
struct Fault {
  std::chrono::milliseconds delay_before{0};
  bool runs = true;             // false: the operation is skipped
  std::size_t unprocessed = 0;  // how many items at the batch's end
  std::chrono::milliseconds delay_after{0};
  std::optional<Error> error;  // replaces the operation's response
  bool closes = false;         // the client gets no response: its connection is closed
  [[nodiscard]] std::chrono::milliseconds delay() const { return delay_before + delay_after; }
  [[nodiscard]] bool struck() const { return delay().count() > 0 || error || closes || unprocessed > 0; }
};

// Limits the memory of responses that latency faults hold back.
class LateAnswers {
 public:
  static constexpr std::size_t bytes_max = std::size_t{64} << 20;
  // Returns false if the limit is reached: the response must then be sent immediately.
  [[nodiscard]] bool add(std::size_t bytes) {
    if (bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= bytes_max) return true;
    subtract(bytes);
    return false;
  }
  void subtract(std::size_t bytes) { bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> bytes_{0};
};

class Faults {
 public:
  // `recent` must outlive this object. It keeps recent writes to the tables that stale reads can target.
  explicit Faults(engine::RecentWrites& recent) : recent_(recent) {}

  [[nodiscard]] bool any() const { return any_.load(std::memory_order_relaxed); }
  Fault judge(const engine::Scope& scope, const Operation& operation, std::string_view body);

  // Returns how far behind an eventually consistent read of the table is, or nullopt if it sees the latest
  // state. Each call counts as one read.
  std::optional<engine::Lag> lag(const engine::Scope& scope, const Operation& operation,
                                 std::string_view table);

  void set(const std::string& account, std::vector<FaultRule> rules);  // replaces the account's rules
  [[nodiscard]] std::vector<FaultRule> rules(const std::string& account) const;

 private:
  engine::RecentWrites& recent_;
  engine::Mutex setting_;  // one set() at a time; acquired before the commit section
  std::atomic<bool> any_{false};
  mutable engine::Mutex mutex_;
  std::map<std::string, std::vector<FaultRule>> rules_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::compat
