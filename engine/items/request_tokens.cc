#include "engine/items/request_tokens.h"

#include <algorithm>

#include "engine/base/check.h"
#include "engine/storage/key_space.h"
#include "engine/values/account_id.h"
#include "engine/values/key_codec.h"

namespace mayfly::engine {

namespace {

constexpr std::size_t forgotten_at_once_max = 16;  // more than one, so that each new use shortens a long list

bool is_over(Instant used, Instant now) { return now - used > request_token_ms; }

std::string use_key(std::string_view name, Instant used) {
  std::string key = "Q";
  key.append(name);
  append_big_endian(key, static_cast<std::uint64_t>(used));
  return key;
}

// Returns the account that the name begins with.
std::string_view account_of(std::string_view name) { return name.substr(0, name.find('\0')); }

// Whether name_of() can return this name.
bool is_name(std::string_view name) {
  const std::size_t account_end = name.find('\0');
  if (account_end == std::string_view::npos || !is_account_id(account_of(name))) return false;
  const std::size_t region_end = name.find('\0', account_end + 1);
  if (region_end == std::string_view::npos || region_end + 1 >= name.size()) return false;
  return name.size() - region_end - 2 == static_cast<unsigned char>(name[region_end + 1]);
}

Instant used_in(std::string_view bytes) {
  return static_cast<Instant>(read_big_endian<std::uint64_t>(bytes));
}

std::string age_prefix(std::string_view account) { return std::string("U").append(account); }

std::string age_key(std::string_view account, std::string_view name, Instant used) {
  std::string key = age_prefix(account);
  append_big_endian(key, static_cast<std::uint64_t>(used));
  return key.append(name);
}

}  // namespace

std::string RequestTokens::name_of(const Scope& scope, std::string_view token) {
  MAYFLY_CHECK(token.size() <= request_token_bytes_max);
  std::string name = scope.account;
  name.push_back('\0');
  name += scope.region;
  name.push_back('\0');
  name.push_back(static_cast<char>(token.size()));
  return name.append(token);
}

std::optional<std::string> RequestTokens::age_of_use(std::string_view key) {
  if (key.size() < 1 + sizeof(std::uint64_t)) return std::nullopt;
  const std::string_view name = key.substr(1, key.size() - 1 - sizeof(std::uint64_t));
  if (!is_name(name)) return std::nullopt;
  return age_key(account_of(name), name, used_in(key.substr(1 + name.size())));
}

std::optional<std::string> RequestTokens::use_of_age(std::string_view key) {
  constexpr std::size_t name_at = 1 + account_id_digits + sizeof(std::uint64_t);
  if (key.size() < name_at || !is_name(key.substr(name_at))) return std::nullopt;
  const std::string_view name = key.substr(name_at);
  if (account_of(name) != key.substr(1, account_id_digits)) return std::nullopt;
  return use_key(name, used_in(key.substr(1 + account_id_digits)));
}

std::optional<std::string> RequestTokens::find(std::string_view name, Instant now) const {
  const std::string prefix = std::string("Q").append(name);
  Storage::Iterator iterator(storage_, prefix, prefix_end(prefix));
  iterator.seek_to_last();
  if (!iterator.valid()) return std::nullopt;
  const Instant used = used_in(iterator.key().substr(prefix.size()));
  if (is_over(used, now)) return std::nullopt;
  return std::string(iterator.value());
}

void RequestTokens::stage_use(Batch& batch, std::string_view name, std::string_view digest, Instant now) {
  const std::string_view account = account_of(name);
  const Lock lock(mutex_);
  const std::string prefix = age_prefix(account);
  // Uses with keys smaller than `ripe_end` can be erased. No caller stages a new use with such a key.
  const std::string ripe_end = age_key(account, {}, std::max<Instant>(now - request_token_ms, 0));
  std::string& oldest = oldest_.try_emplace(std::string(account), prefix).first->second;
  oldest = std::min(oldest, ripe_end);  // the clock may have been set back
  Storage::Iterator iterator(storage_, oldest, ripe_end);
  iterator.seek_to_first();
  for (std::size_t i = 0; i < forgotten_at_once_max && iterator.valid(); ++i, iterator.next()) {
    const std::string_view rest = iterator.key().substr(prefix.size());
    batch.erase(iterator.key());
    batch.erase(use_key(rest.substr(sizeof(std::uint64_t)), used_in(rest)));
  }
  oldest = iterator.valid() ? std::string(iterator.key()) : ripe_end;
  batch.put(use_key(name, now), digest);
  batch.put(age_key(account, name, now), {});
}

void RequestTokens::stage_forgetting(Batch& batch, std::string_view account) {
  const std::string ages = age_prefix(account);
  storage_.erase_range(batch, ages, prefix_end(ages));
  const std::string uses = std::string("Q").append(account);
  storage_.erase_range(batch, uses, prefix_end(uses));
  const Lock lock(mutex_);
  oldest_.erase(std::string(account));
}

}  // namespace mayfly::engine
