#include "compat/known_accounts.h"

namespace mayfly::compat {

void KnownAccounts::add(std::string_view account) {
  const engine::Lock lock(mutex_);
  accounts_.emplace(account);
}

Result<void> KnownAccounts::admit(std::string_view account) {
  {
    const engine::SharedLock lock(mutex_);
    if (accounts_.contains(account)) return {};
  }
  const engine::Lock lock(mutex_);
  if (accounts_.size() >= accounts_max_ && !accounts_.contains(account))
    return error::limit_exceeded("Too many accounts on this server (limit " + std::to_string(accounts_max_) +
                                 ", set by --accounts-max).");
  accounts_.emplace(account);
  return {};
}

std::size_t KnownAccounts::count() const {
  const engine::SharedLock lock(mutex_);
  return accounts_.size();
}

}  // namespace mayfly::compat
