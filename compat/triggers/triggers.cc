#include "compat/triggers/triggers.h"

#include <algorithm>
#include <utility>

#include "compat/lambda/lambda_error.h"
#include "compat/memory_room.h"
#include "compat/streams/arn_and_iterator.h"
#include "engine/base/attempt.h"
#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/base/uuid.h"
#include "engine/storage/documents.h"

namespace mayfly::compat::triggers {
namespace {

class NoInvoker final : public outbound::Invoker {
  void start(outbound::Invocation, std::stop_token, Done done) override {
    done(Unexpected{outbound::InvocationFailure{outbound::InvocationFailure::Kind::unreachable,
                                                "functions cannot be called from here"}});
  }
};

std::optional<engine::Stream> stream_of(const engine::Database& database, const EventSourceMapping& mapping) {
  const auto name = parse_stream_arn(mapping.event_source_arn);
  if (!name || engine::Scope{name->account, name->region} != mapping.scope) return std::nullopt;
  return database.catalog().find_stream(mapping.scope, name->table_name, name->label);
}

// Returns where a mapping begins: at the trim horizon, or after the last record that existed when the mapping
// was created. The start is stored immediately, so that a later snapshot contains it.
engine::Sequence start_of(const EventSourceMapping& mapping, const engine::Stream& stream,
                          engine::Sequence published) {
  engine::Sequence start = published + 1;
  if (mapping.starting_position == "LATEST") return start;
  for (const engine::Shard& shard : stream.shards) start = std::min(start, shard.oldest_sequence);
  return start;
}

Unexpected<Error> no_such_mapping() {
  return lambda_error::not_found("The resource you requested does not exist.");
}

}  // namespace

Triggers::Triggers(engine::Database& database, TriggerOptions options,
                   std::unique_ptr<DestinationDirectory> files)
    : database_(database),
      invoker_(options.invoker ? std::move(options.invoker) : std::make_shared<NoInvoker>()),
      files_(std::move(files)),
      mappings_max_(options.mappings_max),
      filters_max_(options.filters_max),
      held_records_(std::make_shared<HeldRecords>(options.held_bytes_max)),
      scheduler_(database.options().make_scheduler(threads_max)),
      event_calls_(*invoker_, scheduler_),
      functions_(database.documents(), std::move(options.functions), options.functions_max,
                 [this](std::string_view account) {
                   const engine::Lock lock(mutex_);
                   for (const auto& [name, entry] : entries_of(account))
                     if (entry.poller) entry.poller->wake();
                 }) {
  const engine::Lock lock(mutex_);
  load();
}

Triggers::~Triggers() {
  {
    const engine::Lock lock(mutex_);
    subscription_.end();
    for (auto& [name, entry] : entries_) stop(entry);
  }
  scheduler_->end();  // waits for short steps, but not for the end of stopped calls
}

void Triggers::load() {
  for (const engine::Document& stored : database_.documents().list(mapping_kind)) {
    auto mapping = from_document(stored);
    if (!mapping) continue;
    Name name{mapping->scope, mapping->uuid};
    Entry& entry = entries_[std::move(name)];
    entry.mapping = *std::move(mapping);
    start(entry);
  }
}

template <typename Some>
auto Triggers::range_of(Some& entries, std::string_view account) {
  const auto first = entries.lower_bound({{std::string(account), {}}, {}});
  auto last = first;
  while (last != entries.end() && last->first.first.account == account) ++last;
  return Range<decltype(last)>{first, last};
}

Triggers::Range<Triggers::Entries::iterator> Triggers::entries_of(std::string_view account) {
  return range_of(entries_, account);
}

Triggers::Range<Triggers::Entries::const_iterator> Triggers::entries_of(std::string_view account) const {
  return range_of(entries_, account);
}

// While a Hold exists, no poller of the account is started and no mapping is created.
class Triggers::Hold {
 public:
  Hold(Triggers& triggers, std::string_view account) : triggers_(triggers), account_(account) {
    triggers_.held_.emplace(account_);
  }
  ~Hold() {
    {
      const engine::Lock lock(triggers_.mutex_);
      triggers_.held_.erase(triggers_.held_.find(account_));
      for (auto& [name, entry] : triggers_.entries_of(account_)) triggers_.start(entry);
    }
    triggers_.progress_.ring();
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  Triggers& triggers_;
  const std::string account_;
};

void Triggers::while_stopped(std::string_view account, const std::function<void()>& replace) {
  std::optional<Hold> hold;
  std::map<Name, StoredProgress> before;
  {
    const engine::Lock lock(mutex_);
    hold.emplace(*this, account);
    for (auto& [name, entry] : entries_of(account)) {
      stop(entry);
      close_gate(entry);
      entry.tally->given_up_log().forget();
      before[name] = stored_progress(database_.documents(), entry.mapping);
    }
  }
  replace();
  const engine::Lock lock(mutex_);  // released before the hold ends
  for (const auto& [name, progress] : before) {
    const auto entry = entries_.find(name);
    if (entry != entries_.end()) carry_over(entry->second.mapping, progress);
  }
  forget_strangers(account);
}

void Triggers::carry_over(const EventSourceMapping& mapping, const StoredProgress& progress) {
  const auto stream = stream_of(database_, mapping);
  if (!stream || !stored_progress(database_.documents(), mapping).empty()) return;
  std::vector<engine::Document> documents;
  if (progress.start) documents.push_back(start_document(mapping, *progress.start));
  for (const StoredPosition& one : progress.lanes) {
    const engine::Shard* const shard = stream->find_shard(one.lane.shard);
    if (shard == nullptr) continue;
    Position position = one.position;
    position.done = position.done && shard->closed;
    documents.push_back(to_document(mapping, one.lane, position));
  }
  database_.documents().write({}, documents);
}

void Triggers::forget_strangers(std::string_view account) {
  std::set<std::string_view> known;
  for (const auto& [name, entry] : entries_of(account)) known.insert(name.second);
  std::vector<engine::DocumentName> strangers;
  for (auto& [name, uuid] : position_owners(database_.documents(), account)) {
    if (!known.contains(uuid)) strangers.push_back(std::move(name));
  }
  database_.documents().write(strangers, {});
}

void Triggers::reset(std::string_view account, const std::function<void()>& empty) {
  std::optional<Hold> hold;
  {
    const engine::Lock lock(mutex_);
    hold.emplace(*this, account);
    const auto all = entries_of(account);
    for (auto one = all.begin(); one != all.end(); one = entries_.erase(one)) {
      stop(one->second);
      close_gate(one->second);
      erase(one->second);
    }
  }
  empty();
}

void Triggers::erase(const Entry& entry) {
  std::vector<engine::DocumentName> erased = position_names(database_.documents(), entry.mapping);
  erased.push_back(to_document(entry.mapping).name);
  database_.documents().write(erased, {});
}

void Triggers::listen() {
  if (listening_) return;
  subscription_ = database_.change_feed().subscribe([this](const engine::Change& change) {
    if (!change.sequence) return;
    const engine::Lock lock(pollers_mutex_);
    const auto [first, last] = pollers_.equal_range(change.table->id);
    for (auto one = first; one != last; ++one) {
      if (one->second->stream().id == change.table->stream->id)
        one->second->written(change.shard, *change.sequence);
    }
  });
  listening_ = true;
}

std::shared_ptr<StreamShards> Triggers::shards_of(const engine::Stream& stream) {
  {
    const engine::Lock lock(pollers_mutex_);
    const auto [first, last] = pollers_.equal_range(stream.table);
    const auto other =
        std::find_if(first, last, [&](const auto& one) { return one.second->stream().id == stream.id; });
    if (other != last) return other->second->shards();
  }
  return std::make_shared<StreamShards>(database_, stream.id);
}

void Triggers::start(Entry& entry) {
  if (!entry.mapping.enabled || entry.poller || held_.contains(entry.mapping.scope.account)) return;
  const auto stream = stream_of(database_, entry.mapping);
  if (!stream) return;
  const Surroundings surroundings{database_,     functions_, *invoker_, *files_,
                                  held_records_, scheduler_, progress_};
  entry.poller = std::make_shared<Poller>(surroundings, entry.mapping, *stream, shards_of(*stream),
                                          entry.gate, entry.tally);
  listen();
  {
    const engine::Lock lock(pollers_mutex_);
    pollers_.emplace(stream->table, entry.poller.get());
  }
  entry.poller->begin_after(std::exchange(entry.last, nullptr));
}

void Triggers::stop(Entry& entry) {
  if (!entry.poller) return;
  {
    const engine::Lock lock(pollers_mutex_);
    const auto [first, last] = pollers_.equal_range(entry.poller->stream().table);
    pollers_.erase(
        std::find_if(first, last, [&](const auto& one) { return one.second == entry.poller.get(); }));
  }
  entry.poller->end();  // settle() can keep the object alive longer
  entry.last = std::exchange(entry.poller, nullptr);
}

void Triggers::close_gate(Entry& entry) {
  {
    const engine::Lock lock(entry.gate->mutex);
    entry.gate->open = false;
  }
  entry.gate = std::make_shared<PositionGate>();
}

Result<void> Triggers::check_destination(const EventSourceMapping& mapping) const {
  if (!DestinationDirectory::is_file(mapping.on_failure)) return {};
  auto may_be = files_->check(mapping.on_failure);
  if (!may_be) return lambda_error::invalid_parameter("Invalid destination. " + may_be.error() + ".");
  return {};
}

Result<void> Triggers::check_threads() {
  if (!scheduler_->start()) return lambda_error::unavailable("Cannot start a thread to read the stream.");
  if (auto ready = invoker_->prepare(); !ready) return lambda_error::unavailable(ready.error());
  return {};
}

Result<void> Triggers::check_room() const {
  auto room = compat::check_room(database_);
  if (!room) return lambda_error::too_many_requests(std::move(room).error().message);
  return {};
}

Triggers::View Triggers::view(const Entry& entry) {
  const Poller* const at_work = entry.poller ? entry.poller.get() : entry.last.get();
  std::string result = entry.mapping.enabled && !entry.poller ? "PROBLEM: Stream not found"
                       : at_work != nullptr                   ? at_work->last_result()
                                                              : Poller::nothing_processed;
  return {entry.mapping, entry.mapping.enabled ? "Enabled" : "Disabled", std::move(result),
          entry.tally->counts(), entry.poller ? entry.poller->retrying() : std::nullopt};
}

Result<Triggers::View> Triggers::create(EventSourceMapping mapping) {
  const auto stream = stream_of(database_, mapping);
  if (!stream) return lambda_error::invalid_parameter("Stream not found: " + mapping.event_source_arn);
  CHECK_OK(check_destination(mapping));
  if (mapping.enabled) CHECK_OK(check_threads());
  const engine::Lock lock(mutex_);
  if (held_.contains(mapping.scope.account)) {
    return lambda_error::conflict("The account is being restored or reset.");
  }
  for (const auto& [name, other] : entries_of(mapping.scope.account)) {
    if (other.mapping.scope == mapping.scope && other.mapping.event_source_arn == mapping.event_source_arn &&
        other.mapping.function == mapping.function) {
      return lambda_error::conflict(
          "The event source arn (\" " + mapping.event_source_arn + " \") and function (\" " +
          mapping.function.name +
          " \") provided mapping already exists. Please update or delete the existing "
          "mapping with UUID " +
          other.mapping.uuid);
    }
  }
  if (entries_.size() >= mappings_max_) {
    return lambda_error::too_many_requests("Too many event source mappings on this server (limit " +
                                           std::to_string(mappings_max_) + ", set by --mappings-max).");
  }
  CHECK_OK(check_room());
  mapping.uuid = engine::random_uuid(*database_.options().random);
  mapping.last_modified = database_.accounts().of(mapping.scope.account).now();
  const engine::Sequence first = start_of(mapping, *stream, database_.watermark().published());
  database_.documents().write({}, {start_document(mapping, first), to_document(mapping)});
  Entry& entry = entries_[{mapping.scope, mapping.uuid}];
  entry.mapping = std::move(mapping);
  start(entry);
  return View{entry.mapping, "Creating", Poller::nothing_processed, {}};
}

std::optional<Triggers::View> Triggers::find(const engine::Scope& scope, std::string_view uuid) const {
  const engine::Lock lock(mutex_);
  const auto found = entries_.find({scope, std::string(uuid)});
  return found == entries_.end() ? std::nullopt : std::optional(view(found->second));
}

std::size_t Triggers::count() const {
  const engine::Lock lock(mutex_);
  return entries_.size();
}

std::vector<Triggers::View> Triggers::list(const engine::Scope& scope) const {
  std::vector<View> views;
  const engine::Lock lock(mutex_);
  for (const auto& [name, entry] : entries_of(scope.account)) {
    if (name.first == scope) views.push_back(view(entry));
  }
  return views;
}

Result<Triggers::View> Triggers::update(const engine::Scope& scope, std::string_view uuid,
                                        const std::function<Result<void>(EventSourceMapping&)>& change) {
  const engine::Lock lock(mutex_);
  const auto found = entries_.find({scope, std::string(uuid)});
  if (found == entries_.end()) return no_such_mapping();
  Entry& entry = found->second;
  EventSourceMapping changed = entry.mapping;
  CHECK_OK(change(changed));
  if (changed.on_failure != entry.mapping.on_failure) CHECK_OK(check_destination(changed));
  if (changed.enabled && !entry.poller) CHECK_OK(check_threads());
  changed.last_modified = database_.accounts().of(scope.account).now();
  const engine::Document document = to_document(changed);
  database_.documents().put(document.name, document.bytes);
  const bool stays = changed.enabled && changed.parallelization == entry.mapping.parallelization;
  const std::string_view state = changed.enabled == entry.mapping.enabled ? "Updating"
                                 : changed.enabled                        ? "Enabling"
                                                                          : "Disabling";
  if (!stays) stop(entry);
  entry.mapping = std::move(changed);
  if (entry.poller) entry.poller->change(entry.mapping);
  start(entry);
  View answer = view(entry);
  answer.state = state;
  return answer;
}

Result<Triggers::View> Triggers::remove(const engine::Scope& scope, std::string_view uuid) {
  const engine::Lock lock(mutex_);
  const auto found = entries_.find({scope, std::string(uuid)});
  if (found == entries_.end()) return no_such_mapping();
  Entry& entry = found->second;
  View answer = view(entry);
  answer.state = "Deleting";
  stop(entry);
  close_gate(entry);
  engine::attempt([&]() NO_THREAD_SAFETY_ANALYSIS { erase(entry); },
                  [&](std::string_view) NO_THREAD_SAFETY_ANALYSIS {
                    start(entry);  // restores the previous state
                    throw;
                  });
  entries_.erase(found);
  return answer;
}

Triggers::Settled Triggers::settle(std::string_view account, std::chrono::milliseconds time_max,
                                   const std::stop_token& stop) {
  const engine::Sequence target = database_.change_feed().told();
  const Marks marks = reported(account);
  std::map<std::shared_ptr<Poller>, std::uint64_t> flushed;  // the number of each poller's flush
  std::vector<std::shared_ptr<Poller>> present;              // a changed mapping gets a new poller
  const auto look = [&] {
    const engine::Lock lock(mutex_);
    present.clear();
    for (const auto& [name, entry] : entries_of(account)) {
      if (!entry.poller) continue;
      present.push_back(entry.poller);
      if (!flushed.contains(entry.poller)) flushed[entry.poller] = entry.poller->begin_flush();
    }
    return !held_.contains(account);
  };
  const auto deadline = engine::host_time() + time_max;
  const std::stop_callback wakes_us(stop, [this] { progress_.ring(); });
  bool in_time = true;
  while (in_time && !stop.stop_requested()) {
    const auto ticket = progress_.ticket();
    const bool nothing_moves = look() && std::all_of(present.begin(), present.end(), [&](const auto& poller) {
                                 return poller->at_rest(target, flushed[poller]);
                               });
    if (nothing_moves) break;
    in_time = progress_.wait(ticket, deadline);
  }
  for (const auto& [poller, number] : flushed) poller->end_flush();
  Settled settled;
  for (const auto& poller : present) {
    if (poller->settled(target)) continue;
    auto mapping = poller->mapping();
    const bool registered = functions_.find(mapping->function.account, mapping->function.name).has_value();
    settled.unfinished.push_back({std::move(mapping), poller->last_result(), registered, poller->retrying()});
  }
  collect_given_up(account, marks, !stop.stop_requested(), settled);
  return settled;
}

Poller::Load Triggers::load(std::string_view account) const {
  Poller::Load sum;
  const engine::Lock lock(mutex_);
  for (const auto& [name, entry] : entries_of(account)) {
    if (!entry.poller) continue;
    const Poller::Load one = entry.poller->load();
    sum.lanes += one.lanes;
    sum.waiting += one.waiting;
    sum.looks += one.looks;
  }
  return sum;
}

Triggers::Marks Triggers::reported(std::string_view account) const {
  Marks marks;
  const engine::Lock lock(mutex_);
  for (const auto& [name, entry] : entries_of(account)) {
    marks[entry.tally] = entry.tally->given_up_log().reported();
  }
  return marks;
}

void Triggers::collect_given_up(std::string_view account, const Marks& marks, bool report,
                                Settled& settled) const {
  const engine::Lock lock(mutex_);
  for (const auto& [name, entry] : entries_of(account)) {
    GivenUpLog& log = entry.tally->given_up_log();
    const auto mark = marks.find(entry.tally);
    GivenUpLog::Found found = log.since(mark == marks.end() ? 0 : mark->second);
    if (report) log.set_reported(found.end);
    settled.given_up_left_out += found.left_out;
    for (GivenUp& batch : found.batches) {
      if (settled.given_up.size() < given_up_max) {
        settled.given_up.push_back({entry.mapping.uuid, entry.mapping.event_source_arn, std::move(batch)});
      } else {
        ++settled.given_up_left_out;
      }
    }
  }
}

}  // namespace mayfly::compat::triggers
