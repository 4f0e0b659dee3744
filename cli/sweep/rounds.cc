#include "cli/sweep/rounds.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "cli/sweep/request_text.h"

namespace mayfly::sweep {

namespace {

constexpr std::size_t page_items_max = 1000, batch_items_max = 512, settled_items_max = 20'000;
constexpr std::chrono::seconds settled_for{5};  // longer than an index usually lags behind
constexpr std::chrono::seconds watermark_pause{1};
constexpr int looks_for_emptiness_max = 3;

std::int64_t second_in(const Entry& entry) {
  const auto due = due_of(entry.at);
  return due ? second_of(*due) : std::numeric_limits<std::int64_t>::max();
}

std::string identity(int shard, const Entry& entry) {
  return std::to_string(shard) + entry.window + entry.at + entry.key;
}

}  // namespace

bool Rounds::is_over(std::int64_t window, std::int64_t seconds, engine::Instant now) const {
  return now >= (window + parts_.layout.window_seconds + seconds) * 1000;
}

bool Rounds::goes_on() const {
  return !parts_.ended.load(std::memory_order_relaxed) && (options_.dry_run || parts_.leases.valid());
}

void Rounds::follow_leases() {
  std::map<int, Cursor> cursors;
  for (const Held& held : parts_.leases.held()) {
    const auto known = cursors_.find(held.shard);
    if (known != cursors_.end() && known->second.generation == held.generation)
      cursors[held.shard] = known->second;
    else
      cursors[held.shard] = {held.shard, held.generation, held.watermark, held.watermark, held.watermark};
  }
  cursors_ = std::move(cursors);
}

std::optional<std::int64_t> Rounds::next_window(const Cursor& cursor, std::int64_t from,
                                                engine::Instant now) const {
  std::int64_t window = std::max(from, cursor.watermark);
  // Windows before cursor.next have been read. They are read once more after their grace time, and before
  // later windows.
  if (window < cursor.next && !is_over(window, options_.grace_seconds, now)) window = cursor.next;
  if (window >= cursor.next && window > window_of(now / 1000, parts_.layout.window_seconds))
    return std::nullopt;
  return window;
}

Rounds::Outcomes Rounds::sweep() {
  Outcomes outcomes;
  const auto now = parts_.clock.now();
  if (!now) {
    ++outcomes.failed;
    parts_.journal.write(Journal::Level::error, "clock",
                         {{"table", parts_.layout.table}, {"message", now.error()}});
    return outcomes;
  }
  outcomes.now = *now;
  now_read_ = engine::host_time();
  follow_leases();
  std::map<int, std::int64_t> from;
  for (const auto& [shard, cursor] : cursors_) from[shard] = std::numeric_limits<std::int64_t>::min();
  bool complete = true;
  // Shards advance together: no shard begins a window while another shard is in an earlier window.
  for (engine::Instant instant = *now;;) {
    std::int64_t window = std::numeric_limits<std::int64_t>::max();
    std::vector<Cursor*> cursors;
    for (auto& [shard, cursor] : cursors_) {
      const auto next = next_window(cursor, from[shard], instant);
      if (!next || *next > window) continue;
      if (*next < window) cursors.clear();
      window = *next;
      cursors.push_back(&cursor);
    }
    if (cursors.empty()) break;
    if (!goes_on()) {
      complete = false;
      break;
    }
    look_at(window, cursors, instant, outcomes);
    for (const Cursor* cursor : cursors) from[cursor->shard] = window + parts_.layout.window_seconds;
    write_watermarks(false);
    // Reads the clock again, because catching up with many windows takes time.
    if (const auto later = parts_.clock.now()) {
      instant = std::max(instant, *later);
      now_read_ = engine::host_time();
    }
  }
  write_watermarks(true);
  outcomes.whole = complete && outcomes.failed == 0;
  std::int64_t watermark = std::numeric_limits<std::int64_t>::max();
  for (const auto& [shard, cursor] : cursors_) watermark = std::min(watermark, cursor.watermark);
  parts_.tally.add_round(cursors_.empty() ? 0 : watermark, cursors_.size());
  return outcomes;
}

void Rounds::look_at(std::int64_t window, const std::vector<Cursor*>& cursors, engine::Instant now,
                     Outcomes& outcomes) {
  const bool is_last = is_over(window, options_.grace_seconds, now);
  // Once settle_seconds have passed since the end of a window, the window is not read again until its grace
  // time has passed. So this read settles all items in the window, whether they are due or not.
  const bool whole_window = is_over(window, options_.settle_seconds, now);
  std::vector<Cursor*> left = cursors;
  for (int look = 0; look < looks_for_emptiness_max && !left.empty(); ++look) {
    std::vector<Reading> readings;
    for (Cursor* cursor : left) readings.push_back({.cursor = cursor});
    left.clear();
    const bool finished = drain(window, readings, whole_window, now, outcomes);
    for (const Reading& reading : readings) {
      if (!finished || reading.failed) continue;
      Cursor& cursor = *reading.cursor;
      const std::int64_t after = window + parts_.layout.window_seconds;
      if (cursor.next == window && whole_window) cursor.next = after;
      if (!is_last) continue;
      if (!reading.empty && !options_.dry_run) {
        left.push_back(&cursor);  // the window is done only once a read finds it empty
      } else if (cursor.watermark == window) {
        cursor.watermark = after;
        cursor.next = std::max(cursor.next, after);
      }
    }
  }
}

void Rounds::read_page(std::int64_t window, Reading& reading, bool whole_window, engine::Instant now) {
  const Layout& layout = parts_.layout;
  const std::string place = place_text({window, reading.cursor->shard});
  const auto answer = parts_.client.call(
      "Query", "{\"TableName\":" + json_text(layout.table) + ",\"IndexName\":" + json_text(layout.index) +
                   ",\"Limit\":" + std::to_string(page_items_max) + R"(,"KeyConditionExpression":"#w = :w)" +
                   (whole_window ? "" : " AND #a < :now") + R"(","ExpressionAttributeNames":{"#w":)" +
                   json_text(layout.window_attribute) +
                   (whole_window ? "" : ",\"#a\":" + json_text(layout.at_attribute)) +
                   R"(},"ExpressionAttributeValues":{":w":)" + string_value(place) +
                   (whole_window ? "" : ",\":now\":" + number_value(seconds_text(now))) + "}" +
                   reading.start + "}");
  if (!answer) {
    reading.failed = reading.unanswered = true;
    reading.has_more = false;
    parts_.journal.write(
        Journal::Level::warning, "query_failed",
        {{"table", layout.table}, {"window", place}, {"message", answer.error().sentence()}});
    return;
  }
  const Tree* const last = json::member(*answer, "LastEvaluatedKey");
  reading.has_more = last != nullptr;
  if (last != nullptr) reading.start = ",\"ExclusiveStartKey\":" + json::print(*last);
  if (reading.has_more && !reading.keys.advance(reading.start)) {
    reading.failed = reading.unanswered = true;
    reading.has_more = false;
    parts_.journal.write(
        Journal::Level::warning, "query_failed",
        {{"table", layout.table}, {"window", place}, {"message", compat::outbound::PageKeys::repeated}});
    return;
  }
  const Tree* const items = json::member(*answer, "Items");
  if (items == nullptr || !items->is_array()) return;
  for (const Tree& item : *items) {
    Entry entry{.key = parts_.departures.key_of(item),
                .window = place,
                .at = std::string(attribute(item, layout.at_attribute, "N").value_or(""))};
    if (const auto ttl = attribute(item, layout.ttl_attribute, "N")) entry.ttl = std::string(*ttl);
    if (entry.key.empty()) continue;
    reading.empty = false;
    reading.entries.push_back(std::move(entry));
  }
}

bool Rounds::was_settled(const Cursor& cursor, const Entry& entry) {
  const engine::Lock lock(mutex_);
  const auto found = settled_.find(identity(cursor.shard, entry));
  return found != settled_.end() && engine::host_time() - found->second < settled_for;
}

bool Rounds::drain(std::int64_t window, std::vector<Reading>& readings, bool whole_window,
                   engine::Instant now, Outcomes& outcomes) {
  while (goes_on()) {
    std::vector<Reading*> dry;
    for (Reading& reading : readings)
      if (reading.entries.empty() && reading.has_more) dry.push_back(&reading);
    parts_.workers.each(dry.size(), [&](std::size_t n) { read_page(window, *dry[n], whole_window, now); });
    // A page can be empty without being the last page.
    if (std::any_of(dry.begin(), dry.end(),
                    [](const Reading* reading) { return reading->entries.empty() && reading->has_more; }))
      continue;
    std::int64_t second = std::numeric_limits<std::int64_t>::max();
    bool any = false;
    for (const Reading& reading : readings) {
      if (reading.entries.empty()) continue;
      second = std::min(second, second_in(reading.entries.front()));
      any = true;
    }
    if (!any) break;
    std::vector<std::pair<Reading*, Entry>> batch;
    for (Reading& reading : readings) {
      while (!reading.entries.empty() && batch.size() < batch_items_max &&
             second_in(reading.entries.front()) <= second) {
        if (!was_settled(*reading.cursor, reading.entries.front()))
          batch.emplace_back(&reading, std::move(reading.entries.front()));
        reading.entries.pop_front();
      }
    }
    settle(batch, now, outcomes);
  }
  for (const Reading& reading : readings) {
    outcomes.failed += reading.failed ? 1 : 0;
    outcomes.unanswered += reading.unanswered ? 1 : 0;
  }
  return goes_on();
}

void Rounds::settle(std::vector<std::pair<Reading*, Entry>>& batch, engine::Instant now, Outcomes& outcomes) {
  std::atomic<std::uint64_t> settled{0}, failed{0};
  parts_.workers.each(batch.size(), [&](std::size_t n) {
    auto& [reading, entry] = batch[n];
    if (!goes_on()) {
      ++failed;
      return;
    }
    const Settled outcome = parts_.departures.settle(entry, now, reading->cursor->generation);
    parts_.tally.add(
        outcome,
        now + std::chrono::duration_cast<std::chrono::milliseconds>(engine::host_time() - now_read_).count());
    if (parts_.journal.enabled(Journal::Level::debug))
      parts_.journal.write(Journal::Level::debug, outcome_name(outcome.outcome),
                           {{"table", parts_.layout.table}, {"key", entry.key}, {"sweep_at", entry.at}});
    if (outcome.outcome == Outcome::failed) {
      // One message is enough; there may be hundreds of failures.
      if (failed++ == 0)
        parts_.journal.write(Journal::Level::warning, "failed",
                             {{"table", parts_.layout.table},
                              {"key", entry.key},
                              {"message", outcome.why ? outcome.why->sentence() : ""}});
      return;
    }
    ++settled;
    const engine::Lock lock(mutex_);
    if (settled_.size() >= settled_items_max) settled_.clear();
    settled_[identity(reading->cursor->shard, entry)] = engine::host_time();
  });
  if (failed > 0)
    for (auto& [reading, entry] : batch) reading->failed = true;
  outcomes.settled += settled;
  outcomes.failed += failed;
}

// Does not write after each window, because a shard that catches up has many windows. If the watermark of a
// window is not written, the window is merely read once more and is then empty.
void Rounds::write_watermarks(bool at_once) {
  if (options_.dry_run || (!at_once && engine::host_time() - watermarks_written_ < watermark_pause)) return;
  watermarks_written_ = engine::host_time();
  std::vector<Cursor*> moved;
  for (auto& [shard, cursor] : cursors_)
    if (cursor.watermark > cursor.written) moved.push_back(&cursor);
  parts_.workers.each(moved.size(), [&](std::size_t n) {
    // If a write fails, a later write stores a later watermark. The watermark of a shard that another sweeper
    // has taken is not written.
    if (parts_.state.advance(moved[n]->shard, moved[n]->generation, moved[n]->watermark))
      moved[n]->written = moved[n]->watermark;
  });
}

}  // namespace mayfly::sweep
