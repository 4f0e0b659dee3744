// Settles one item that is due: deletes it, updates its index entry, or removes it from the index. Each write
// has a condition, so the decision still holds at the instant of the write.
//
//   Departures departures(client, layout, {"id"}, pace, options);
//   departures.settle(entry, now, generation).outcome == Outcome::deleted
//
// docs/sweep.md shows what each outcome writes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/aws/client.h"
#include "cli/sweep/layout.h"
#include "cli/sweep/pace.h"
#include "engine/base/clock.h"

namespace mayfly::sweep {

// An item's entry in the index.
struct Entry {
  std::string key;                 // the item's key, as JSON
  std::string window;              // the window attribute's value in the index
  std::string at;                  // the sort key, a Number as a string
  std::optional<std::string> ttl;  // the item's TTL, if the index contains it
};

enum class Outcome : std::uint8_t {
  deleted,
  rearmed,   // the TTL is later or the window was wrong; the entry now names the right time
  lost,      // another writer was first: the item no longer exists or has a new entry
  released,  // entry removed: the TTL is missing, is not a number or is over five years past
  failed,    // the item is unchanged and is examined again later
};

struct Settled {
  Outcome outcome = Outcome::failed;
  engine::Instant due = 0;            // the expiry time of a deleted item
  std::optional<aws::Failure> why{};  // the reason for `failed`
  std::uint8_t throttles = 0;
};

struct DepartureOptions {
  std::string mark_attribute;  // written before a deletion; empty: no mark
  bool dry_run = false;        // reads what the decision depends on, and writes nothing
};

// The beginning of the mark attribute's value. The generation of the shard's lease follows it.
inline constexpr std::string_view mark_prefix = "mayfly-sweep/";

// Thread-safe.
class Departures {
 public:
  // All references must outlive this object. `key_attributes` names the table's key attributes.
  Departures(aws::Client& client, const Layout& layout, std::vector<std::string> key_attributes, Pace& pace,
             DepartureOptions options);

  // `now` must not be later than the endpoint's time. `generation` is the generation of the lease on the
  // entry's shard.
  Settled settle(const Entry& entry, engine::Instant now, std::int64_t generation);

  // Returns the key of an item from a query or a scan, as JSON; empty if the item lacks a key attribute.
  [[nodiscard]] std::string key_of(const Tree& item) const;
  [[nodiscard]] const std::vector<std::string>& key_attributes() const { return key_attributes_; }
  // For a scan: writes the place where an item belongs if the item has not changed since it was read. The
  // outcome is `lost` if nothing was written.
  Settled arm(const Tree& item, std::string_view ttl, const Place& place);

 private:
  // What prevented a conditional write. The result of a write is nullopt if the write was made.
  struct Obstacle {
    std::shared_ptr<const Tree> item{};     // the item as found; nullptr: it does not exist
    std::optional<aws::Failure> failure{};  // set if the write failed for any reason other than its condition
  };
  using Write = std::optional<Obstacle>;
  Write write(std::string_view operation, const std::string& body, const std::string& key, Settled& settled);
  Obstacle read(const std::string& key);
  [[nodiscard]] Write remove(const Entry& entry, std::string_view ttl, engine::Instant now,
                             std::int64_t generation, Settled& settled);
  [[nodiscard]] Write rearm(const Entry& entry, std::string_view ttl, const Place& place, Settled& settled);
  [[nodiscard]] Write release(const Entry& entry, const Tree& item, Settled& settled);
  void unmark(const std::string& key, const Tree& item, Settled& settled);
  [[nodiscard]] std::string names(bool with_place) const;

  aws::Client& client_;
  const Layout& layout_;
  const std::vector<std::string> key_attributes_;
  Pace& pace_;
  const DepartureOptions options_;
};

}  // namespace mayfly::sweep
