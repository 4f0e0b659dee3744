#include "engine/verify/history_verification.h"

#include <algorithm>
#include <utility>

#include "engine/items/past_walk.h"
#include "engine/schema/index_entries.h"
#include "engine/schema/item_version.h"
#include "engine/schema/readable_key.h"
#include "engine/storage/key_space.h"
#include "engine/values/checked_item.h"
#include "engine/values/item_codec.h"
#include "engine/values/key_codec.h"

namespace mayfly::engine {

// Returns a description of the version's flaw, or an empty string if the version has no flaw.
std::string HistoryVerification::flaw_of(std::string_view key, std::string_view version) const {
  if (!is_version_key(key)) return "its key is malformed";
  if (!is_version(version)) return "its bytes are malformed";
  if (version_at(version) < 0 || version_at(version) > last_instant) return "its time is out of range";
  const auto stored = version_item(version);
  if (!stored) return {};
  const auto item = checked_item(*stored);
  if (!item) return item.error();
  return table_key(table_.keys, *item) == version_item_key(key) ? "" : "it holds another item";
}

void HistoryVerification::check_versions(const std::string& counter, const std::optional<Counts>& present) {
  const std::string prefix = table_prefix('O', table_.id);
  Counts right;
  for (KeyView::Walk walk(keys_, prefix, prefix_end(prefix)); walk.valid(); walk.next()) {
    if (is_version_key(walk.key())) {
      const VersionNumber number = version_number(walk.key());
      if (up_to_ && number > *up_to_) continue;
      last_number_ = std::max(last_number_, number);
    }
    findings_.pass(findings_.checked.versions);
    ++right.items;
    right.bytes += static_cast<std::int64_t>(walk.key().size() + walk.value().size());
    const std::string flaw = flaw_of(walk.key(), walk.value());
    if (flaw.empty()) continue;
    sound_ = false;
    const std::string whose = is_version_key(walk.key())
                                  ? readable_key(table_.keys, version_item_key(walk.key()))
                                  : hexadecimal(walk.key());
    found("an old version that cannot be decoded",
          "an old version of the item " + whose + " cannot be decoded: " + flaw, {},
          keys_.holding(walk.key()));
  }
  if (!sound_) return;
  check_counter(keys_, counter, present, right, name_ + ": the counter of the old versions of its items",
                findings_);
}

void HistoryVerification::check_point(const Storage& storage, const Storage::Snapshot& at,
                                      const Point& point) {
  // A point by instant has the counts of the time when the point was taken, not the counts of its instant.
  if (point.by_instant) return;
  Counts there;
  for (PastWalk walk(storage, at, table_.id); walk.next();) {
    const auto stored = walk.at(point.number);
    if (!stored) continue;
    // An item that cannot be decoded is reported elsewhere; without it, the counts cannot be checked.
    const auto item = checked_item(*stored);
    if (!item) return;
    ++there.items;
    there.bytes += stored_item_size(*stored);
  }
  if (there == Counts{point.items, point.bytes}) return;
  Point right = point;
  right.items = there.items;
  right.bytes = there.bytes;
  Batch mend;
  mend.put(point_key(point.id), point_bytes(right));
  found("a point with wrong counts",
        "point " + std::to_string(point.id) + " had " + std::to_string(point.items) + " items (" +
            std::to_string(point.bytes) + " bytes) when it was taken, but now has " +
            std::to_string(there.items) + " (" + std::to_string(there.bytes) + " bytes)",
        std::move(mend));
}

void HistoryVerification::found(std::string_view kind, const std::string& what, Batch mend,
                                std::vector<std::string> keys) {
  findings_.add({kind, name_ + ": " + what, std::move(mend), std::move(keys)});
}

}  // namespace mayfly::engine
