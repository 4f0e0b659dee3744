// The tokens of idempotent requests: a request that comes again with its token within ten minutes is
// recognised.
//
// A token's use is committed in the batch of the writes it stands for (Transaction::use_token), so that after
// a crash either both are there or neither. Its time is the clock's, which tests may move.
//
//   'Q' account 0 region 0 length:u8 token used:u64   digest    what was asked for, and when
//   'U' account used:u64 key                          nothing   the same by age, for forgetting; key: the
//                                                               above without its 'Q' and `used`
//
// A token that was used again after its ten minutes has two keys of which the later one counts. So forgetting
// an old use can never take a new one with it, and needs no lock.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/catalog.h"
#include "engine/clock.h"
#include "engine/mutex.h"
#include "engine/storage.h"

namespace mayfly::engine {

inline constexpr Instant request_token_ms = 10 * 60 * 1000;
inline constexpr std::size_t request_token_bytes_max = 255;

class RequestTokens {
 public:
  explicit RequestTokens(const Storage& storage) : storage_(storage) {}

  // How a token is named here. Requires: `token` has at most request_token_bytes_max bytes.
  static std::string name_of(const Scope& scope, std::string_view token);

  // The other key of a token's use: of kind 'U' for one of 'Q', and the other way. Nothing: it is no such
  // key.
  static std::optional<std::string> age_of_use(std::string_view key);
  static std::optional<std::string> use_of_age(std::string_view key);

  // The digest that the token was last used with, unless that was more than ten minutes ago.
  [[nodiscard]] std::optional<std::string> find(std::string_view name, Instant now) const;
  // Stages the use, and forgets some of the account's that are too old.
  void stage_use(Batch& batch, std::string_view name, std::string_view digest, Instant now);
  // Stages forgetting all of the account's: its time begins anew.
  void stage_forgetting(Batch& batch, std::string_view account);

 private:
  const Storage& storage_;
  // By account, a key of 'U': uses before it are forgotten, and their tombstones are never walked again,
  // however many uses one instant has. (If the write that was to erase them failed, they stay until the next
  // opening, too old to be found.)
  Mutex mutex_;
  std::map<std::string, std::string, std::less<>> oldest_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::engine
