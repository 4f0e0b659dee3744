#include "compat/triggers/poller.h"

#include <algorithm>
#include <utility>

#include "compat/streams/arn_and_iterator.h"
#include "compat/triggers/lane.h"
#include "engine/base/attempt.h"
#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/storage/documents.h"

namespace mayfly::compat::triggers {

namespace {

engine::Stream without_shards(engine::Stream stream) {
  stream.shards = std::vector<engine::Shard>();  // = {} would keep the memory
  return stream;
}

}  // namespace

Poller::Poller(const Surroundings& surroundings, EventSourceMapping mapping, engine::Stream stream,
               std::shared_ptr<StreamShards> shards, std::shared_ptr<PositionGate> gate,
               std::shared_ptr<Tally> tally)
    : surroundings_(surroundings),
      stream_(without_shards(std::move(stream))),
      shards_(std::move(shards)),
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
  left();  // the poller may have ended before it began
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
  if (wakes_lanes_.exchange(false)) wake_all_lanes();
  {
    const engine::Lock lock(mutex_);
    if (ended_ || !may_begin_) return Next::when_woken();
  }
  if (!take_notes()) search();
  look_at_noted();
  return Next::when_woken();
}

// After a failed step, the poller starts over: the next step searches for the waiting shards.
engine::Task::Next Poller::failed(std::string_view why) {
  set_last_result("PROBLEM: " + std::string(why));
  wakes_lanes_ = true;
  {
    const engine::Lock lock(mutex_);
    searched_ = false;
    waiting_.clear();
    forgets_ = true;
  }
  return Next::after(*surroundings_.scheduler, fault_wait);
}

void Poller::rouse() {
  if (!woken_.exchange(true)) surroundings_.scheduler->wake(shared_from_this());
}

void Poller::wake_all_lanes() {
  std::vector<std::shared_ptr<Lane>> lanes;
  {
    const engine::Lock lock(mutex_);
    for (const auto& [name, lane] : running_) lanes.push_back(lane);
    looks_ += lanes.size();
  }
  for (const auto& lane : lanes) surroundings_.scheduler->wake(lane);
}

bool Poller::wake_lanes_of(engine::ShardNumber shard) {
  bool any = false;
  for (auto lane = running_.lower_bound({shard, 0, 0}); lane != running_.end() && lane->first.shard == shard;
       ++lane) {
    surroundings_.scheduler->wake(lane->second);
    ++looks_;
    any = true;
  }
  return any;
}

// --- shards with something to deliver

void Poller::Notes::add(engine::ShardNumber shard, engine::Sequence sequence) {
  if (shards.empty()) first = sequence;
  first = std::min(first, sequence);
  shards.insert(shard);
}

void Poller::Notes::add_or_lose(engine::ShardNumber shard, engine::Sequence sequence) {
  engine::attempt([&] { add(shard, sequence); }, [&](std::string_view) { lost = true; });
}

void Poller::written(engine::ShardNumber shard, engine::Sequence sequence) {
  {
    const engine::Lock lock(notes_mutex_);
    notes_.add_or_lose(shard, sequence);
  }
  rouse();
}

bool Poller::take_notes() {
  const engine::Lock lock(mutex_);
  const engine::Lock notes_lock(notes_mutex_);
  if (std::exchange(notes_.lost, false)) searched_ = false;
  if (!notes_.shards.empty()) {
    to_look_at_.first = to_look_at_.shards.empty() ? notes_.first : std::min(to_look_at_.first, notes_.first);
    to_look_at_.shards.merge(notes_.shards);
    notes_.shards.clear();  // merge() does not move shards that are in both sets
  }
  return searched_;
}

void Poller::search() {
  const engine::Database& database = surroundings_.database;
  if (!loaded_) {
    StoredProgress progress = stored_progress(database.documents(), *mapping());
    start_ = progress.start.value_or(0);
    stored_.clear();
    for (StoredPosition& one : progress.lanes) stored_[one.lane.shard].push_back(std::move(one));
    loaded_ = true;
  }
  const std::vector<engine::ShardNumber> written =
      database.change_log().shards_with_records(stream_.id, start_);
  const engine::Lock lock(mutex_);
  for (const engine::ShardNumber shard : written) to_look_at_.add(shard, 0);
  for (const auto& [shard, positions] : stored_) {
    if (std::any_of(positions.begin(), positions.end(),
                    [](const StoredPosition& one) { return one.position.window.has_value(); }))
      to_look_at_.add(shard, 0);
  }
  searched_ = true;
}

void Poller::look_at_noted() {
  std::shared_ptr<const ShardTree> tree;
  bool forgets = false;
  {
    const engine::Lock lock(mutex_);
    std::set<engine::ShardNumber>& shards = to_look_at_.shards;
    while (!shards.empty() && !ended_) {
      const engine::ShardNumber shard = *shards.begin();
      shards.erase(shards.begin());
      if (!wake_lanes_of(shard)) {
        // The tree is read after the last note was taken, so that it contains every noted shard.
        if (!tree) tree = shards_->present();
        if (tree) look_at(*tree, shard);
      }
    }
    if (!tree && forgets_) tree = shards_->present();
    forgets = tree && (forgets_ || tree->forgotten() != forgotten_);
    forgets_ = forgets_ && !forgets;
  }
  if (forgets) forget_shards(*tree);
  surroundings_.progress.ring();
}

void Poller::look_at(const ShardTree& tree, engine::ShardNumber number) {
  const engine::Shard* shard = tree.find(number);
  if (shard == nullptr) release_waiting(number);
  while (shard != nullptr) {
    ++looks_;
    if (shard_done(shard->number) || wake_lanes_of(shard->number)) return;
    const engine::Shard* const ancestor = waits_for(tree, *shard);
    if (ancestor == nullptr) return begin_lanes(tree, *shard);
    if (!waiting_[ancestor->number].insert(shard->number).second)
      return;  // the ancestor was examined earlier
    shard = ancestor;
  }
}

const engine::Shard* Poller::waits_for(const ShardTree& tree, const engine::Shard& shard) const {
  const engine::Shard* ancestor = tree.written_ancestor(shard);
  // The loop is short: at most one ancestor that still exists has lost all its records.
  for (; ancestor != nullptr; ancestor = tree.written_ancestor(*ancestor)) {
    const auto running = running_.lower_bound({ancestor->number, 0, 0});
    if (running != running_.end() && running->first.shard == ancestor->number) return ancestor;
    if (shard_done(ancestor->number) || ancestor->last_sequence.value_or(start_) < start_)
      return nullptr;  // its ancestors are also done
    const ShardStart start = start_of(*ancestor);
    if (!std::all_of(start.lanes.begin(), start.lanes.end(), [](const Position& lane) { return lane.done; }))
      return ancestor;
  }
  return nullptr;
}

ShardStart Poller::start_of(const engine::Shard& shard) const {
  const auto stored = stored_.find(shard.number);
  ShardStart start = shard_start(stored == stored_.end() ? std::vector<StoredPosition>() : stored->second,
                                 lanes_per_shard_, shard.closed.has_value());
  for (Position& lane : start.lanes) {
    lane.next = std::max({lane.next, shard.oldest_sequence, start_});
    const bool at_end = shard.last_sequence && lane.next > *shard.last_sequence && !lane.window;
    lane.done = start.done || lane.done || at_end;
  }
  return start;
}

bool Poller::shard_done(engine::ShardNumber shard) const {
  for (std::uint32_t lane = 0; lane < lanes_per_shard_; ++lane) {
    if (!done_.contains({shard, lane, lanes_per_shard_})) return false;
  }
  return true;
}

void Poller::begin_lanes(const ShardTree& tree, const engine::Shard& shard) {
  ShardStart start = start_of(shard);
  const auto others = std::make_shared<const std::vector<StoredPosition>>(std::move(start.others));
  for (std::uint32_t number = 0; number < lanes_per_shard_; ++number) {
    const LaneName name{shard.number, number, lanes_per_shard_};
    Position& position = start.lanes[number];
    if (position.done) done_.insert(name);
    if (done_.contains(name)) continue;
    const auto lane = std::make_shared<Lane>(shared_from_this(), name, shard_id(tree.stream(), shard),
                                             std::move(position), others);
    running_[name] = lane;
    surroundings_.scheduler->wake(lane);
  }
  if (shard_done(shard.number)) release_waiting(shard.number);
}

void Poller::release_waiting(engine::ShardNumber ancestor) {
  const auto waiting = waiting_.find(ancestor);
  if (waiting == waiting_.end()) return;
  to_look_at_.first = 0;
  to_look_at_.shards.merge(waiting->second);
  waiting_.erase(waiting);
}

void Poller::forget_shards(const ShardTree& tree) {
  std::set<engine::ShardNumber> forgotten;
  {
    const engine::Lock lock(mutex_);
    for (const auto& [shard, positions] : stored_)
      if (tree.find(shard) == nullptr) forgotten.insert(shard);
    for (const LaneName& name : done_)
      if (tree.find(name.shard) == nullptr) forgotten.insert(name.shard);
    for (const auto& [name, lane] : running_)
      if (tree.find(name.shard) == nullptr) surroundings_.scheduler->wake(lane);
  }
  engine::Documents& documents = surroundings_.database.documents();
  for (const engine::ShardNumber shard : forgotten) {
    const engine::Lock lock(gate_->mutex);
    if (gate_->open) documents.write(position_names(documents, *mapping(), shard), {});
  }
  const engine::Lock lock(mutex_);
  for (const engine::ShardNumber shard : forgotten) stored_.erase(shard);
  std::erase_if(done_, [&](const LaneName& name) { return forgotten.contains(name.shard); });
  forgotten_ = tree.forgotten();
}

bool Poller::has_looked_up_to(engine::Sequence target) const {
  const engine::Lock lock(notes_mutex_);
  return searched_ && to_look_at_.are_after(target) && notes_.are_after(target);
}

void Poller::lane_ended(const LaneName& name) {
  const auto tree = shards_->present();
  {
    const engine::Lock lock(mutex_);
    done_.insert(name);
    running_.erase(name);
    if (shard_done(name.shard)) release_waiting(name.shard);
    if (tree && tree->find(name.shard) == nullptr) forgets_ = true;
  }
  rouse();
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

// --- calls by lanes and by other code

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
  if (const auto& tell = surroundings_.database.options().notice; tell && !notice.empty()) tell(notice);
}

void Poller::wake() {
  wakes_lanes_ = true;
  rouse();
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
  return has_looked_up_to(target) && std::all_of(running_.begin(), running_.end(), [&](const auto& entry) {
           return entry.second->settled(target);
         });
}

bool Poller::at_rest(engine::Sequence target, std::uint64_t flush) const {
  const engine::Lock lock(mutex_);
  // The function may have been registered just now, before the lanes that wait for it were woken.
  const bool registered =
      surroundings_.functions.find(mapping_->function.account, mapping_->function.name).has_value();
  return has_looked_up_to(target) && std::all_of(running_.begin(), running_.end(), [&](const auto& entry) {
           const Lane& lane = *entry.second;
           return lane.settled(target) || (!registered && lane.stuck()) || lane.failing(flush);
         });
}

Poller::Load Poller::load() const {
  const engine::Lock lock(mutex_);
  Load load{.lanes = running_.size(), .looks = looks_};
  for (const auto& [ancestor, shards] : waiting_) load.waiting += shards.size();
  return load;
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
