#include "compat/triggers/lane.h"

#include <algorithm>
#include <utility>

#include "compat/lambda/failure_destination.h"
#include "compat/streams/arn_and_iterator.h"
#include "compat/wire/attribute_value_json.h"
#include "compat/wire/hash.h"
#include "engine/base/attempt.h"
#include "engine/base/uuid.h"

namespace mayfly::compat::triggers {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t page_records_max = 1000;
constexpr std::size_t page_bytes_max = std::size_t{1} << 20;
constexpr std::size_t invocation_bytes_max = 6 * 1024 * 1024;  // Lambda's limit on an event
constexpr std::size_t state_bytes_max = 1024 * 1024;           // Lambda's limit on a tumbling window's state
constexpr milliseconds retry_wait_min{100}, retry_wait_max{10'000};
constexpr int sends_max = 3;
// The stored position advances each time this many records have been discarded. After a restart, the records
// after the stored position are read again.
constexpr engine::Sequence discards_max = 10'000;

CallError error_of(const Outcome& outcome) {
  return {outcome.status, outcome.function_error, outcome.error_type, outcome.error_message};
}

}  // namespace

Lane::Lane(const std::shared_ptr<LaneKeeper>& keeper, const LaneName& name, std::string shard_id,
           Position position, std::shared_ptr<const std::vector<StoredPosition>> others)
    : weak_keeper_(keeper),
      keeper_(*keeper),
      name_(name),
      shard_id_(std::move(shard_id)),
      others_(std::move(others)),
      position_(std::move(position)),
      read_next_(position_.next),
      stored_next_(position_.next),
      held_(keeper->surroundings().held_records) {}

// --- steps

engine::Task::Next Lane::step() {
  const auto keeper = weak_keeper_.lock();
  if (!keeper) return Next::when_woken();
  const Next next = stopped() ? leave() : go_on();
  if (!next.now && !call_) give_back_place();
  if (!next.now && !call_ && is_full()) let_go();
  held_.set(held_bytes());
  return next;
}

// Restarts the lane after a short pause, from the first record that is not done.
engine::Task::Next Lane::failed(std::string_view why) {
  const auto keeper = weak_keeper_.lock();
  if (!keeper) return Next::when_woken();
  keeper_.set_last_result("PROBLEM: " + std::string(why));
  call_.reset();
  give_back_place();
  note_retrying(std::nullopt);
  work_.clear();
  closing_.reset();
  sending_.reset();
  ahead_.clear();
  ahead_bytes_ = 0;
  batch_deadline_.reset();
  held_.set(0);
  read_next_ = position_.next;
  rest(fault_wait);
  return Next::at_once();
}

engine::Task::Next Lane::go_on() {
  const auto mapping = keeper_.mapping();
  if (call_) {
    const auto answer = call_->call.take();
    if (!answer) return Next::when_woken();
    const Call::For what = call_->what;
    end_call();
    answered(*mapping, what, *answer);
    return Next::at_once();
  }
  if (rest_until_) {
    const bool flushed = flush_ends_rest_ && keeper_.flushing() &&
                         (mapping->retries_max >= 0 || keeper_.flush_number() != call_flush_);
    if (!flushed && now() < *rest_until_) return Next::at(*rest_until_);
    rest_until_.reset();
  }
  if (sending_) return send(*mapping);
  if (closing_) return invoke(*mapping, Call::For::window, closing_->nothing.records, closing_->early);
  if (!work_.empty()) return attempt(*mapping);
  return look(*mapping);
}

// The poller has ended. A call in flight has been asked to stop, but the lane waits until the call has ended,
// so that the call does not overlap with the calls of the lane's successor.
engine::Task::Next Lane::leave() {
  if (call_) {
    const auto answer = call_->call.take();
    if (!answer) return Next::when_woken();
    const Call::For what = call_->what;
    end_call();
    if (*answer) answered(*keeper_.mapping(), what, *answer);  // the call completed before the stop
  }
  // Records discarded since the last batch need not be read again.
  if (work_.empty() && !closing_ && !sending_ && first_not_done() > stored_next_)
    done_up_to(first_not_done());
  keeper_.lane_left(name_);
  return Next::when_woken();
}

engine::Task::Next Lane::look(const EventSourceMapping& mapping) {
  ReadOn read = ReadOn::at_end;
  if (is_full() && ahead_.empty() && !take_place()) return Next::when_woken();
  if (!batch_is_full(mapping)) {
    read = read_page(mapping);
    if (stopped() || (read == ReadOn::more && !batch_is_full(mapping))) return Next::at_once();
  }
  const bool ended = read == ReadOn::ended;
  const engine::RealTime now = this->now();
  if (position_.window && !window_deadline_) {  // left open by a predecessor
    window_deadline_ = now + seconds(mapping.tumbling_window_seconds);
  }
  if (window_is_over(mapping, ended)) {
    idle_ = false;
    closing_.emplace(Closing{{}, false});
    return Next::at_once();
  }
  if (!ahead_.empty()) {
    idle_ = false;
    const bool due = mapping.batching_window_seconds == 0 || keeper_.flushing() || ended ||
                     batch_is_full(mapping) || now >= *batch_deadline_ ||
                     (window_deadline_ && now >= *window_deadline_);
    if (!due) return Next::at(std::min(*batch_deadline_, window_deadline_.value_or(*batch_deadline_)));
    work_.push_back(take_batch(mapping));
    return Next::at_once();
  }
  if (ended) {
    position_ = {read_next_, true, std::nullopt};
    keeper_.store(name_, position_);
    idle_ = true;
    keeper_.lane_ended(name_);
    return Next::when_woken();
  }
  if (read_next_ > stored_next_ + discards_max) done_up_to(read_next_);
  read_to_ = read_next_;
  idle_ = !position_.window.has_value();
  keeper_.surroundings().progress.ring();
  return window_deadline_ ? Next::at(*window_deadline_) : Next::when_woken();
}

void Lane::rest(milliseconds time) {
  rest_until_ = now() + time;
  flush_ends_rest_ = false;
}

void Lane::rest_before_retry(int retries) {
  rest(std::min(retry_wait_min * (1 << std::min(retries, 10)), retry_wait_max));
  flush_ends_rest_ = true;
}

// --- reading

std::size_t Lane::held_bytes() const {
  const auto bytes_of = [](const auto& records) {
    std::size_t bytes = 0;
    for (const Record& record : records)
      bytes += sizeof(Record) + record.number.capacity() + record.json.capacity();
    return bytes;
  };
  std::size_t bytes = bytes_of(ahead_);
  for (const Batch& batch : work_) bytes += bytes_of(batch.records);
  return bytes;
}

void Lane::let_go() {
  if (!ahead_.empty()) {
    read_next_ = ahead_.front().sequence;
    ahead_ = {};
    ahead_bytes_ = 0;
  }
  for (Batch& batch : work_) {
    if (batch.records.empty()) continue;
    batch.range.emplace(Range{batch.records.front().sequence, batch.records.back().sequence});
    batch.records = {};
  }
}

// The mapping's filters may have changed, so only records that pass the current filters remain in a batch.
void Lane::read_again(const EventSourceMapping& mapping) {
  const engine::Database& database = keeper_.surroundings().database;
  for (Batch& batch : work_) {
    if (!batch.range) continue;
    engine::Sequence next = batch.range->first;
    while (next <= batch.range->last && !stopped()) {
      const engine::StreamPage page = database.change_log().read(keeper_.stream().id, name_.shard, next,
                                                                 page_records_max, page_bytes_max);
      for (Record& record : wanted(mapping, page))
        if (record.sequence <= batch.range->last) batch.records.push_back(std::move(record));
      if (page.ended || page.at_end) break;
      next = page.next;
    }
    if (!stopped()) batch.range.reset();
  }
}

bool Lane::take_place() {
  has_place_ = has_place_ || keeper_.take_call(shared_from_this());
  return has_place_;
}

void Lane::give_back_place() {
  if (std::exchange(has_place_, false)) keeper_.give_back_call();
}

bool Lane::is_left(const engine::ChangeRecord& record) const {
  if (name_.lanes == 1 && others_->empty()) return true;
  std::string keys;
  json::Writer out(keys);
  write_item_object(out, record.keys);
  const auto keys_hash = hash(keys, 0);
  return keys_hash % name_.lanes == name_.lane && !passed(*others_, keys_hash, record.sequence);
}

bool Lane::batch_is_full(const EventSourceMapping& mapping) const {
  return ahead_.size() >= static_cast<std::size_t>(mapping.batch_size) ||
         ahead_bytes_ >= invocation_bytes_max;
}

std::vector<Record> Lane::wanted(const EventSourceMapping& mapping, const engine::StreamPage& page) const {
  const engine::Instant stream_now =
      keeper_.surroundings().database.accounts().of(mapping.scope.account).stream_now();
  FilterWork work(keeper_.stop());
  std::vector<Record> records;
  for (const engine::ChangeRecord& change : page.records) {
    if (stopped()) break;
    if (!is_left(change)) continue;
    Record record = make_record(keeper_.stream(), change, stream_now);
    if (!mapping.filters.empty() && !mapping.passes(json::parse(record.json)->root(), work)) continue;
    records.push_back(std::move(record));
  }
  return records;
}

Lane::ReadOn Lane::read_page(const EventSourceMapping& mapping) {
  const engine::StreamPage page = keeper_.surroundings().database.change_log().read(
      keeper_.stream().id, name_.shard, read_next_, page_records_max, page_bytes_max);
  std::vector<Record> records = wanted(mapping, page);
  if (stopped()) return ReadOn::more;
  for (Record& record : records) {
    ahead_bytes_ += record.json.size();
    ahead_.push_back(std::move(record));
  }
  read_next_ = page.next;
  if (ahead_.empty()) {
    batch_deadline_.reset();
  } else if (!batch_deadline_) {
    batch_deadline_ = now() + seconds(mapping.batching_window_seconds);
  }
  return page.ended ? ReadOn::ended : page.at_end ? ReadOn::at_end : ReadOn::more;
}

std::optional<engine::Instant> Lane::window_start(const EventSourceMapping& mapping,
                                                  const Record& record) const {
  if (mapping.tumbling_window_seconds == 0) return std::nullopt;
  const engine::Instant window_ms = mapping.tumbling_window_seconds * 1000;
  return record.created - record.created % window_ms;
}

bool Lane::window_is_over(const EventSourceMapping& mapping, bool shard_ended) const {
  if (!position_.window) return false;
  if (!ahead_.empty()) return window_start(mapping, ahead_.front()) != position_.window->start;
  return shard_ended || keeper_.flushing() || mapping.tumbling_window_seconds == 0 ||
         now() >= *window_deadline_;
}

Lane::Batch Lane::take_batch(const EventSourceMapping& mapping) {
  Batch batch;
  std::size_t bytes = 0;
  const auto start = window_start(mapping, ahead_.front());
  while (!ahead_.empty() && batch.records.size() < static_cast<std::size_t>(mapping.batch_size)) {
    Record& next = ahead_.front();
    bytes += next.json.size();
    if (!batch.records.empty() && (bytes > invocation_bytes_max || window_start(mapping, next) != start))
      break;
    ahead_bytes_ -= next.json.size();
    batch.records.push_back(std::move(next));
    ahead_.pop_front();
  }
  batch_deadline_.reset();
  const engine::RealTime now = this->now();
  if (!ahead_.empty()) batch_deadline_ = now + seconds(mapping.batching_window_seconds);
  if (start && !position_.window) position_.window = Window{*start, "{}"};
  if (start && !window_deadline_) window_deadline_ = now + seconds(mapping.tumbling_window_seconds);
  return batch;
}

// --- calling

void Lane::start_call(Call::For what, outbound::Invocation invocation) {
  const Surroundings& surroundings = keeper_.surroundings();
  call_flush_ = keeper_.flush_number();
  call_.emplace(Call{what, outbound::Call(surroundings.scheduler, weak_from_this())});
  call_->call.start(surroundings.invoker, std::move(invocation), keeper_.stop());
}

void Lane::end_call() {
  call_.reset();
  give_back_place();
}

engine::Task::Next Lane::invoke(const EventSourceMapping& mapping, Call::For what,
                                std::vector<Record>& records, bool terminated_early) {
  const Surroundings& surroundings = keeper_.surroundings();
  const auto function = surroundings.functions.find(mapping.function.account, mapping.function.name);
  stuck_ = !function;
  if (!function) {
    keeper_.set_last_result("PROBLEM: Function not found");
    surroundings.progress.ring();
    return Next::when_woken();
  }
  if (!take_place()) return Next::when_woken();
  std::optional<WindowEvent> window;
  if (position_.window) {
    const engine::Instant end = position_.window->start + mapping.tumbling_window_seconds * 1000;
    window.emplace(WindowEvent{*position_.window, end, what == Call::For::window, terminated_early});
  }
  start_call(what, call_of(*function, mapping.function.arn(),
                           event_body(records, keeper_.stream(), shard_id_, window)));
  return Next::when_woken();
}

void Lane::answered(const EventSourceMapping& mapping, Call::For what,
                    const outbound::Invoker::Answer& answer) {
  using Kind = outbound::InvocationFailure::Kind;
  if (!answer && (answer.error().kind == Kind::stopped || answer.error().kind == Kind::unable)) {
    // The function did not fail; the same call is repeated after a pause.
    keeper_.set_last_result("PROBLEM: " + answer.error().sentence);
    return rest(fault_wait);
  }
  if (what == Call::For::destination) return sent(mapping, answer && answer->status < 300);
  Batch& batch = what == Call::For::window ? closing_->nothing : work_.front();
  Outcome outcome = judge(answer, batch.records, mapping.reports_failures);
  note_retrying(std::nullopt);
  ++batch.invocations;
  batch.last = outcome;
  keeper_.set_last_result(outcome.kind == Outcome::Kind::success ? "OK" : "PROBLEM: Function call failed");
  what == Call::For::window ? window_answered(mapping, outcome) : batch_answered(mapping, std::move(outcome));
}

engine::Task::Next Lane::attempt(const EventSourceMapping& mapping) {
  if (work_.front().range) {
    if (!take_place()) return Next::when_woken();
    read_again(mapping);
    if (stopped()) return Next::at_once();
  }
  drop_aged(mapping, work_.front());
  if (sending_) return Next::at_once();
  if (work_.front().records.empty()) {
    batch_done();
    return Next::at_once();
  }
  return invoke(mapping, Call::For::batch, work_.front().records, false);
}

void Lane::batch_answered(const EventSourceMapping& mapping, Outcome outcome) {
  Batch& batch = work_.front();
  Tally& tally = keeper_.tally();
  const engine::Instant now = keeper_.surroundings().database.accounts().of(mapping.scope.account).now();
  if (outcome.kind == Outcome::Kind::success) {
    tally.taken(batch.records.size(), now);
    if (position_.window) position_.window->state = std::move(outcome.state);
    batch_done();
    if (position_.window && position_.window->state.size() > state_bytes_max)
      closing_.emplace(Closing{{}, true});
    return;
  }
  tally.failed(error_of(outcome), now);
  if (outcome.kind == Outcome::Kind::partial && outcome.first_failed > 0) {
    if (position_.window) position_.window->state = std::move(outcome.state);
    const auto first = batch.records.begin() + static_cast<std::ptrdiff_t>(outcome.first_failed);
    batch.records.erase(batch.records.begin(), first);
    batch.invocations = batch.retries = 0;  // Lambda starts counting again from the new first record
    return done_up_to(first_not_done());
  }
  if (mapping.bisect && batch.records.size() > 1) {
    const auto middle = batch.records.begin() + static_cast<std::ptrdiff_t>(batch.records.size() / 2);
    Batch second{{std::make_move_iterator(middle), std::make_move_iterator(batch.records.end())},
                 batch.invocations,
                 batch.retries,
                 batch.last,
                 std::nullopt};
    batch.records.erase(middle, batch.records.end());
    work_.insert(work_.begin() + 1, std::move(second));
    return;
  }
  if (retry(mapping, batch)) return;
  note_given_up(mapping, batch, "RetryAttemptsExhausted");
  if (!give_up(mapping, batch, "RetryAttemptsExhausted", true)) batch_done();
}

void Lane::window_answered(const EventSourceMapping& mapping, const Outcome& outcome) {
  Batch& nothing = closing_->nothing;
  if (outcome.kind != Outcome::Kind::success) {
    keeper_.tally().failed(error_of(outcome),
                           keeper_.surroundings().database.accounts().of(mapping.scope.account).now());
    if (retry(mapping, nothing)) return;
    note_given_up(mapping, nothing, "RetryAttemptsExhausted");
  }
  closing_.reset();
  position_.window.reset();
  window_deadline_.reset();
  done_up_to(first_not_done());
}

bool Lane::retry(const EventSourceMapping& mapping, Batch& batch) {
  const bool unlimited = mapping.retries_max < 0;
  if (!unlimited && batch.retries >= mapping.retries_max) return false;
  keeper_.tally().retried();
  rest_before_retry(batch.retries++);
  note_retrying(Retrying{batch.invocations, batch.records.size(), error_of(batch.last)}, unlimited,
                batch.retries);
  return true;
}

void Lane::note_retrying(std::optional<Retrying> retrying, bool unlimited, int failures) {
  {
    const engine::Lock lock(failing_mutex_);
    failing_.reset();
    if (retrying) failing_.emplace(Failing{*std::move(retrying), unlimited, failures, call_flush_});
  }
  if (failures >= failures_max) keeper_.surroundings().progress.ring();
}

std::optional<Retrying> Lane::retrying() const {
  const engine::Lock lock(failing_mutex_);
  return failing_ ? std::optional(failing_->retrying) : std::nullopt;
}

bool Lane::failing(std::uint64_t flush) const {
  const engine::Lock lock(failing_mutex_);
  return failing_ && failing_->unlimited && failing_->failures >= failures_max && failing_->flush >= flush;
}

void Lane::batch_done() {
  work_.pop_front();
  done_up_to(first_not_done());
}

engine::Sequence Lane::first_not_done() const {
  for (const Batch& batch : work_) {
    if (batch.range) return batch.range->first;
    if (!batch.records.empty()) return batch.records.front().sequence;
  }
  return ahead_.empty() ? read_next_ : ahead_.front().sequence;
}

void Lane::done_up_to(engine::Sequence next) {
  position_.next = next;
  const auto store = [&] {
    keeper_.store(name_, position_);
    stored_next_ = next;
  };
  engine::attempt(store, [&](std::string_view why) {
    // The records count as delivered until a restart, which would deliver them again.
    keeper_.set_last_result("PROBLEM: " + std::string(why));
  });
}

// --- giving up

void Lane::drop_aged(const EventSourceMapping& mapping, Batch& batch) {
  if (mapping.record_age_seconds_max < 0) return;
  const engine::Instant now =
      keeper_.surroundings().database.accounts().of(mapping.scope.account).stream_now();
  const auto young = std::find_if(batch.records.begin(), batch.records.end(), [&](const Record& record) {
    return now - record.arrived <= mapping.record_age_seconds_max * 1000;
  });
  if (young == batch.records.begin()) return;
  const Batch aged{
      {batch.records.begin(), young}, batch.invocations, batch.retries, batch.last, std::nullopt};
  note_given_up(mapping, aged, "RecordAgeExceeded");
  give_up(mapping, aged, "RecordAgeExceeded", false);
  batch.records.erase(batch.records.begin(), young);
}

void Lane::note_given_up(const EventSourceMapping& mapping, const Batch& batch, std::string_view condition) {
  note_retrying(std::nullopt);
  keeper_.tally().gave_up(batch.records.size());
  auto [records, left_out] = shown_records(batch.records);
  keeper_.note_given_up({.function = mapping.function.name,
                         .condition = std::string(condition),
                         .destination = mapping.on_failure,
                         .attempts = batch.invocations,
                         .error = batch.invocations == 0 ? CallError{} : error_of(batch.last),
                         .records = std::move(records),
                         .left_out = left_out});
}

bool Lane::give_up(const EventSourceMapping& mapping, const Batch& batch, std::string_view condition,
                   bool ends_batch) {
  if (mapping.on_failure.empty()) return false;
  const std::string request_id = engine::random_uuid(*keeper_.surroundings().database.options().random),
                    function_arn = mapping.function.arn();
  const std::string arn = stream_arn(keeper_.stream());
  const FailedBatch failed{.request_id = request_id,
                           .function_arn = function_arn,
                           .condition = condition,
                           .invocations = batch.invocations,
                           .status = batch.invocations == 0 ? 0 : batch.last.status,
                           .executed_version = batch.last.executed_version,
                           .function_error = batch.last.function_error,
                           .now = keeper_.surroundings().database.accounts().of(mapping.scope.account).now(),
                           .shard_id = shard_id_,
                           .stream_arn = arn,
                           .records = batch.records,
                           .with_records = is_bucket(mapping.on_failure)};
  sending_.emplace(Sending{failure_body(failed), ends_batch});
  return true;
}

engine::Task::Next Lane::send(const EventSourceMapping& mapping) {
  const Surroundings& surroundings = keeper_.surroundings();
  if (mapping.on_failure.empty() || DestinationDirectory::is_file(mapping.on_failure)) {
    sent(mapping,
         mapping.on_failure.empty() || surroundings.files.append(mapping.on_failure, sending_->body));
    return Next::at_once();
  }
  auto invocation =
      call_of(mapping.on_failure, mapping.scope.account, sending_->body, surroundings.functions);
  if (!invocation) {
    sent(mapping, false);
    return Next::at_once();
  }
  if (take_place()) start_call(Call::For::destination, *std::move(invocation));
  return Next::when_woken();
}

void Lane::sent(const EventSourceMapping& mapping, bool taken) {
  if (!taken && ++sending_->tries < sends_max) return rest_before_retry(sending_->tries - 1);
  if (!taken) {
    keeper_.set_last_result("PROBLEM: The destination " + mapping.on_failure +
                            " did not accept a failed batch");
  }
  const bool ends_batch = sending_->ends_batch;
  sending_.reset();
  if (ends_batch) batch_done();
}

}  // namespace mayfly::compat::triggers
