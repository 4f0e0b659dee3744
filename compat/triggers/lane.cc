#include "compat/triggers/lane.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "compat/attribute_value_json.h"
#include "compat/hash.h"
#include "compat/stream_iterator.h"
#include "compat/triggers/destination.h"
#include "engine/clock.h"
#include "engine/storage.h"
#include "engine/uuid.h"

namespace mayfly::compat::triggers {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t page_records_max = 1000;
constexpr std::size_t page_bytes_max = std::size_t{1} << 20;
constexpr std::size_t event_bytes_max = 6 * 1024 * 1024;  // Lambda's limit on what a function is sent
constexpr std::size_t state_bytes_max = 1024 * 1024;      // on what a tumbling window keeps
constexpr milliseconds retry_wait_min{100}, retry_wait_max{10'000};
constexpr milliseconds fault_wait{1000};
constexpr int sends_max = 3;
// What was read and discarded is noted in storage now and then: a restart reads it again.
constexpr engine::Sequence discards_max = 10'000;

}  // namespace

Lane::Lane(Poller& poller, const LaneName& name, std::string shard_id, Position position)
    : poller_(poller),
      name_(name),
      shard_id_(std::move(shard_id)),
      position_(std::move(position)),
      read_next_(position_.next),
      stored_next_(position_.next) {}

void Lane::run() {
  if (position_.window) {  // that a predecessor left open
    window_deadline_ = engine::host_time() + seconds(poller_.mapping()->tumbling_window_seconds);
  }
  while (!stopped()) {
    const auto seen = poller_.signal().seen();
    try {
      const auto mapping = poller_.mapping();
      const bool ended = read_ahead(*mapping);
      if (window_is_over(*mapping, ended)) {
        idle_ = false;
        close_window(*mapping, false);
      } else if (!ahead_.empty()) {
        idle_ = false;
        const auto now = engine::host_time();
        const bool due = mapping->batching_window_seconds == 0 || poller_.flushing() || ended ||
                         batch_is_full(*mapping) || now >= *batch_deadline_ ||
                         (window_deadline_ && now >= *window_deadline_);
        if (due) {
          deliver(take_batch(*mapping));
        } else {
          poller_.signal().wait(seen, std::min(*batch_deadline_, window_deadline_.value_or(*batch_deadline_)));
        }
      } else if (ended) {
        position_ = {read_next_, true, std::nullopt};
        poller_.store(name_, position_);
        idle_ = true;
        poller_.lane_ended(name_);
        return;
      } else {
        if (read_next_ > stored_next_ + discards_max) done_up_to(read_next_);
        read_to_ = read_next_;
        idle_ = !position_.window.has_value();
        poller_.surroundings().progress.raise();
        poller_.signal().wait(seen, window_deadline_);
      }
    } catch (const std::exception& fault) {
      // Storage failed, or memory ran out: from the first record on that is not done with, a little later.
      poller_.set_last_result(std::string("PROBLEM: ") + fault.what());
      ahead_.clear();
      ahead_bytes_ = 0;
      batch_deadline_.reset();
      read_next_ = position_.next;
      poller_.signal().wait(seen, engine::host_time() + fault_wait);
    }
  }
  if (!interrupted_) done_up_to(ahead_.empty() ? read_next_ : ahead_.front().sequence);
}

// --- reading

bool Lane::is_mine(const engine::ChangeRecord& record) const {
  if (name_.lanes == 1) return true;
  std::string keys;
  json::Writer out(keys);
  write_item_object(out, record.keys);
  return hash(keys, 0) % name_.lanes == name_.lane;
}

bool Lane::batch_is_full(const EventSourceMapping& mapping) const {
  return ahead_.size() >= static_cast<std::size_t>(mapping.batch_size) || ahead_bytes_ >= event_bytes_max;
}

bool Lane::read_ahead(const EventSourceMapping& mapping) {
  const engine::Database& database = poller_.surroundings().database;
  FilterWork work(poller_.stop());
  while (!batch_is_full(mapping)) {
    const engine::StreamPage page =
        database.read_stream(poller_.stream().id, name_.shard, read_next_, page_records_max, page_bytes_max);
    const engine::Instant stream_now = database.stream_now(mapping.scope.account);
    for (const engine::ChangeRecord& change : page.records) {
      if (stopped()) return false;
      if (!is_mine(change)) continue;
      Record record = make_record(poller_.stream(), change, stream_now);
      if (!mapping.filters.empty() && !mapping.passes(json::parse(record.json)->root(), work)) continue;
      ahead_bytes_ += record.json.size();
      ahead_.push_back(std::move(record));
    }
    read_next_ = page.next;
    if (!ahead_.empty() && !batch_deadline_) {
      batch_deadline_ = engine::host_time() + seconds(mapping.batching_window_seconds);
    }
    if (page.ended) return true;
    if (page.at_end) break;
  }
  return false;
}

std::optional<engine::Instant> Lane::window_start(const EventSourceMapping& mapping, const Record& record) const {
  if (mapping.tumbling_window_seconds == 0) return std::nullopt;
  const engine::Instant window_ms = mapping.tumbling_window_seconds * 1000;
  return record.created - record.created % window_ms;
}

bool Lane::window_is_over(const EventSourceMapping& mapping, bool shard_ended) const {
  if (!position_.window) return false;
  if (!ahead_.empty()) return window_start(mapping, ahead_.front()) != position_.window->start;
  return shard_ended || poller_.flushing() || mapping.tumbling_window_seconds == 0 ||
         engine::host_time() >= *window_deadline_;
}

Lane::Batch Lane::take_batch(const EventSourceMapping& mapping) {
  Batch batch;
  std::size_t bytes = 0;
  const auto start = window_start(mapping, ahead_.front());
  while (!ahead_.empty() && batch.records.size() < static_cast<std::size_t>(mapping.batch_size)) {
    Record& next = ahead_.front();
    bytes += next.json.size();
    if (!batch.records.empty() && (bytes > event_bytes_max || window_start(mapping, next) != start)) break;
    ahead_bytes_ -= next.json.size();
    batch.records.push_back(std::move(next));
    ahead_.pop_front();
  }
  batch_deadline_.reset();
  const auto now = engine::host_time();
  if (!ahead_.empty()) batch_deadline_ = now + seconds(mapping.batching_window_seconds);
  if (start && !position_.window) position_.window = Window{*start, "{}"};
  if (start && !window_deadline_) window_deadline_ = now + seconds(mapping.tumbling_window_seconds);
  return batch;
}

// --- delivering

void Lane::deliver(Batch batch) {
  std::deque<Batch> work;
  work.push_back(std::move(batch));
  while (!work.empty() && !stopped()) attempt(work);
  interrupted_ = !work.empty();
  if (interrupted_) {
    done_up_to(work.front().records.front().sequence);
  } else {
    done_up_to(ahead_.empty() ? read_next_ : ahead_.front().sequence);
  }
}

void Lane::attempt(std::deque<Batch>& work) {
  const auto mapping = poller_.mapping();
  const auto done = [&] {
    const engine::Sequence next = work.front().records.back().sequence + 1;
    work.pop_front();
    if (!work.empty()) done_up_to(next);
  };
  Batch& batch = work.front();
  if (drop_aged(*mapping, batch); batch.records.empty()) return work.pop_front();
  const auto outcome = invoke(*mapping, batch, false, false);
  if (!outcome) return;

  if (outcome->kind == Outcome::Kind::success) {
    if (position_.window) position_.window->state = outcome->state;
    done();
    if (position_.window && position_.window->state.size() > state_bytes_max) close_window(*mapping, true);
    return;
  }
  if (outcome->kind == Outcome::Kind::partial && outcome->first_failed > 0) {
    if (position_.window) position_.window->state = outcome->state;
    const auto first = batch.records.begin() + static_cast<std::ptrdiff_t>(outcome->first_failed);
    batch.records.erase(batch.records.begin(), first);
    done_up_to(batch.records.front().sequence);
    if (mapping->bisect) return;  // what was reported is where the batch is split
  } else if (mapping->bisect && batch.records.size() > 1) {
    const auto middle = batch.records.begin() + static_cast<std::ptrdiff_t>(batch.records.size() / 2);
    Batch second{{std::make_move_iterator(middle), std::make_move_iterator(batch.records.end())},
                 batch.invocations, batch.retries, batch.last};
    batch.records.erase(middle, batch.records.end());
    work.insert(work.begin() + 1, std::move(second));
    return;
  }
  if (mapping->retries_max >= 0 && batch.retries >= mapping->retries_max) {
    give_up(*mapping, batch, "RetryAttemptsExhausted");
    return stopped() ? void() : done();  // who stopped may not have heard of it
  }
  wait_before_retry(*mapping, batch.retries++);
}

void Lane::close_window(const EventSourceMapping& mapping, bool terminated_early) {
  Batch nothing;
  while (!stopped()) {
    const auto outcome = invoke(mapping, nothing, true, terminated_early);
    if (!outcome) continue;
    if (outcome->kind == Outcome::Kind::success) break;
    if (mapping.retries_max >= 0 && nothing.retries >= mapping.retries_max) break;
    wait_before_retry(mapping, nothing.retries++);
  }
  if (stopped()) return;
  position_.window.reset();
  window_deadline_.reset();
  if (!terminated_early) done_up_to(ahead_.empty() ? read_next_ : ahead_.front().sequence);
}

std::optional<Outcome> Lane::invoke(const EventSourceMapping& mapping, Batch& batch, bool final, bool terminated_early) {
  const Surroundings& surroundings = poller_.surroundings();
  const auto seen = poller_.signal().seen();
  const auto function = surroundings.functions.find(mapping.function.account, mapping.function.name);
  if (!function) {
    poller_.set_last_result("PROBLEM: Function not found");
    stuck_ = true;
    surroundings.progress.raise();
    poller_.signal().wait(seen, std::nullopt);
    stuck_ = false;
    return std::nullopt;
  }
  std::optional<WindowEvent> window;
  if (position_.window) {
    const engine::Instant end = position_.window->start + mapping.tumbling_window_seconds * 1000;
    window.emplace(WindowEvent{*position_.window, end, final, terminated_early});
  }
  Invocation invocation{.url = function->url,
                        .body = event_body(batch.records, poller_.stream(), shard_id_, window),
                        .time_max = function->time_max};
  Outcome outcome =
      judge(surroundings.invoker.post(invocation, poller_.stop()), batch.records, mapping.reports_failures);
  if (outcome.kind == Outcome::Kind::stopped) return std::nullopt;
  ++batch.invocations;
  batch.last = outcome;
  poller_.set_last_result(outcome.kind == Outcome::Kind::success ? "OK" : "PROBLEM: Function call failed");
  return outcome;
}

void Lane::drop_aged(const EventSourceMapping& mapping, Batch& batch) {
  if (mapping.record_age_seconds_max < 0) return;
  const engine::Instant now = poller_.surroundings().database.stream_now(mapping.scope.account);
  const auto young = std::find_if(batch.records.begin(), batch.records.end(), [&](const Record& record) {
    return now - record.arrived <= mapping.record_age_seconds_max * 1000;
  });
  if (young == batch.records.begin()) return;
  Batch aged{{batch.records.begin(), young}, batch.invocations, batch.retries, batch.last};
  give_up(mapping, aged, "RecordAgeExceeded");
  batch.records.erase(batch.records.begin(), young);
}

void Lane::give_up(const EventSourceMapping& mapping, const Batch& batch, std::string_view condition) {
  if (mapping.on_failure.empty()) return;
  const std::string request_id = engine::random_uuid(), function_arn = mapping.function.arn();
  const std::string arn = stream_arn(poller_.stream());
  const FailedBatch failed{.request_id = request_id,
                           .function_arn = function_arn,
                           .condition = condition,
                           .invocations = batch.invocations,
                           .status = batch.invocations == 0 ? 0 : batch.last.status,
                           .executed_version = batch.last.executed_version,
                           .function_error = batch.last.function_error,
                           .now = poller_.surroundings().database.now(mapping.scope.account),
                           .shard_id = shard_id_,
                           .stream_arn = arn,
                           .records = batch.records};
  if (!send(mapping, failure_body(failed))) {
    poller_.set_last_result("PROBLEM: The destination " + mapping.on_failure + " did not take a failed batch");
  }
}

bool Lane::send(const EventSourceMapping& mapping, const std::string& body) {
  const Surroundings& surroundings = poller_.surroundings();
  for (int tries = 0; tries < sends_max && !stopped(); ++tries) {
    if (tries > 0) wait_before_retry(mapping, tries - 1);
    if (send_to(mapping.on_failure, mapping.scope.account, body, surroundings.functions, surroundings.invoker,
                poller_.stop())) {
      return true;
    }
  }
  return false;
}

void Lane::wait_before_retry(const EventSourceMapping& mapping, int retries) {
  const auto wait = std::min(retry_wait_min * (1 << std::min(retries, 10)), retry_wait_max);
  const auto deadline = engine::host_time() + wait;
  while (!stopped()) {
    const auto seen = poller_.signal().seen();
    if (poller_.flushing() && mapping.retries_max >= 0) return;
    if (!poller_.signal().wait(seen, deadline)) return;
  }
}

void Lane::done_up_to(engine::Sequence next) {
  position_.next = next;
  try {
    poller_.store(name_, position_);
    stored_next_ = next;
  } catch (const engine::StorageFault& fault) {
    // The records are delivered all the same; a restart would deliver them again.
    poller_.set_last_result(std::string("PROBLEM: ") + fault.what());
  }
}

}  // namespace mayfly::compat::triggers
