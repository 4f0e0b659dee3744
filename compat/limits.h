// How many there may be at once of what clients can make. What is one too many gets LimitExceededException,
// or what the API in question says instead.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "compat/wire/error.h"
#include "engine/mutex.h"

namespace mayfly::compat {

struct Limits {
  std::size_t accounts_max = 10'000;
  std::size_t tables_max = 2'500;     // of an account in a region: AWS's quota where nobody had it raised
  std::size_t snapshots_max = 1'000;  // of an account
  std::size_t backups_max = 1'000;    // of an account, in all its regions
  std::size_t parsed_bytes_max = std::size_t{256} << 20;  // of parsed requests: request_memory.h
};

// The accounts that requests have named. None is ever forgotten: an account is a clock, too. Thread-safe.
class KnownAccounts {
 public:
  explicit KnownAccounts(std::size_t accounts_max) : accounts_max_(accounts_max) {}

  // One that there is already, whatever may be.
  void add(std::string_view account);
  // "This server has as many accounts as it may: 10000 (--accounts-max)."
  Result<void> admit(std::string_view account);
  [[nodiscard]] std::size_t count() const;

 private:
  const std::size_t accounts_max_;
  mutable engine::SharedMutex mutex_;
  std::set<std::string, std::less<>> accounts_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::compat
