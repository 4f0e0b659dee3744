#include "compat/triggers/poller.h"

#include <algorithm>
#include <utility>

#include "compat/triggers/lane.h"

namespace mayfly::compat::triggers {

struct Poller::Running {
  Running(Poller& poller, const LaneName& name, std::string shard_id, Position position)
      : lane(poller, name, std::move(shard_id), std::move(position)), thread([this] { lane.run(); }) {}
  Lane lane;
  std::thread thread;
};

Poller::Poller(const Surroundings& surroundings, EventSourceMapping mapping, const engine::Stream& stream)
    : surroundings_(surroundings),
      stream_(stream),
      lanes_per_shard_(static_cast<std::uint32_t>(mapping.parallelization)),
      mapping_(std::make_shared<const EventSourceMapping>(std::move(mapping))) {
  load_positions();
  start_ready();
}

Poller::~Poller() { end(); }

void Poller::end() {
  {
    const std::lock_guard lock(mutex_);
    stop_.request_stop();  // no lane starts from now on
  }
  signal_.raise();
  for (auto& [name, running] : running_) {
    if (running->thread.joinable()) running->thread.join();
  }
  surroundings_.progress.raise();
}

std::shared_ptr<const EventSourceMapping> Poller::mapping() const {
  const std::lock_guard lock(mutex_);
  return mapping_;
}

void Poller::change(EventSourceMapping mapping) {
  {
    const std::lock_guard lock(mutex_);
    mapping_ = std::make_shared<const EventSourceMapping>(std::move(mapping));
  }
  signal_.raise();
}

std::string Poller::last_result() const {
  const std::lock_guard lock(mutex_);
  return last_result_;
}

void Poller::set_last_result(std::string result) {
  const std::lock_guard lock(mutex_);
  last_result_ = std::move(result);
}

// Lanes of another number left positions behind: all new ones begin where the first of the old ones was.
void Poller::load_positions() {
  engine::Documents& documents = surroundings_.database.documents();
  std::map<std::uint32_t, std::vector<StoredPosition>> by_shard;
  for (StoredPosition& stored : stored_positions(documents, *mapping_)) {
    by_shard[stored.lane.shard].push_back(std::move(stored));
  }
  for (const auto& [shard, stored] : by_shard) {
    const bool fits = std::all_of(stored.begin(), stored.end(),
                                  [&](const StoredPosition& one) { return one.lane.lanes == lanes_per_shard_; });
    if (fits) {
      for (const StoredPosition& one : stored) {
        positions_[one.lane] = one.position;
        if (one.position.done) ended_.insert(one.lane);
      }
      continue;
    }
    const auto behind = std::min_element(stored.begin(), stored.end(), [](const auto& a, const auto& b) {
      return std::pair(a.position.done, a.position.next) < std::pair(b.position.done, b.position.next);
    });
    for (std::uint32_t lane = 0; lane < lanes_per_shard_; ++lane) {
      const LaneName name{shard, lane, lanes_per_shard_};
      positions_[name] = {behind->position.next, behind->position.done, std::nullopt};
      if (behind->position.done) ended_.insert(name);
    }
  }
}

bool Poller::shard_done(std::uint32_t shard) const {
  for (std::uint32_t lane = 0; lane < lanes_per_shard_; ++lane) {
    if (!ended_.contains({shard, lane, lanes_per_shard_})) return false;
  }
  return true;
}

void Poller::start_ready() {
  const auto stream = surroundings_.database.find_stream({stream_.account, stream_.region}, stream_.table_name,
                                                         stream_.label);
  if (!stream) return;
  const std::lock_guard lock(mutex_);
  if (stop_.stop_requested()) return;
  const std::vector<ShardView> shards = shards_of(*stream);
  const auto waits_for = [&](std::uint32_t parent) {  // one that was forgotten is not waited for
    return !shard_done(parent) && std::any_of(shards.begin(), shards.end(),
                                              [&](const ShardView& other) { return other.number == parent; });
  };
  for (const ShardView& shard : shards) {
    if (std::any_of(shard.parents.begin(), shard.parents.end(), waits_for)) continue;
    for (std::uint32_t lane = 0; lane < lanes_per_shard_; ++lane) {
      const LaneName name{shard.number, lane, lanes_per_shard_};
      if (ended_.contains(name) || running_.contains(name)) continue;
      Position position = positions_[name];
      position.next = std::max(position.next, shard.oldest);
      running_[name] = std::make_unique<Running>(*this, name, shard.id, std::move(position));
    }
  }
}

void Poller::lane_ended(const LaneName& lane) {
  {
    const std::lock_guard lock(mutex_);
    ended_.insert(lane);
  }
  start_ready();
  surroundings_.progress.raise();
}

void Poller::store(const LaneName& lane, const Position& position) {
  const engine::Document document = to_document(*mapping(), lane, position);
  surroundings_.database.documents().put(document.name, document.bytes);
}

void Poller::begin_flush() {
  ++flushes_;
  signal_.raise();
}

void Poller::end_flush() { --flushes_; }

bool Poller::settled(engine::Sequence target) const {
  const std::lock_guard lock(mutex_);
  if (stop_.stop_requested()) return true;
  return std::all_of(running_.begin(), running_.end(), [&](const auto& entry) {
    return ended_.contains(entry.first) || entry.second->lane.settled(target);
  });
}

bool Poller::stuck(engine::Sequence target) const {
  const std::lock_guard lock(mutex_);
  // It may have been registered just now, before the lanes that wait for it have heard of it.
  if (surroundings_.functions.find(mapping_->function.account, mapping_->function.name)) return false;
  bool any = false;
  for (const auto& [name, running] : running_) {
    if (ended_.contains(name) || running->lane.settled(target)) continue;
    if (!running->lane.stuck()) return false;
    any = true;
  }
  return any;
}

}  // namespace mayfly::compat::triggers
