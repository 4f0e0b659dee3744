// Limits on what clients can create. A request that exceeds one gets LimitExceededException, or the error
// that its API uses instead.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "compat/wire/error.h"
#include "engine/base/mutex.h"

namespace mayfly::engine {
class Database;
}

namespace mayfly::compat {

struct Limits {
  std::size_t accounts_max = 10'000;
  std::size_t tables_max = 2'500;                         // per account and region: AWS's default quota
  std::size_t snapshots_max = 1'000;                      // per account
  std::size_t backups_max = 1'000;                        // per account, across all its regions
  std::size_t parsed_bytes_max = std::size_t{256} << 20;  // of all parsed requests together: request_memory.h
};

// Checks the memory limit. Call it before a table, an index, an item or a snapshot is made. Error: "The
// server's memory limit is reached (8589934592 bytes, set by --memory-max)."
Result<void> check_room(const engine::Database& database);

// The accounts that requests have named. An account is never removed, because it has a clock. Thread-safe.
class KnownAccounts {
 public:
  explicit KnownAccounts(std::size_t accounts_max) : accounts_max_(accounts_max) {}

  // Adds an account that already exists, regardless of the limit.
  void add(std::string_view account);
  // Adds the account if it is new. Error: "Too many accounts on this server (limit 10000,
  // set by --accounts-max)."
  Result<void> admit(std::string_view account);
  [[nodiscard]] std::size_t count() const;

 private:
  const std::size_t accounts_max_;
  mutable engine::SharedMutex mutex_;
  std::set<std::string, std::less<>> accounts_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::compat
