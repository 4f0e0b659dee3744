// One item whose time to be looked at has come: it is deleted, armed anew, or let go, under conditions that
// make the decision true at the instant at which it is carried out.
//
//   Departures departures(client, layout, {"id"}, pace, options);
//   departures.settle(entry, now, generation).outcome == Outcome::deleted
//
// docs/sweep.md draws what each outcome writes.
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
#include "engine/clock.h"

namespace mayfly::sweep {

// What the index says of an item.
struct Entry {
  std::string key;                 // the item's, as JSON
  std::string window;              // the window attribute's value, as it stands in the index
  std::string at;                  // the sort key, a Number's text
  std::optional<std::string> ttl;  // where the index has it
};

enum class Outcome : std::uint8_t {
  deleted,
  rearmed,   // its TTL is later, or was in no window: it is looked at again then
  lost,      // somebody else was first: the item is gone, or was armed anew
  released,  // it never expires (no TTL, no number, over five years past): the index forgets it
  failed,    // it stays as it is, and is looked at again
};

struct Settled {
  Outcome outcome = Outcome::failed;
  engine::Instant due = 0;            // of what was deleted
  std::optional<aws::Failure> why{};  // of what failed
  std::uint8_t throttles = 0;
};

struct DepartureOptions {
  std::string mark_attribute;  // written before a deletion; empty: none is
  bool dry_run = false;        // reads what it would decide by, and writes nothing
};

// What the mark attribute's value begins with; the generation of the shard's lease comes behind it.
inline constexpr std::string_view mark_prefix = "mayfly-sweep/";

// Thread-safe.
class Departures {
 public:
  // All outlive it. `key_attributes`: the table's.
  Departures(aws::Client& client, const Layout& layout, std::vector<std::string> key_attributes, Pace& pace,
             DepartureOptions options);

  // `now` is never later than the endpoint's time. `generation` is the lease's by which the shard is swept.
  Settled settle(const Entry& entry, engine::Instant now, std::int64_t generation);

  // The key of an item that a query or a scan has answered, as JSON. Empty: it has no such.
  [[nodiscard]] std::string key_of(const Tree& item) const;
  [[nodiscard]] const std::vector<std::string>& key_attributes() const { return key_attributes_; }
  // For a scan: writes where an item belongs, if it is still as it was read. Nothing was written: `lost`.
  Settled arm(const Tree& item, std::string_view ttl, const Place& place);

 private:
  // A write under a condition: made (nothing), or what stands in its way.
  struct Obstacle {
    std::shared_ptr<const Tree> item{};     // as it is instead; nothing: there is none
    std::optional<aws::Failure> failure{};  // it could not be tried
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
