#include "engine/request_tokens.h"

#include <cassert>

#include "engine/key_codec.h"
#include "engine/key_space.h"

namespace mayfly::engine {

namespace {

constexpr std::size_t forgotten_at_once_max = 16;  // more than one: the list shrinks while it is used

bool is_over(Instant used, Instant now) { return now - used > request_token_ms; }

std::string use_key(std::string_view name, Instant used) {
  std::string key = "Q";
  key.append(name);
  append_big_endian(key, static_cast<std::uint64_t>(used));
  return key;
}

std::string age_key(std::string_view name, Instant used) {
  std::string key = "U";
  append_big_endian(key, static_cast<std::uint64_t>(used));
  return key.append(name);
}

}  // namespace

std::string RequestTokens::name_of(const Scope& scope, std::string_view token) {
  assert(token.size() <= request_token_bytes_max);
  std::string name = scope.account;
  name.push_back('\0');
  name += scope.region;
  name.push_back('\0');
  name.push_back(static_cast<char>(token.size()));
  return name.append(token);
}

std::optional<std::string> RequestTokens::find(std::string_view name, Instant now) const {
  const std::string prefix = std::string("Q").append(name);
  Storage::Iterator iterator(storage_, prefix, prefix_end(prefix));
  iterator.seek_to_last();
  if (!iterator.valid()) return std::nullopt;
  const auto used = static_cast<Instant>(read_big_endian<std::uint64_t>(iterator.key().substr(prefix.size())));
  if (is_over(used, now)) return std::nullopt;
  return std::string(iterator.value());
}

void RequestTokens::stage_use(Batch& batch, std::string_view name, std::string_view digest, Instant now) {
  const std::string oldest = age_key({}, oldest_);
  Storage::Iterator iterator(storage_, oldest, prefix_end("U"));
  iterator.seek_to_first();
  for (std::size_t i = 0; i < forgotten_at_once_max && iterator.valid(); ++i, iterator.next()) {
    const std::string_view rest = iterator.key().substr(1);
    const auto used = static_cast<Instant>(read_big_endian<std::uint64_t>(rest));
    if (!is_over(used, now)) break;
    batch.erase(iterator.key());
    batch.erase(use_key(rest.substr(sizeof(std::uint64_t)), used));
    oldest_ = used;
  }
  batch.put(use_key(name, now), digest);
  batch.put(age_key(name, now), {});
}

}  // namespace mayfly::engine
