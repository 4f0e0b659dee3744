// Verifies that old versions of items (history.h) can be used to read past states: each version can be
// decoded, belongs to an existing commit and holds the item that its key names; the counters agree with the
// versions; and each point has as many items and bytes as it had when it was taken.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "engine/storage/storage.h"
#include "engine/tables/points.h"
#include "engine/verify/findings.h"
#include "engine/verify/key_view.h"
#include "engine/verify/table_verification.h"

namespace mayfly::engine {

// Verifies one table.
class HistoryVerification {
 public:
  // Requires: the referenced arguments outlive this object. `name` is the table's name in messages. `up_to`
  // is set if a snapshot is verified: later versions are skipped, because the snapshot does not include them.
  HistoryVerification(const KeyView& keys, const Table& table, std::string name,
                      std::optional<VersionNumber> up_to, Findings& findings)
      : keys_(keys), table_(table), name_(std::move(name)), up_to_(up_to), findings_(findings) {}

  // `counter` is the key of the counter of versions. `present` is the value to check; if it is nullopt, the
  // value in storage is checked.
  void check_versions(const std::string& counter, const std::optional<Counts>& present);

  // The highest number among the checked versions.
  [[nodiscard]] VersionNumber last_number() const { return last_number_; }
  [[nodiscard]] bool sound() const { return sound_; }  // every checked version can be decoded

  // Checks a point of the table against the state of storage at `at`. Requires: all versions of the
  // table are sound.
  void check_point(const Storage& storage, const Storage::Snapshot& at, const Point& point);

 private:
  [[nodiscard]] std::string flaw_of(std::string_view key, std::string_view version) const;
  void found(std::string_view kind, const std::string& what, Batch mend, std::vector<std::string> keys = {});

  const KeyView& keys_;
  const Table& table_;
  const std::string name_;
  const std::optional<VersionNumber> up_to_;
  Findings& findings_;
  VersionNumber last_number_ = 0;
  bool sound_ = true;
};

}  // namespace mayfly::engine
