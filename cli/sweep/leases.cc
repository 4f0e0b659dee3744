#include "cli/sweep/leases.h"

#include <algorithm>

namespace mayfly::sweep {

LeaseChanges lease_changes(const StateRows& rows, const std::map<std::string, Beat>& beats,
                           const LeaseOptions& options, engine::RealTime now) {
  LeaseChanges changes;
  const auto is_alive = [&](const std::string& sweeper) {
    if (sweeper == options.me) return true;
    if (!rows.beats.contains(sweeper)) return false;  // the sweeper has ended, or its row was deleted
    const auto seen = beats.find(sweeper);
    return seen == beats.end() || now - seen->second.changed < options.lease;
  };
  for (const auto& [sweeper, count] : rows.beats) {
    if (sweeper == options.me) continue;
    if (is_alive(sweeper))
      ++changes.sweepers;
    else
      changes.dead.push_back(sweeper);
  }
  const auto shards = static_cast<std::size_t>(options.shards);
  const std::size_t share =
      options.alone ? shards : (shards + changes.sweepers - 1) / changes.sweepers;  // rounded up
  std::vector<int> mine, nobodys;
  for (int shard = 0; shard < options.shards; ++shard) {
    const auto row = rows.shards.find(shard);
    const std::string owner = row == rows.shards.end() ? "" : row->second.owner;
    if (owner == options.me)
      mine.push_back(shard);
    else if (owner.empty() || !is_alive(owner))
      nobodys.push_back(shard);
  }
  for (const int shard : nobodys)
    if (mine.size() + changes.take.size() < share) changes.take.push_back(shard);
  while (mine.size() > share) {
    changes.release.push_back(mine.back());
    mine.pop_back();
  }
  return changes;
}

Expected<Leases::Renewed, aws::Failure> Leases::renew(std::int64_t first_watermark) {
  const engine::RealTime began = engine::host_time();
  CHECK_OK(state_.beat(options_.me, ++count_));
  TRY(const StateRows rows, state_.read());
  const engine::RealTime now = engine::host_time();
  for (const auto& [sweeper, count] : rows.beats) {
    const auto [seen, is_new] = beats_.try_emplace(sweeper, Beat{count, now});
    if (!is_new && seen->second.count != count) seen->second = {count, now};
  }
  std::erase_if(beats_, [&](const auto& beat) { return !rows.beats.contains(beat.first); });

  const LeaseChanges changes = lease_changes(rows, beats_, options_, now);
  Renewed renewed{.sweepers = changes.sweepers};
  std::map<int, Held> held;
  for (const auto& [shard, row] : rows.shards)
    if (row.owner == options_.me && shard < options_.shards)
      held[shard] = {shard, row.generation, row.watermark};
  for (const int shard : changes.release) {
    held.erase(shard);
    renewed.released.push_back(shard);
  }
  for (const int shard : changes.take) {
    const auto found = rows.shards.find(shard);
    const ShardRow row = found == rows.shards.end() ? ShardRow{} : found->second;
    TRY(const bool taken, state_.take(shard, row, options_.me, first_watermark));
    if (!taken) continue;
    held[shard] = {shard, row.generation + 1, row.generation == 0 ? first_watermark : row.watermark};
    renewed.taken.push_back(shard);
  }
  {
    const engine::Lock lock(mutex_);
    for (const auto& [shard, before] : held_)
      if (!held.contains(shard) &&
          std::find(renewed.released.begin(), renewed.released.end(), shard) == renewed.released.end())
        renewed.lost.push_back(shard);
    held_ = std::move(held);
    valid_until_ = began + options_.lease;
  }
  // Releases the shards only now, when no new round can begin with them.
  for (const int shard : renewed.released)
    CHECK_OK(state_.release(shard, rows.shards.at(shard).generation, options_.me));
  for (const std::string& sweeper : changes.dead) CHECK_OK(state_.forget(sweeper, rows.beats.at(sweeper)));
  return renewed;
}

void Leases::assume(const std::map<int, ShardRow>& rows, std::int64_t first_watermark) {
  const engine::Lock lock(mutex_);
  for (int shard = 0; shard < options_.shards; ++shard) {
    const auto row = rows.find(shard);
    held_[shard] = {shard, 0, row == rows.end() ? first_watermark : row->second.watermark};
  }
  valid_until_ = engine::RealTime::max();
}

void Leases::end() {
  std::map<int, Held> held;
  {
    const engine::Lock lock(mutex_);
    held.swap(held_);
    valid_until_ = {};
  }
  // If a shard cannot be released, other sweepers take it when the lease has ended.
  for (const auto& [shard, each] : held)
    if (!state_.release(shard, each.generation, options_.me)) return;
  static_cast<void>(state_.forget(options_.me, count_).has_value());
}

std::vector<Held> Leases::held() const {
  std::vector<Held> held;
  const engine::Lock lock(mutex_);
  if (engine::host_time() >= valid_until_) return held;
  for (const auto& [shard, each] : held_) held.push_back(each);
  return held;
}

bool Leases::valid() const {
  const engine::Lock lock(mutex_);
  return engine::host_time() < valid_until_;
}

}  // namespace mayfly::sweep
