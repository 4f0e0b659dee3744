#include "engine/background/index_backfill.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>

#include "engine/base/attempt.h"
#include "engine/items/transaction.h"
#include "engine/items/write_path.h"
#include "engine/storage/key_space.h"
#include "engine/storage/storage.h"
#include "engine/tables/change_log.h"
#include "engine/values/key_codec.h"

namespace mayfly::engine {

namespace {
constexpr std::size_t filled_together_max = 64;  // items that are locked together
constexpr std::size_t background_items = 1024;   // items per background step

bool lacks_entries(const std::optional<TimeToLive>& ttl) {
  return ttl && (ttl->backfilling || !ttl->lists_never);
}

}  // namespace

bool BackfillWalk::needed(const Table& description) {
  return lacks_entries(description.ttl) ||
         std::any_of(description.indexes.begin(), description.indexes.end(),
                     [](const Index& index) { return index.state == Index::State::creating; });
}

bool BackfillWalk::needed_since(const Table& before, const Table& after) {
  if (after.ttl && after.ttl->backfilling && (!before.ttl || before.ttl->number != after.ttl->number))
    return true;
  return std::any_of(after.indexes.begin(), after.indexes.end(), [&](const Index& index) {
    const bool is_old = std::any_of(before.indexes.begin(), before.indexes.end(),
                                    [&](const Index& other) { return other.id == index.id; });
    return index.state == Index::State::creating && !is_old;
  });
}

BackfillWalk::BackfillWalk(Catalog& catalog, const WritePath& path, std::shared_ptr<LiveTable> table,
                           const Table& description)
    : catalog_(catalog), path_(path), table_(std::move(table)) {
  for (const Index& index : description.indexes)
    if (index.state == Index::State::creating) indexes_.push_back(index.id);
  if (lacks_entries(description.ttl)) ttl_number_ = description.ttl->number;
}

bool BackfillWalk::fills(const Index& index) const {
  return index.state == Index::State::creating &&
         std::find(indexes_.begin(), indexes_.end(), index.id) != indexes_.end();
}

// If TTL was switched off and on in the meantime, the new backfill has a separate walk with its own position.
bool BackfillWalk::fills(const std::optional<TimeToLive>& ttl) const {
  return ttl && ttl_number_ == ttl->number;
}

bool BackfillWalk::wanted() const {
  const std::shared_ptr<const Table> table = table_->description();
  return fills(table->ttl) || std::any_of(table->indexes.begin(), table->indexes.end(),
                                          [&](const Index& index) { return fills(index); });
}

bool BackfillWalk::step(std::size_t items) {
  if (!wanted()) return true;
  const std::string end = prefix_end(item_key(table_->id(), 0, {}));
  while (items > 0) {
    std::vector<std::string> keys;
    const std::size_t wanted = std::min(items, filled_together_max);
    Storage::Iterator iterator(path_.storage, item_key(table_->id(), 0, next_key_), end);
    for (iterator.seek_to_first(); iterator.valid() && keys.size() < wanted; iterator.next())
      keys.emplace_back(iterator.key().substr(item_prefix_bytes));
    if (!keys.empty()) {
      Transaction transaction(path_, Cause::user);
      for (const std::string& key : keys) transaction.add(table_, key);
      if (!transaction.lock()) return true;  // the table was dropped in the meantime
      for (std::size_t slot = 0; slot < keys.size(); ++slot) transaction.fill_entries(slot);
      transaction.commit();
      next_key_ = keys.back() + '\0';
      items -= keys.size();
    }
    if (keys.size() < wanted) {
      finish();
      return true;
    }
  }
  return false;
}

void BackfillWalk::finish() {
  catalog_.update(*table_, [&](Table& table) {
    for (Index& index : table.indexes)
      if (fills(index)) index.state = Index::State::active;
    if (fills(table.ttl)) {
      table.ttl->backfilling = false;
      table.ttl->lists_never = true;
    }
  });
}

// A task that advances the walks in turn. Each step advances one walk.
class IndexBackfill::Walks final : public Task {
 public:
  explicit Walks(std::shared_ptr<Scheduler> scheduler) : scheduler_(std::move(scheduler)) {}

  void add(BackfillWalk walk) {
    const Lock lock(mutex_);
    walks_.push_back(std::move(walk));
  }

 private:
  Next step() override {
    std::optional<BackfillWalk> walk = next();
    if (!walk) return Next::when_woken();
    const auto go_on = [&] {
      if (!walk->step(background_items)) add(*std::move(walk));
      return Next::at_once();
    };
    return attempt(go_on, [&](std::string_view why) {
      add(*std::move(walk));
      return failed(why);
    });
  }
  Next failed(std::string_view) override { return Next::after(*scheduler_, fault_wait); }

  std::optional<BackfillWalk> next() {
    const Lock lock(mutex_);
    if (walks_.empty()) return std::nullopt;
    std::optional<BackfillWalk> walk(std::move(walks_.front()));
    walks_.pop_front();
    return walk;
  }

  const std::shared_ptr<Scheduler> scheduler_;
  Mutex mutex_;
  std::deque<BackfillWalk> walks_ GUARDED_BY(mutex_);
};

IndexBackfill::IndexBackfill(Catalog& catalog, const WritePath& path, std::shared_ptr<Scheduler> scheduler)
    : catalog_(catalog),
      path_(path),
      scheduler_(std::move(scheduler)),
      walks_(std::make_shared<Walks>(scheduler_)) {}

void IndexBackfill::start(std::shared_ptr<LiveTable> table, const Table& description, std::size_t at_once) {
  BackfillWalk walk(catalog_, path_, std::move(table), description);
  const auto some = [&] { return at_once > 0 && walk.step(at_once); };
  const auto all = [&] {
    while (!walk.step(background_items)) {}
    return true;
  };
  // A failure is not reported, because the background task completes the backfill later. Until then, the
  // description says that entries are missing.
  const auto fails = [](std::string_view) { return false; };
  if (attempt(some, fails)) return;
  // If no background thread can be started, the caller's thread fills in the rest, so that the index does not
  // stay incomplete.
  if (!scheduler_->start() && attempt(all, fails)) return;
  walks_->add(std::move(walk));
  scheduler_->wake(walks_);
}

}  // namespace mayfly::engine
