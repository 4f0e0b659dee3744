// The tokens of idempotent requests. A request that repeats its token within ten minutes is recognized.
//
// The use of a token is committed in the same batch as the request's writes (Transaction::use_token), so that
// after a crash both exist or both do not. The ten minutes are measured by the account's clock, which tests
// can move.
//
//   'Q' account 0 region 0 length:u8 token used:u64   digest   of the request
//   'U' account used:u64 key                          empty    index by age, for forgetting; key: the
//                                                              above without its 'Q' and `used`
//
// A token that is used again after its ten minutes has two keys, and the later one counts. So forgetting an
// old use never erases a new one, and needs no lock.
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

  // The token's name in the calls below.
  // Requires: `token` has at most request_token_bytes_max bytes.
  static std::string name_of(const Scope& scope, std::string_view token);

  // The other key of a token's use: the key of kind 'U' for a key of kind 'Q', and vice versa. nullopt if the
  // key is malformed.
  static std::optional<std::string> age_of_use(std::string_view key);
  static std::optional<std::string> use_of_age(std::string_view key);

  // The digest of the token's last use; nullopt if there was no use or it was more than ten minutes ago.
  [[nodiscard]] std::optional<std::string> find(std::string_view name, Instant now) const;
  // Stages the use, and the erasure of some uses in the account that are too old.
  void stage_use(Batch& batch, std::string_view name, std::string_view digest, Instant now);
  // Stages the erasure of all uses in the account, because its clock is being replaced.
  void stage_forgetting(Batch& batch, std::string_view account);

 private:
  const Storage& storage_;
  // For each account, the key of kind 'U' at which walks start. All uses before it have been erased. Walks
  // therefore never pass their tombstones again, however many uses one instant has. (If the write that erases
  // them fails, they remain until the storage is opened again. They are too old to be found.)
  Mutex mutex_;
  std::map<std::string, std::string, std::less<>> oldest_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::engine
