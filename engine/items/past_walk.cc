#include "engine/items/past_walk.h"

#include <limits>

#include "engine/schema/item_version.h"
#include "engine/storage/key_space.h"
#include "engine/values/key_codec.h"

namespace mayfly::engine {

namespace {
// After stepping over this many versions of one item, the walk seeks past the remaining ones.
constexpr int versions_passed_max = 8;
}  // namespace

PastWalk::PastWalk(const Storage& storage, const Storage::Snapshot& snapshot, TableId table)
    : table_(table),
      items_(storage, item_key(table, 0, {}), prefix_end(item_key(table, 0, {})), &snapshot),
      versions_(storage, table_prefix('O', table), prefix_end(table_prefix('O', table)), &snapshot) {}

bool PastWalk::next() {
  if (!started_) {
    started_ = true;
    items_.seek_to_first();
    versions_.seek_to_first();
  } else {
    if (has_item_) items_.next();
    leave_versions();
  }
  const bool any_item = items_.valid(), any_version = versions_.valid();
  if (!any_item && !any_version) return false;
  const std::string_view item = any_item ? items_.key().substr(item_prefix_bytes) : std::string_view();
  const std::string_view version = any_version ? version_item_key(versions_.key()) : std::string_view();
  has_item_ = any_item && (!any_version || item <= version);
  has_version_ = any_version && (!any_item || version <= item);
  key_ = has_item_ ? item : version;
  return true;
}

VersionNumber PastWalk::number() const { return version_number(versions_.key()); }

void PastWalk::next_version() {
  versions_.next();
  has_version_ = versions_.valid() && version_item_key(versions_.key()) == key_;
}

std::optional<std::string_view> PastWalk::at(VersionNumber number) {
  while (has_version() && this->number() <= number) next_version();
  return has_version() ? version_item(version()) : item();
}

void PastWalk::leave_versions() {
  for (int passed = 0; has_version_ && passed < versions_passed_max; ++passed) next_version();
  if (!has_version_) return;
  versions_.seek(version_key(table_, key_, std::numeric_limits<VersionNumber>::max()));
  if (versions_.valid() && version_item_key(versions_.key()) == key_) versions_.next();
}

}  // namespace mayfly::engine
