#include "compat/triggers/poller.h"

#include <algorithm>
#include <utility>

#include "compat/triggers/lane.h"
#include "engine/clock.h"
#include "engine/mutex.h"

namespace mayfly::compat::triggers {

Poller::Poller(const Surroundings& surroundings, EventSourceMapping mapping, const engine::Stream& stream,
               std::shared_ptr<PositionGate> gate, std::shared_ptr<Tally> tally)
    : surroundings_(surroundings),
      stream_(stream),
      lanes_per_shard_(static_cast<std::uint32_t>(mapping.parallelization)),
      gate_(std::move(gate)),
      tally_(std::move(tally)),
      mapping_(std::make_shared<const EventSourceMapping>(std::move(mapping))) {}

Poller::~Poller() { stop_.request_stop(); }

// --- beginning and ending

void Poller::begin_after(std::shared_ptr<Poller> predecessor) {
  if (predecessor) {
    set_last_result(predecessor->last_result());
    {
      const engine::Lock lock(mutex_);
      predecessor_ = predecessor;
    }
    const engine::Lock lock(predecessor->mutex_);
    predecessor->successor_ = weak_from_this();
  }
  if (predecessor) {
    predecessor->left();
  } else {
    may_begin();
  }
}

void Poller::may_begin() {
  std::shared_ptr<Poller> predecessor;
  {
    const engine::Lock lock(mutex_);
    may_begin_ = true;
    predecessor.swap(predecessor_);
  }
  wake();
  left();  // it may have ended before it began
}

void Poller::left() {
  std::shared_ptr<Poller> successor;
  {
    const engine::Lock lock(mutex_);
    if (!ended_ || !may_begin_ || !running_.empty()) return;
    successor = successor_.lock();
    successor_.reset();
  }
  if (successor) successor->may_begin();
}

void Poller::end() {
  {
    const engine::Lock lock(mutex_);
    ended_ = true;
  }
  stop_.request_stop();
  wake();
  left();
  surroundings_.progress.ring();
}

engine::Task::Next Poller::step() {
  woken_ = false;
  begin();
  std::vector<std::shared_ptr<Lane>> lanes;
  {
    const engine::Lock lock(mutex_);
    for (const auto& [name, lane] : running_) lanes.push_back(lane);
  }
  for (const auto& lane : lanes) surroundings_.scheduler->wake(lane);
  return Next::when_woken();
}

engine::Task::Next Poller::failed(std::string_view why) {
  set_last_result("PROBLEM: " + std::string(why));
  return Next::after(*surroundings_.scheduler, fault_wait);
}

std::optional<engine::Stream> Poller::present_stream() const {
  return surroundings_.database.find_stream({stream_.account, stream_.region}, stream_.table_name,
                                            stream_.label);
}

void Poller::begin() {
  {
    const engine::Lock lock(mutex_);
    if (begun_ || ended_ || !may_begin_) return;
  }
  const auto stream = present_stream();
  std::vector<StoredPosition> positions = stored_positions(surroundings_.database.documents(), *mapping());
  {
    const engine::Lock lock(mutex_);
    for (StoredPosition& one : positions) stored_[one.lane.shard].push_back(std::move(one));
    begun_ = true;
    if (stream) begin_lanes(*stream);
  }
  if (stream) forget_shards(*stream);
  surroundings_.progress.ring();
}

bool Poller::shard_done(std::uint32_t shard) const {
  for (std::uint32_t lane = 0; lane < lanes_per_shard_; ++lane) {
    if (!done_.contains({shard, lane, lanes_per_shard_})) return false;
  }
  return true;
}

void Poller::begin_lanes(const engine::Stream& stream) {
  if (ended_) return;
  const std::vector<ShardView> shards = shards_of(stream);
  std::set<std::uint32_t> present;
  for (const ShardView& shard : shards) present.insert(shard.number);
  // One that was forgotten is not waited for.
  const auto waits_for = [&](std::uint32_t parent)
                             REQUIRES(mutex_) { return present.contains(parent) && !shard_done(parent); };
  for (const ShardView& shard : shards) {
    if (std::any_of(shard.parents.begin(), shard.parents.end(), waits_for) || shard_done(shard.number))
      continue;
    const LaneName first{shard.number, 0, lanes_per_shard_};
    if (const auto running = running_.lower_bound(first);
        running != running_.end() && running->first.shard == shard.number) {
      continue;
    }
    ShardStart start = shard_start(stored_[shard.number], lanes_per_shard_, shard.closed);
    const auto others = std::make_shared<const std::vector<StoredPosition>>(std::move(start.others));
    for (std::uint32_t lane = 0; lane < lanes_per_shard_; ++lane) {
      const LaneName name{shard.number, lane, lanes_per_shard_};
      Position& position = start.lanes[lane];
      if (start.done || position.done) {
        done_.insert(name);
      } else if (!done_.contains(name)) {
        position.next = std::max(position.next, shard.oldest);
        running_[name] =
            std::make_shared<Lane>(shared_from_this(), name, shard.id, std::move(position), others);
        surroundings_.scheduler->wake(running_[name]);
      }
    }
  }
}

// What is stored of shards that the stream has no more says nothing to anybody.
void Poller::forget_shards(const engine::Stream& stream) {
  std::set<std::uint32_t> forgotten;
  {
    const engine::Lock lock(mutex_);
    for (const auto& [shard, positions] : stored_) forgotten.insert(shard);
    for (const LaneName& name : done_) forgotten.insert(name.shard);
    for (const engine::Shard& shard : stream.shards) forgotten.erase(shard.number);
    for (const std::uint32_t shard : forgotten) stored_.erase(shard);
    std::erase_if(done_, [&](const LaneName& name) { return forgotten.contains(name.shard); });
  }
  engine::Documents& documents = surroundings_.database.documents();
  const engine::Lock lock(gate_->mutex);
  for (const std::uint32_t shard : forgotten) {
    if (gate_->open) documents.write(position_names(documents, *mapping(), shard), {});
  }
}

void Poller::lane_ended(const LaneName& name) {
  const auto stream = present_stream();
  bool last = false;  // of its shard
  {
    const engine::Lock lock(mutex_);
    done_.insert(name);
    running_.erase(name);
    last = shard_done(name.shard);
    if (stream && last) begin_lanes(*stream);
  }
  if (stream && last) forget_shards(*stream);
  left();
  surroundings_.progress.ring();
}

void Poller::lane_left(const LaneName& name) {
  {
    const engine::Lock lock(mutex_);
    running_.erase(name);
  }
  left();
}

// --- what lanes and others ask for

std::shared_ptr<const EventSourceMapping> Poller::mapping() const {
  const engine::Lock lock(mutex_);
  return mapping_;
}

void Poller::change(EventSourceMapping mapping) {
  {
    const engine::Lock lock(mutex_);
    mapping_ = std::make_shared<const EventSourceMapping>(std::move(mapping));
  }
  wake();
}

std::string Poller::last_result() const {
  const engine::Lock lock(mutex_);
  return last_result_;
}

void Poller::set_last_result(std::string result) {
  const auto is_problem = [](std::string_view text) { return text.starts_with("PROBLEM: "); };
  std::string notice;
  {
    const engine::Lock lock(mutex_);
    if (result != last_result_ && (is_problem(result) || (is_problem(last_result_) && result == "OK"))) {
      notice = "the mapping of " + stream_.table_name + " to " + mapping_->function.name + " of account " +
               stream_.account + ": " + result;
    }
    last_result_ = std::move(result);
  }
  if (!notice.empty()) surroundings_.database.notice(notice);
}

void Poller::wake() {
  if (!woken_.exchange(true)) surroundings_.scheduler->wake(shared_from_this());
}

void Poller::note_given_up(GivenUp batch) {
  const engine::Lock lock(gate_->mutex);
  if (gate_->open) tally_->given_up_log().add(std::move(batch));
}

void Poller::store(const LaneName& lane, const Position& position) {
  const engine::Document document = to_document(*mapping(), lane, position);
  const engine::Lock lock(gate_->mutex);
  if (gate_->open) surroundings_.database.documents().put(document.name, document.bytes);
}

bool Poller::take_call(const std::shared_ptr<Lane>& lane) {
  const engine::Lock lock(mutex_);
  if (calls_ >= calls_max) {
    wait_for_call_.insert(lane);
    return false;
  }
  ++calls_;
  return true;
}

void Poller::give_back_call() {
  std::set<std::weak_ptr<Lane>, std::owner_less<>> waiting;
  {
    const engine::Lock lock(mutex_);
    --calls_;
    waiting.swap(wait_for_call_);
  }
  for (const auto& one : waiting) {
    if (const auto lane = one.lock()) surroundings_.scheduler->wake(lane);
  }
}

std::uint64_t Poller::begin_flush() {
  const std::uint64_t number = ++flush_number_;
  ++flushes_;
  wake();
  return number;
}

void Poller::end_flush() { --flushes_; }

bool Poller::settled(engine::Sequence target) const {
  const engine::Lock lock(mutex_);
  return begun_ && std::all_of(running_.begin(), running_.end(),
                               [&](const auto& entry) { return entry.second->settled(target); });
}

bool Poller::at_rest(engine::Sequence target, std::uint64_t flush) const {
  const engine::Lock lock(mutex_);
  // It may have been registered just now, before the lanes that wait for it have heard of it.
  const bool registered =
      surroundings_.functions.find(mapping_->function.account, mapping_->function.name).has_value();
  return begun_ && std::all_of(running_.begin(), running_.end(), [&](const auto& entry) {
           const Lane& lane = *entry.second;
           return lane.settled(target) || (!registered && lane.stuck()) || lane.failing(flush);
         });
}

std::optional<Retrying> Poller::retrying() const {
  const engine::Lock lock(mutex_);
  std::optional<Retrying> most;
  for (const auto& [name, lane] : running_) {
    auto one = lane->retrying();
    if (one && (!most || one->attempts > most->attempts)) most = std::move(one);
  }
  return most;
}

}  // namespace mayfly::compat::triggers
