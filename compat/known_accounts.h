// The accounts that requests have named. An account is never removed, because its clock must be kept.
// Thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "compat/wire/error.h"
#include "engine/base/mutex.h"

namespace mayfly::compat {

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
