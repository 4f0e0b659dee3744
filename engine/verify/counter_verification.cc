#include "engine/verify/counter_verification.h"

#include <utility>

#include "engine/base/byte_order.h"
#include "engine/storage/key_space.h"

namespace mayfly::engine {
namespace {

// Returns nullopt if the value is malformed.
std::optional<Counts> counts_in(std::string_view value) {
  if (value.size() != counter_bytes) return std::nullopt;
  return Counts{read_little_endian<std::int64_t>(value), read_little_endian<std::int64_t>(value.substr(8))};
}

std::string text(const Counts& counts) {
  return std::to_string(counts.items) + " (" + std::to_string(counts.bytes) + " bytes)";
}

}  // namespace

void check_counter(const KeyView& keys, const std::string& key, const std::optional<Counts>& present,
                   const Counts& right, const std::string& what, Findings& findings) {
  std::optional<Counts> says = Counts{};
  std::string value;
  if (present)
    says = present;
  else if (keys.get(key, value))
    says = counts_in(value);
  if (says == right) return;
  std::string mended;
  append_little_endian(mended, right.items);
  append_little_endian(mended, right.bytes);
  Batch mend;
  mend.put(key, mended);
  findings.add({"a wrong counter",
                what + (says ? " says " + text(*says) : " is malformed") + "; there are " + text(right),
                std::move(mend),
                {}});
}

}  // namespace mayfly::engine
