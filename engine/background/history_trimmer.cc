#include "engine/background/history_trimmer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <utility>

#include "engine/background/history_size.h"
#include "engine/background/snapshot_heads.h"
#include "engine/base/attempt.h"
#include "engine/schema/item_version.h"
#include "engine/storage/before_images.h"
#include "engine/storage/key_space.h"
#include "engine/storage/storage.h"
#include "engine/tables/catalog.h"
#include "engine/tables/committer.h"
#include "engine/tables/points.h"
#include "engine/time/account.h"
#include "engine/values/key_codec.h"

namespace mayfly::engine {
namespace {

constexpr std::size_t versions_at_once_max = 1000;  // versions examined in one step
constexpr std::size_t bytes_at_once_max = 4 << 20;  // bytes erased in one step
constexpr std::int64_t passes_in_a_period = 24;     // walks over a table's versions in one recovery period
constexpr std::uint64_t free_part = 8;              // after a weighing, 1/free_part of the limit is free
// The total size of all versions is checked each time bytes_max / looks_in_a_bound bytes of versions have
// been written.
constexpr std::uint64_t looks_in_a_bound = 16;
constexpr std::size_t ages_max = 256;  // the number of age classes in a weighing
constexpr Instant long_ago = std::numeric_limits<Instant>::min();

std::int64_t bytes_of(const Storage::Iterator& version) {
  return static_cast<std::int64_t>(version.key().size() + version.value().size());
}

}  // namespace

// The position of a walk over a table's versions, and the last version that it passed.
struct HistoryTrimmer::Walk {
  TableId table = 0;
  std::string from;  // the key to continue from
  std::string key = {};
  VersionNumber number = 0;
  Instant at = long_ago;
  std::uint64_t restores = 0;  // the number of restores when the walk began

  // Moves the walk to a version. If the walk was at a version of another item, this version has no
  // predecessor.
  void reach(std::string_view version) {
    if (version_item_key(version) == key) return;
    key = version_item_key(version);
    number = 0;
    at = long_ago;
  }
  void pass(std::string_view version, VersionNumber of_number, Instant made) {
    number = of_number;
    at = made;
    from.assign(version).push_back('\0');
  }
};

// The points and instants that need a table's versions.
struct HistoryTrimmer::Needs {
  std::vector<VersionNumber> points;  // ascending
  std::vector<Instant> held;          // the instants of points by instant, ascending
  std::optional<Instant> instants;    // the earliest instant that can be restored

  Needs(const Points& all_points, TableId table, const LiveTable* live)
      : points(all_points.numbers(table)), held(all_points.instants(table)) {
    if (!live) return;
    const std::optional<Recovery> recovery = live->description()->recovery;
    if (recovery) instants = std::max(recovery->since, recovery->given_up);
  }

  // by_point() and by_instant() tell whether a version is needed. `before` has the number or the instant of
  // the previous version of the same item: number 0 and instant long_ago if there is no previous version.
  [[nodiscard]] bool by_point(const Walk& before, VersionNumber number, Instant at) const {
    const auto point = std::lower_bound(points.begin(), points.end(), before.number);
    if (point != points.end() && *point < number) return true;
    const auto instant = std::lower_bound(held.begin(), held.end(), before.at);
    return instant != held.end() && *instant < at;
  }
  [[nodiscard]] bool by_instant(Instant before, Instant at) const {
    return instants && at > std::max(before, *instants);
  }
};

// The total bytes of the versions in each age class. Versions that points need are counted in `of_points`
// instead.
struct HistoryTrimmer::Weighing {
  std::vector<TableId> tables;  // tables that are still to be weighed
  std::optional<Walk> walk;
  Instant age_width_ms = 1;
  std::array<std::int64_t, ages_max> by_age{};  // the youngest versions first
  std::int64_t of_points = 0;
};

class HistoryTrimmer::Rounds final : public Task {
 public:
  explicit Rounds(HistoryTrimmer& trimmer) : trimmer_(trimmer) {}

 private:
  Next step() override {
    if (trimmer_.step()) return Next::at_once();
    const auto alarm = trimmer_.agenda_.next_alarm();
    return alarm ? Next::at(*alarm) : Next::when_woken();
  }
  Next failed(std::string_view) override { return Next::after(*trimmer_.scheduler_, fault_wait); }

  HistoryTrimmer& trimmer_;
};

HistoryTrimmer::HistoryTrimmer(const Uses& uses, std::shared_ptr<Scheduler> scheduler)
    : uses_(uses), scheduler_(std::move(scheduler)) {
  // The list of tables to trim is not stored, so all tables that have versions are trimmed after a restart.
  for (const TableId table : uses_.points.dropped_tables()) to_trim_.insert(table);
  for (const auto& live : uses_.catalog.tables()) {
    if (live->version_count().versions > 0) to_trim_.insert(live->id());
    agenda_.add(&live->account());
  }
}

HistoryTrimmer::~HistoryTrimmer() = default;

void HistoryTrimmer::start() {
  rounds_ = std::make_shared<Rounds>(*this);
  wake();
}

void HistoryTrimmer::trim() {
  while (step()) {}
}

bool HistoryTrimmer::points_exceed_bound() const {
  const Lock lock(mutex_);
  return points_exceed_;
}

// --- notifications

void HistoryTrimmer::less_needed(TableId table) {
  {
    const Lock lock(mutex_);
    to_trim_.insert(table);
    ask_to_weigh();
  }
  if (const auto live = uses_.catalog.find(table)) agenda_.add(&live->account());
  wake();
}

void HistoryTrimmer::replaced(Account& account) {
  std::vector<TableId> tables;
  for (const Point& point : uses_.points.of(account.id())) tables.push_back(point.table.id);
  for (const auto& live : uses_.catalog.tables(account.id()))
    if (live->version_count().versions > 0) tables.push_back(live->id());
  {
    const Lock lock(mutex_);
    to_trim_.insert(tables.begin(), tables.end());
    // Skip the weighing, which examines all accounts, if the total size cannot have shrunk.
    if (!tables.empty() || weighed_ > 0 || points_exceed_) ask_to_weigh();
  }
  time_moved(account);
}

void HistoryTrimmer::time_moved(Account& account) {
  agenda_.add(&account);
  wake();
}

void HistoryTrimmer::ask_to_weigh() {
  to_weigh_ = true;
  weighed_ = 0;
  points_exceed_ = false;  // assumed until the next weighing
}

void HistoryTrimmer::written(std::uint64_t bytes) {
  const std::uint64_t look_after = uses_.size.bytes_max() / looks_in_a_bound;
  if (unweighed_.fetch_add(bytes) + bytes <= look_after) return;
  unweighed_ = 0;
  {
    const Lock lock(mutex_);
    to_weigh_ = true;
  }
  wake();
}

void HistoryTrimmer::wake() {
  if (rounds_) scheduler_->wake(rounds_);
}

// --- steps

bool HistoryTrimmer::step() {
  const Lock lock(working_);
  return trim_some() || weigh_some() || survey();
}

bool HistoryTrimmer::trim_some() {
  if (!walk_) {
    const Lock lock(mutex_);
    if (to_trim_.empty()) return false;
    const TableId table = *to_trim_.begin();
    walk_ =
        std::make_unique<Walk>(Walk{.table = table, .from = table_prefix('O', table), .restores = restores_});
    to_trim_.erase(to_trim_.begin());
  }
  bool done = false;
  trim_step(*walk_, done);
  if (done) {
    walk_.reset();
    const Lock lock(mutex_);
    to_weigh_ = true;  // the total may have shrunk, or may still exceed the limit
  }
  return true;
}

void HistoryTrimmer::trim_step(Walk& walk, bool& done) {
  uses_.catalog.hold_changes([&] {
    const std::shared_ptr<LiveTable> live = uses_.catalog.find(walk.table);
    const Needs needs(uses_.points, walk.table, live.get());
    // If a dropped table has no points, its only versions are those that a snapshot needs, so nothing can be
    // erased.
    if (!live && needs.points.empty()) {
      done = true;
      return;
    }
    if (walk.restores != restores_)
      walk = Walk{.table = walk.table, .from = table_prefix('O', walk.table), .restores = restores_};
    Walk here = walk;
    StagedWrite write;
    std::int64_t versions = 0, bytes = 0;
    std::size_t seen = 0;
    Storage::Iterator iterator(uses_.storage, here.from, prefix_end(table_prefix('O', here.table)));
    for (iterator.seek_to_first(); iterator.valid(); iterator.next()) {
      if (seen++ == versions_at_once_max || bytes >= static_cast<std::int64_t>(bytes_at_once_max)) break;
      here.reach(iterator.key());
      const VersionNumber number = version_number(iterator.key());
      const Instant at = version_at(iterator.value());
      if (!needs.by_point(here, number, at) && !needs.by_instant(here.at, at)) {
        write.batch.erase(iterator.key(), iterator.value().size());
        ++versions;
        bytes += bytes_of(iterator);
      }
      here.pass(iterator.key(), number, at);
    }
    const bool at_end = !iterator.valid();
    if (versions > 0) {
      Account& account = live ? live->account() : uses_.accounts.of(uses_.points.account_of(here.table));
      if (uses_.snapshots.have(account.id(), here.table))
        uses_.before_images.stage(write.batch, account.image_keeper());
      if (live) {
        write.clock = &account.clock();
        write.count(*live, old_versions, -versions, -bytes);
        uses_.committer.commit(write);
      } else {
        VersionCount left = uses_.points.left(here.table).value_or(VersionCount{});
        left.versions -= versions;
        left.bytes -= bytes;
        std::string value;
        append_little_endian(value, left.versions);
        append_little_endian(value, left.bytes);
        write.batch.put(counter_key(here.table, old_versions), value);
        uses_.storage.write(write.batch);
        uses_.points.leave(here.table, left);
      }
      interleave("old versions trimmed");
    }
    walk = std::move(here);
    done = at_end;
  });
}

// --- the limit

bool HistoryTrimmer::weigh_some() {
  if (!weighing_ && !begin_weighing()) return false;
  if (weighing_->walk) {
    weigh_step(*weighing_);
  } else if (!weighing_->tables.empty()) {
    const TableId table = weighing_->tables.back();
    weighing_->tables.pop_back();
    weighing_->walk = Walk{.table = table, .from = table_prefix('O', table)};
  } else {
    give_up(*weighing_);
    weighing_.reset();
  }
  return true;
}

bool HistoryTrimmer::begin_weighing() {
  {
    const Lock lock(mutex_);
    if (!std::exchange(to_weigh_, false)) return false;
  }
  const auto bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(uses_.size.footprint().bytes, 0));
  const std::uint64_t bound = uses_.size.bytes_max();
  {
    const Lock lock(mutex_);
    if (bytes <= bound) {
      points_exceed_ = false;
      weighed_ = 0;
    }
    if (bytes <= bound || (weighed_ > 0 && bytes <= weighed_ + bound / free_part)) return false;
  }
  weighing_ = std::make_unique<Weighing>();
  weighing_->tables = uses_.points.dropped_tables();
  Instant oldest = 0;
  for (const auto& live : uses_.catalog.tables()) {
    if (live->version_count().versions > 0) weighing_->tables.push_back(live->id());
    if (const auto recovery = live->description()->recovery) {
      const Instant now = live->account().clock().now();
      oldest = std::max(oldest, now - earliest_of(*recovery, now));
    }
  }
  weighing_->age_width_ms = oldest / static_cast<Instant>(ages_max) + 1;
  return true;
}

void HistoryTrimmer::weigh_step(Weighing& weighing) {
  uses_.catalog.hold_changes([&] {
    Walk& walk = *weighing.walk;
    const std::shared_ptr<LiveTable> live = uses_.catalog.find(walk.table);
    const Needs needs(uses_.points, walk.table, live.get());
    const Instant now = live ? live->account().clock().now() : 0;
    std::size_t seen = 0;
    Storage::Iterator iterator(uses_.storage, walk.from, prefix_end(table_prefix('O', walk.table)));
    for (iterator.seek_to_first(); iterator.valid() && seen < versions_at_once_max; iterator.next(), ++seen) {
      walk.reach(iterator.key());
      const VersionNumber number = version_number(iterator.key());
      const Instant at = version_at(iterator.value());
      if (needs.by_point(walk, number, at)) {
        weighing.of_points += bytes_of(iterator);
      } else {
        const Instant age = std::max<Instant>(now - at, 0) / weighing.age_width_ms;
        weighing.by_age[std::min(static_cast<std::size_t>(age), ages_max - 1)] += bytes_of(iterator);
      }
      walk.pass(iterator.key(), number, at);
    }
    if (!iterator.valid()) weighing.walk.reset();
  });
}

void HistoryTrimmer::give_up(const Weighing& weighing) {
  const auto bound = static_cast<std::int64_t>(uses_.size.bytes_max());
  std::int64_t left = weighing.of_points;
  for (const std::int64_t bytes : weighing.by_age) left += bytes;
  std::size_t age = ages_max;  // versions that are at least this old are given up
  while (age > 0 && left > bound - bound / static_cast<std::int64_t>(free_part))
    left -= weighing.by_age[--age];
  for (const auto& live : uses_.catalog.tables()) {
    if (!live->description()->recovery) continue;
    const Instant until = live->account().clock().now() - static_cast<Instant>(age) * weighing.age_width_ms;
    move_on(*live, until);
  }
  const Lock lock(mutex_);
  weighed_ = static_cast<std::uint64_t>(std::max<std::int64_t>(left, 1));
  points_exceed_ = weighing.of_points > bound;
}

// Gives up the instants before `until`, so that no restore to one of these instants begins while the versions
// that it needs are being erased.
void HistoryTrimmer::move_on(LiveTable& live, Instant until) {
  uses_.catalog.update(live, [&](Table& table) {
    if (table.recovery) table.recovery->given_up = std::max(table.recovery->given_up, until);
  });
  const Lock lock(mutex_);
  to_trim_.insert(live.id());
}

// --- the period

namespace {

// Returns the time at which to give up the instants that are older than the period. The trimmer gives up
// instants each time 1/24 of the period has passed.
Instant next_move_on(const Recovery& recovery) {
  const Instant period = recovery.days * day_ms;
  return std::max(recovery.since, recovery.given_up) + period + period / passes_in_a_period;
}

}  // namespace

bool HistoryTrimmer::survey() {
  bool any = false;
  for (Account* account : agenda_.take(scheduler_->now()))
    attempt([&] { any = survey_account(*account) || any; },
            [&](std::string_view) { look_again(*account, std::chrono::seconds(1)); });
  return any;
}

bool HistoryTrimmer::survey_account(Account& account) {
  bool any = false;
  std::optional<std::chrono::nanoseconds> pause;
  for (const auto& live : uses_.catalog.tables(account.id())) {
    std::optional<Recovery> recovery = live->description()->recovery;
    if (!recovery) continue;
    const Instant now = account.clock().now();
    if (next_move_on(*recovery) <= now) {
      move_on(*live, now - recovery->days * day_ms);
      any = true;
      recovery = live->description()->recovery;
      if (!recovery) continue;
    }
    const auto left = account.clock().real_time_until(next_move_on(*recovery));
    if (left) pause = std::min(pause.value_or(*left), *left);
  }
  if (pause) look_again(account, *pause);
  return any;
}

void HistoryTrimmer::look_again(Account& account, std::chrono::nanoseconds pause) {
  agenda_.set_alarm(&account, scheduler_->now() + std::chrono::ceil<RealTime::duration>(pause));
}

}  // namespace mayfly::engine
