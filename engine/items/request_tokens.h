// The tokens of idempotent requests. A request that repeats its token within ten minutes is recognized.
//
// The use of a token is committed in the same batch as the request's writes (Transaction::use_token), so that
// after a crash either both exist or neither exists. The ten minutes are measured by the account's clock,
// which tests can move.
//
//   'Q' account 0 region 0 length:u8 token used:u64   digest   the digest of the request
//   'U' account used:u64 key                          empty    an index of uses by age; `key` is the
//                                                              key above without 'Q' and `used`
//
// A token that is used again after its ten minutes has two keys, and only the later one counts. Because a new
// use has its own key, erasing an old use never erases a new one, and needs no lock.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/storage/storage.h"
#include "engine/tables/catalog.h"

namespace mayfly::engine {

inline constexpr Instant request_token_ms = 10 * 60 * 1000;
inline constexpr std::size_t request_token_bytes_max = 255;

class RequestTokens {
 public:
  explicit RequestTokens(const Storage& storage) : storage_(storage) {}

  // Returns the name by which the functions below identify the token.
  // Requires: `token` has at most request_token_bytes_max bytes.
  static std::string name_of(const Scope& scope, std::string_view token);

  // The other key of a token's use: the key of kind 'U' for a key of kind 'Q', and vice versa. nullopt if the
  // key is malformed.
  static std::optional<std::string> age_of_use(std::string_view key);
  static std::optional<std::string> use_of_age(std::string_view key);

  // Returns the digest of the token's last use; nullopt if the token was not used in the last ten minutes.
  [[nodiscard]] std::optional<std::string> find(std::string_view name, Instant now) const;
  // Stages the use, and the erasure of some of the account's uses that are too old.
  void stage_use(Batch& batch, std::string_view name, std::string_view digest, Instant now);
  // Stages the erasure of all uses in the account, because its clock is being replaced.
  void stage_forgetting(Batch& batch, std::string_view account);

 private:
  const Storage& storage_;
  // For each account, the key of kind 'U' at which walks start. All uses before it have been erased. So walks
  // never pass the tombstones of erased uses again, no matter how many uses one instant has. (If the write
  // that erases some uses fails, they remain until the storage is opened again. find() ignores them because
  // they are too old.)
  Mutex mutex_;
  std::map<std::string, std::string, std::less<>> oldest_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::engine
