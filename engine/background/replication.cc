#include "engine/background/replication.h"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <set>
#include <shared_mutex>

#include "engine/background/stream_trimmer.h"
#include "engine/base/attempt.h"
#include "engine/base/watermark.h"
#include "engine/items/recent_writes.h"
#include "engine/items/transaction.h"
#include "engine/items/write_path.h"
#include "engine/storage/documents.h"
#include "engine/storage/key_space.h"
#include "engine/storage/storage.h"
#include "engine/tables/replica_log.h"
#include "engine/values/key_codec.h"

namespace mayfly::engine {
namespace {

constexpr std::size_t batch_writes_max = 64;   // writes that one transaction applies
constexpr std::size_t slice_writes_max = 256;  // writes of one flow, before the next flow is served
constexpr std::string_view routes_kind = "@replication";  // documents named "us-east-1>eu-west-1"

std::string route_name(const Route& route) { return route.from + '>' + route.to; }

// Encodes a setting. For example, "1 500" means paused, with a lag of half a second.
std::string setting_bytes(const RouteSetting& setting) {
  return (setting.paused ? "1 " : "0 ") + std::to_string(setting.lag_ms);
}

std::optional<std::pair<Route, RouteSetting>> read_route(const Document& document) {
  const std::string& name = document.name.name;
  const std::string& bytes = document.bytes;
  const auto arrow = name.find('>');
  if (arrow == std::string::npos || bytes.size() < 3) return std::nullopt;
  RouteSetting setting{.paused = bytes[0] == '1'};
  const auto read = std::from_chars(bytes.data() + 2, bytes.data() + bytes.size(), setting.lag_ms);
  if (read.ec != std::errc() || setting.lag_ms < 0) return std::nullopt;
  return std::pair(Route{name.substr(0, arrow), name.substr(arrow + 1)}, setting);
}

bool copies(const Table& to, TableId from) {
  return std::find(to.copies_from.begin(), to.copies_from.end(), from) != to.copies_from.end();
}

std::optional<std::chrono::nanoseconds> sooner(std::optional<std::chrono::nanoseconds> a,
                                               std::optional<std::chrono::nanoseconds> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

}  // namespace

// Each step is one round: it does a slice of work for each account that may have writes to replicate.
class Replication::Rounds final : public Task {
 public:
  static constexpr auto wait_after_fault = fault_wait;

  explicit Rounds(Replication& replication) : replication_(replication) {}

 private:
  Next step() override {
    const Lock moving(replication_.moving_);
    for (Account* account : replication_.agenda_.take(replication_.scheduler_->now())) {
      attempt([&]() NO_THREAD_SAFETY_ANALYSIS { replication_.round(*account); },
              [&](std::string_view) { replication_.look_again(*account, fault_wait); });
    }
    if (replication_.agenda_.any_added()) return Next::at_once();
    const auto alarm = replication_.agenda_.next_alarm();
    return alarm ? Next::at(*alarm) : Next::when_woken();
  }
  Next failed(std::string_view) override { return Next::after(*replication_.scheduler_, fault_wait); }

  Replication& replication_;
};

Replication::Replication(const Uses& uses, std::shared_ptr<Scheduler> scheduler)
    : uses_(uses), scheduler_(std::move(scheduler)) {
  for (const Document& document : uses_.documents.list(routes_kind))
    if (const auto route = read_route(document)) routes_[document.name.account].insert(*route);
  for (const auto& live : uses_.catalog.tables())
    if (live->description()->replicates()) members_changed(live->account());
}

void Replication::start() {
  rounds_ = std::make_shared<Rounds>(*this);
  scheduler_->wake(rounds_);
}

void Replication::wake(Account& account) {
  agenda_.add(&account);
  if (rounds_) scheduler_->wake(rounds_);
}

void Replication::look_again(Account& account, std::chrono::nanoseconds pause) {
  agenda_.set_alarm(&account, scheduler_->now() + std::chrono::ceil<RealTime::duration>(pause));
}

void Replication::members_changed(Account& account) {
  {
    const Lock lock(mutex_);
    stale_[&account] = ++last_change_;
  }
  wake(account);
}

void Replication::replaced(Account& account) {
  load(account.id());
  members_changed(account);
}

// --- the routes

void Replication::load(std::string_view account) {
  const Lock moving(moving_);  // a concurrent set_route() runs entirely before or after this call
  std::map<Route, RouteSetting> loaded;
  for (const Document& document : uses_.documents.list(account, routes_kind))
    if (const auto route = read_route(document)) loaded.insert(*route);
  const Lock lock(mutex_);
  routes_[std::string(account)] = std::move(loaded);
}

bool Replication::set_route(std::string_view account, const Route& route, const RouteSetting& setting) {
  const DocumentName name{std::string(account), std::string(routes_kind), route_name(route)};
  const Lock moving(moving_);  // keeps storage and memory consistent when several callers set routes
  if (setting == RouteSetting{}) {
    uses_.documents.erase(name);
  } else {
    const std::map<Route, RouteSetting> known = routes(account);
    if (!known.contains(route) && known.size() >= routes_max) return false;
    uses_.documents.put(name, setting_bytes(setting));
  }
  {
    const Lock lock(mutex_);
    std::map<Route, RouteSetting>& own = routes_[std::string(account)];
    setting == RouteSetting{} ? void(own.erase(route)) : void(own.insert_or_assign(route, setting));
  }
  wake(uses_.accounts.of(account));
  return true;
}

RouteSetting Replication::route(std::string_view account, const Route& route) const {
  const Lock lock(mutex_);
  const auto own = routes_.find(account);
  if (own == routes_.end()) return {};
  const auto found = own->second.find(route);
  return found == own->second.end() ? RouteSetting{} : found->second;
}

std::map<Route, RouteSetting> Replication::routes(std::string_view account) const {
  const Lock lock(mutex_);
  const auto own = routes_.find(account);
  return own == routes_.end() ? std::map<Route, RouteSetting>() : own->second;
}

std::vector<InFlight> Replication::counted(std::string_view account) const {
  std::vector<InFlight> result;
  for (const auto& live : account.empty() ? uses_.catalog.tables() : uses_.catalog.tables(account)) {
    const std::shared_ptr<const Table> table = live->description();
    if (!table->replicates()) continue;
    for (const Replica& replica : table->replicas) {
      InFlight& flight = result.emplace_back();
      flight.account = table->account;
      flight.table = table->name;
      flight.route = {table->region, replica.region};
      const std::string prefix = departures_prefix(table->id, replica.table);
      Storage::Iterator departures(uses_.storage, prefix, prefix_end(prefix));
      for (departures.seek_to_first(); departures.valid() && flight.writes < InFlight::counted_max;
           departures.next(), ++flight.writes) {
        if (flight.writes > 0) continue;
        if (const auto first = decode_departure(departures.value())) flight.oldest = first->at;
      }
    }
  }
  return result;
}

std::vector<InFlight> Replication::in_flight(std::string_view account) const { return counted(account); }
std::vector<InFlight> Replication::in_flight() const { return counted({}); }

bool Replication::is_in_flight(TableId from, TableId to) const {
  const std::string prefix = departures_prefix(from, to);
  Storage::Iterator departures(uses_.storage, prefix, prefix_end(prefix));
  departures.seek_to_first();
  return departures.valid();
}

// --- moving

bool Replication::is_stale(Account& account) const {
  const Lock lock(mutex_);
  return stale_.contains(&account);
}

Replication::Flows& Replication::flows_of(Account& account) {
  Flows& flows = flows_.try_emplace(&account, Flows{&account, {}, {}}).first->second;
  std::uint64_t change = 0;
  {
    const Lock lock(mutex_);
    const auto stale = stale_.find(&account);
    if (stale == stale_.end()) return flows;
    change = stale->second;
  }
  flows.all.clear();
  for (const auto& live : uses_.catalog.tables(account.id())) {
    const std::shared_ptr<const Table> table = live->description();
    if (!table->replicates()) continue;
    for (const Replica& replica : table->replicas) {
      Flow& flow = flows.all.emplace_back();
      flow.from = table->id;
      flow.to = replica.table;
      flow.route = {table->region, replica.region};
    }
  }
  const Lock lock(mutex_);
  const auto stale = stale_.find(&account);
  if (stale->second == change) stale_.erase(stale);  // otherwise, the replicas have changed again
  return flows;
}

void Replication::look(Flow& flow) const {
  const Sequence published = uses_.watermark.published();
  Storage::Iterator iterator(uses_.storage, departure_key(flow.from, flow.to, flow.first),
                             departure_key(flow.from, flow.to, published + 1));
  iterator.seek_to_first();
  flow.first = iterator.valid() ? replica_sequence(iterator.key()) : std::max(flow.first, published + 1);
}

Replication::Step Replication::move(Account& account, Flow& flow, Sequence upto, std::size_t items_max) {
  const std::shared_ptr<LiveTable> to = uses_.catalog.find(flow.to);
  if (!to) return {};
  const RouteSetting setting = route(account.id(), flow.route);
  if (setting.paused) return {.progress = Progress::waits};
  const Instant now = account.clock().now();
  struct Arrival {
    std::string departure_key, bytes;
    Departure departure;
  };
  Step step;
  Storage::Iterator iterator(uses_.storage, departure_key(flow.from, flow.to, flow.first),
                             departure_key(flow.from, flow.to, upto + 1));
  iterator.seek_to_first();
  while (step.items < items_max) {
    std::vector<Arrival> arrivals;
    std::set<std::string_view> keys;
    while (iterator.valid() && arrivals.size() < std::min(batch_writes_max, items_max - step.items)) {
      const auto departure = decode_departure(iterator.value());
      if (!departure) throw StorageFault("a write in flight to a replica cannot be decoded");
      if (departure->at + setting.lag_ms > now) {
        step.progress = Progress::waits;
        step.pause = account.clock().real_time_until(departure->at + setting.lag_ms);
        break;
      }
      if (keys.contains(departure->key)) break;  // a transaction can write an item only once
      Arrival& arrival = arrivals.emplace_back();
      arrival.departure_key = iterator.key();
      arrival.bytes = iterator.value();
      arrival.departure = *decode_departure(arrival.bytes);
      keys.insert(arrival.departure.key);
      iterator.next();
    }
    if (arrivals.empty()) break;
    Transaction transaction(uses_.path, Transaction::Replicated{});
    for (const Arrival& arrival : arrivals) transaction.add(to, std::string(arrival.departure.key));
    if (!transaction.lock()) return {};
    // If the source is no longer a replica, the versions that show which write is later may have been erased.
    if (!has_replica(transaction.table(0), flow.from)) return {};
    for (std::size_t slot = 0; slot < arrivals.size(); ++slot) {
      const Departure& departure = arrivals[slot].departure;
      transaction.replicate(slot, {.number = departure.version, .origin = departure.origin}, departure.item);
      transaction.arrived(arrivals[slot].departure_key);
    }
    transaction.commit();
    step.items += arrivals.size();
    flow.first = replica_sequence(arrivals.back().departure_key) + 1;
    if (step.progress == Progress::waits) break;
  }
  if (iterator.valid()) {
    flow.first = replica_sequence(iterator.key());
    if (step.progress != Progress::waits) step.progress = Progress::more;
  } else {
    flow.first = std::max(flow.first, upto + 1);
  }
  return step;
}

// --- copying to a new replica

Replication::Step Replication::copy(Account& account, Flow& flow, std::size_t items_max) {
  const std::shared_ptr<LiveTable> to = uses_.catalog.find(flow.to);
  if (!to || !copies(*to->description(), flow.from)) return {};
  if (is_stale(account)) return {.progress = Progress::more};  // flows to new replicas may be missing
  for (std::size_t items = 0; items < items_max; items += batch_writes_max)
    if (copy_items(flow, to, batch_writes_max)) return {.items = items + 1};
  return {.progress = Progress::more, .items = items_max};
}

// Copies one batch. Returns true once everything has been copied. Copies the tombstones after the items:
// while a deletion in `flow.from` is still in flight to another table, the new replica may copy the deleted
// item from that table, and the tombstone then removes this copy.
bool Replication::copy_items(Flow& flow, const std::shared_ptr<LiveTable>& to, std::size_t items) {
  struct Copied {
    std::string key, item;
    WriteVersion version;
  };
  std::vector<Copied> copied;
  const Storage::Snapshot at(uses_.storage);
  const auto version_of = [&](std::string_view key) {
    std::string bytes;
    if (!uses_.storage.get(write_version_key(flow.from, key), bytes, &at)) return WriteVersion{};
    return decode_version(bytes).value_or(WriteVersion{});
  };
  const auto walk = [&](const std::string& prefix, const auto& visit) {
    Storage::Iterator iterator(uses_.storage, prefix + flow.copied_to, prefix_end(prefix), &at);
    for (iterator.seek_to_first(); iterator.valid() && copied.size() < items; iterator.next())
      visit(iterator);
    return iterator.valid() ? std::string(iterator.key().substr(prefix.size())) : std::string();
  };
  std::string next;
  if (!flow.items_copied) {
    const std::string prefix = item_key(flow.from, 0, {});
    next = walk(prefix, [&](const Storage::Iterator& iterator) {
      const std::string_view key = iterator.key().substr(prefix.size());
      copied.push_back({std::string(key), std::string(iterator.value()), version_of(key)});
    });
  } else {
    const std::string prefix = table_prefix('Y', flow.from);
    next = walk(prefix, [&](const Storage::Iterator& iterator) {
      const std::string_view key = tombstone_item_key(iterator.key());
      if (const WriteVersion version = version_of(key); version.gone())
        copied.push_back({std::string(key), {}, version});
    });
  }
  if (!copied.empty()) {
    Transaction transaction(uses_.path, Transaction::Replicated{});
    for (const Copied& each : copied) transaction.add(to, each.key);
    if (!transaction.lock() || !copies(transaction.table(0), flow.from)) return true;
    for (std::size_t slot = 0; slot < copied.size(); ++slot) {
      WriteVersion version = copied[slot].version;
      if (version.origin == 0) version.origin = flow.from;
      transaction.replicate(slot, version, copied[slot].item);
    }
    transaction.commit();
  }
  flow.copied_to = std::move(next);
  if (!flow.copied_to.empty()) return false;
  if (!std::exchange(flow.items_copied, true)) return false;
  finish_copy(flow, to);
  return true;
}

void Replication::finish_copy(const Flow& flow, const std::shared_ptr<LiveTable>& to) {
  const std::shared_ptr<LiveTable> from = uses_.catalog.find(flow.from);
  const std::shared_ptr<const Table> source = from ? from->description() : nullptr;
  const bool had_stream = to->description()->stream.has_value();
  const std::shared_ptr<const Table> after = uses_.catalog.update(*to, [&](Table& table) {
    std::erase(table.copies_from, flow.from);
    if (table.copies_from.empty() && !table.stream)
      table.stream =
          Stream{.view = source && source->stream ? source->stream->view : StreamView::new_and_old_images};
    // Readers may read the table from now on. Forget its recent writes, so that readers see all copied items.
    if (table.copies_from.empty()) uses_.recent_writes.forget(table.id);
  });
  if (after && after->stream && !had_stream) uses_.stream_trimmer.stream_made(to->account());
}

void Replication::copy_some(const std::shared_ptr<LiveTable>& table, std::size_t items_max) {
  const Lock moving(moving_);
  for (Flow& flow : flows_of(table->account()).all)
    if (flow.to == table->id()) copy(table->account(), flow, items_max);
}

// --- tombstones

bool Replication::forget_tombstones(Flows& flows, TableId id) {
  const std::shared_ptr<LiveTable> live = uses_.catalog.find(id);
  if (!live) return true;
  if (is_stale(*flows.account)) return false;  // a new replica may send writes older than a tombstone
  const std::shared_ptr<const Table> table = live->description();
  const auto is_copying = [&](TableId member) {
    const std::shared_ptr<LiveTable> other = uses_.catalog.find(member);
    return other && !other->description()->copies_from.empty();
  };
  if (is_copying(id) || std::any_of(table->replicas.begin(), table->replicas.end(),
                                    [&](const Replica& each) { return is_copying(each.table); }))
    return true;
  Sequence oldest = uses_.watermark.published() + 1;
  for (Flow& flow : flows.all) {
    if (flow.from != id && flow.to != id) continue;
    look(flow);
    oldest = std::min(oldest, flow.first);
  }
  std::vector<std::string> keys;
  const std::string prefix = table_prefix('Y', id);
  Storage::Iterator iterator(uses_.storage, prefix, prefix_end(prefix));
  for (iterator.seek_to_first(); iterator.valid() && keys.size() < batch_writes_max; iterator.next()) {
    if (replica_sequence(iterator.key()) >= oldest) break;
    keys.emplace_back(iterator.key());
  }
  if (keys.empty()) return true;
  Transaction transaction(uses_.path, Transaction::Replicated{});
  for (const std::string& key : keys) transaction.add(live, std::string(tombstone_item_key(key)));
  if (!transaction.lock()) return true;
  for (std::size_t slot = 0; slot < keys.size(); ++slot)
    transaction.forget_tombstone(slot, replica_sequence(keys[slot]));
  transaction.commit();
  return keys.size() < batch_writes_max;
}

// --- rounds

void Replication::round(Account& account) {
  const std::shared_lock request(account.requests(), std::try_to_lock);
  if (!request) return;  // the account is being replaced; the end of the replacement wakes this task
  bool any_more = false;
  std::optional<std::chrono::nanoseconds> pause;
  // A flow that fails does not delay the others.
  const auto attempt_step = [&](const auto& take) {
    const Step step = attempt(take, [&](std::string_view) {
      return Step{.progress = Progress::waits, .pause = Rounds::wait_after_fault};
    });
    any_more = any_more || step.progress == Progress::more;
    if (step.progress == Progress::waits) pause = sooner(pause, step.pause);
    return step.items > 0;
  };
  Flows& flows = flows_of(account);
  for (Flow& flow : flows.all) {
    attempt_step([&]() NO_THREAD_SAFETY_ANALYSIS { return copy(account, flow, slice_writes_max); });
    const Sequence upto = uses_.watermark.published();
    const auto move_some = [&]() NO_THREAD_SAFETY_ANALYSIS {
      return move(account, flow, upto, slice_writes_max);
    };
    if (attempt_step(move_some)) flows.forgetting.insert({flow.from, flow.to});
  }
  for (const TableId table : std::set(flows.forgetting)) {
    attempt_step([&]() NO_THREAD_SAFETY_ANALYSIS {
      if (!forget_tombstones(flows, table)) return Step{.progress = Progress::more};
      flows.forgetting.erase(table);
      return Step{};
    });
  }
  if (flows.all.empty()) flows_.erase(&account);
  if (any_more) {
    agenda_.add(&account);
  } else if (pause) {
    look_again(account, *pause);
  }
}

void Replication::settle(Account& account, const std::stop_token& stop) {
  const Sequence upto = uses_.watermark.published();
  while (settle_some(account, upto) && !stop.stop_requested()) {}
}

void Replication::settle_in_slices(std::string_view id, const std::stop_token& stop) {
  Account& account = uses_.accounts.of(id);
  const Sequence upto = uses_.watermark.published();
  for (bool more = true; more && !stop.stop_requested();) {
    const std::shared_lock request(account.requests());
    more = settle_some(account, upto);
  }
}

bool Replication::settle_some(Account& account, Sequence upto) {
  bool more = false;
  const Lock moving(moving_);
  Flows& flows = flows_of(account);
  std::set<TableId> tables;
  for (Flow& flow : flows.all) {
    tables.insert({flow.from, flow.to});
    more = copy(account, flow, slice_writes_max).progress == Progress::more || more;
    more = move(account, flow, upto, slice_writes_max).progress == Progress::more || more;
  }
  for (const TableId table : tables) more = !forget_tombstones(flows, table) || more;
  if (!more) wake(account);  // writes with a lag still wait, and the clock may have changed
  return more;
}

}  // namespace mayfly::engine
