// Failures on demand: rules that make an account's operations fail, answer late or not at all, leave work
// undone, or read old data, as AWS's do on a bad day. A rule's decisions depend on its count and its seed
// alone, so a test's second run is like its first.
//
//   faults.set(account, {{.operation = "PutItem", .kind = FaultRule::Kind::throttle, .count = 2}});
//   Fault fault = faults.judge(scope, operation, body);      // of the third PutItem: nothing
//   auto lag = faults.lag(scope, operation, "carts");         // of a rule of the kind stale_reads
//
// Thread-safe. While there are no rules, an operation pays for one relaxed load. A body is parsed where a
// rule asks for what is in it, and nobody waits for another's.
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
#include "engine/catalog.h"
#include "engine/mutex.h"
#include "engine/recent_writes.h"
#include "engine/sight.h"

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

  std::string operation;  // empty: every one
  std::string table;      // empty: whichever it is about
  Kind kind = Kind::throttle;
  std::optional<Error::Kind> exception;  // of throttle; nothing: as AWS would for the operation
  std::optional<bool> applied;           // whether the operation runs; nothing: as applied_by_default says
  std::int64_t milliseconds = 0;         // of latency; of stale_reads, the most: 0 is no bound
  std::int64_t writes = 0;               // of stale_reads, the most: 0 is no bound
  std::size_t items = ~std::size_t{0};   // of unprocessed: how many, from the batch's end
  std::optional<std::int64_t> count;     // after so many the rule rests
  double probability = 1;
  std::uint64_t seed = 0;

  std::int64_t asked = 0, struck = 0;  // requests that it fits; those that it made fail
};

// Whether rules of the kind can have the member `applied`, and its default. Latency delays the answer of an
// operation that has run; the other faults come before the operation.
bool can_be_applied(FaultRule::Kind kind);
bool applied_by_default(FaultRule::Kind kind);

// What happens to one request, in this order.
struct Fault {
  std::chrono::milliseconds delay_before{0};
  bool runs = true;             // false: the operation does not run
  std::size_t unprocessed = 0;  // items at the batch's end
  std::chrono::milliseconds delay_after{0};
  std::optional<Error> error;  // replaces the operation's answer
  bool closes = false;         // the client gets no answer: its connection is closed
  [[nodiscard]] std::chrono::milliseconds delay() const { return delay_before + delay_after; }
  [[nodiscard]] bool struck() const { return delay().count() > 0 || error || closes || unprocessed > 0; }
};

// The bytes of the answers that latency holds back.
class LateAnswers {
 public:
  static constexpr std::size_t bytes_max = std::size_t{64} << 20;
  // Returns false if the limit is reached: the answer is then sent at once.
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
  // `recent` outlives it: what was written to the tables of which reads may be behind.
  explicit Faults(engine::RecentWrites& recent) : recent_(recent) {}

  [[nodiscard]] bool any() const { return any_.load(std::memory_order_relaxed); }
  Fault judge(const engine::Scope& scope, const Operation& operation, std::string_view body);

  // How far behind an eventually consistent read of the table is; nothing: it sees all. Each call is a read.
  std::optional<engine::Lag> lag(const engine::Scope& scope, const Operation& operation,
                                 std::string_view table);

  void set(const std::string& account, std::vector<FaultRule> rules);  // instead of those it had
  [[nodiscard]] std::vector<FaultRule> rules(const std::string& account) const;

 private:
  engine::RecentWrites& recent_;
  engine::Mutex setting_;  // one set() at a time; taken before the commit section
  std::atomic<bool> any_{false};
  mutable engine::Mutex mutex_;
  std::map<std::string, std::vector<FaultRule>> rules_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::compat
