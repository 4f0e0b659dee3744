#include "cli/sweep/scan.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/sweep/request_text.h"
#include "compat/outbound/page_keys.h"
#include "engine/base/mutex.h"
#include "engine/time/expiry_index.h"
#include "http/base/crc32.h"

namespace mayfly::sweep {

namespace {

constexpr engine::Instant month_ms = 30LL * 24 * 3600 * 1000;

struct SegmentScan {
  aws::Client& client;
  const Layout& layout;
  Departures& departures;
  State* state;
  const ScanOptions& options;
  const std::atomic<bool>& ended;
  ScanCounts& counts;
  const std::function<void()>& progress;

  void take(const Tree& item, State::ScanProgress& at) const;
  Expected<void, std::string> run(int segment) const;
};

void SegmentScan::take(const Tree& item, State::ScanProgress& at) const {
  const Standing standing = standing_of(item, layout, options.watermark, options.now);
  ++counts.standings[static_cast<std::size_t>(standing)];
  const std::string ttl(attribute(item, layout.ttl_attribute, "N").value_or(""));
  const auto due = due_of(ttl);
  if (due && standing != Standing::never) {
    if (*due <= options.now) ++counts.expired;
    if (*due <= options.now + month_ms) ++counts.within_a_month;
  }
  if (!options.arms || standing == Standing::placed || standing == Standing::never) return;
  const auto place = parse_place(attribute(item, layout.window_attribute, "S").value_or(""));
  const int shard =
      place && place->shard < layout.shards ? place->shard : shard_of(departures.key_of(item), layout.shards);
  const Settled settled =
      departures.arm(item, ttl, place_of(*due, engine::SystemClock().now(), shard, layout));
  if (settled.outcome == Outcome::rearmed) {
    ++counts.armed;
    ++at.armed;
  } else if (settled.outcome == Outcome::failed) {
    ++counts.failed;
  }
}

Expected<void, std::string> SegmentScan::run(int segment) const {
  State::ScanProgress at;
  if (state != nullptr) {
    const auto known = state->read_progress(segment, options.segments);
    if (!known) return Unexpected{"cannot read its progress: " + known.error().sentence()};
    if (*known) at = **known;
    counts.scanned += at.scanned;
    counts.armed += at.armed;
  }
  std::string names = R"(,"ExpressionAttributeNames":{"#t":)" + json_text(layout.ttl_attribute) +
                      R"(,"#w":)" + json_text(layout.window_attribute);
  std::string projection = "#t, #w";
  if (!layout.looks_by_ttl()) {
    names += R"(,"#a":)" + json_text(layout.at_attribute);
    projection += ", #a";
  }
  for (std::size_t n = 0; n < departures.key_attributes().size(); ++n) {
    const std::string alias = "#k" + std::to_string(n);
    names += ",\"" + alias + "\":" + json_text(departures.key_attributes()[n]);
    projection += ", " + alias;
  }
  compat::outbound::PageKeys keys;
  while (!at.done && !ended.load()) {
    const std::int64_t failed_before = counts.failed;
    const auto page = client.call(
        "Scan",
        "{\"TableName\":" + json_text(layout.table) + ",\"Segment\":" + std::to_string(segment) +
            ",\"TotalSegments\":" + std::to_string(options.segments) +
            R"(,"ReturnConsumedCapacity":"TOTAL","ConsistentRead":)" + (options.arms ? "true" : "false") +
            R"x(,"FilterExpression":"attribute_exists(#t)","ProjectionExpression":")x" + projection + "\"" +
            names + "}" + (at.start_key.empty() ? "" : ",\"ExclusiveStartKey\":" + at.start_key) + "}");
    if (!page) return Unexpected{page.error().sentence()};
    if (const Tree* const items = json::member(*page, "Items"); items != nullptr && items->is_array()) {
      for (const Tree& item : *items) {
        if (ended.load()) return {};  // the page is read again by the next run
        take(item, at);
      }
    }
    const std::int64_t scanned = json::integer_member(*page, "ScannedCount").value_or(0);
    counts.scanned += scanned;
    at.scanned += scanned;
    const Tree* const consumed = json::member(*page, "ConsumedCapacity");
    const Tree* const units = consumed == nullptr ? nullptr : json::member(*consumed, "CapacityUnits");
    if (units != nullptr && units->is_number())
      counts.half_read_units += std::llround(units->get<double>() * (options.arms ? 1 : 2));
    const Tree* const last = json::member(*page, "LastEvaluatedKey");
    at.start_key = last == nullptr ? "" : json::print(*last);
    at.done = last == nullptr;
    if (!at.done && !keys.advance(at.start_key))
      return Unexpected{std::string(compat::outbound::PageKeys::repeated)};
    // A page with failures is read again by the next run.
    if (state != nullptr && counts.failed == failed_before)
      if (const auto written = state->write_progress(segment, options.segments, at); !written)
        return Unexpected{"cannot write its progress: " + written.error().sentence()};
    progress();
  }
  return {};
}

}  // namespace

int shard_of(std::string_view key, int shards) {
  return static_cast<int>(http::crc32(key) % static_cast<std::uint32_t>(shards));
}

Standing standing_of(const Tree& item, const Layout& layout, std::int64_t watermark, engine::Instant now) {
  const auto ttl = attribute(item, layout.ttl_attribute, "N");
  const auto due = ttl ? due_of(*ttl) : std::nullopt;
  if (!due || engine::is_too_old(*due, now)) return Standing::never;
  const auto place = parse_place(attribute(item, layout.window_attribute, "S").value_or(""));
  const auto at = attribute(item, layout.at_attribute, "N");
  const auto looked_at = at ? due_of(*at) : std::nullopt;
  if (!place || !looked_at || place->shard >= layout.shards ||
      window_of(place->window, layout.window_seconds) != place->window)
    return Standing::missing;
  if (place->window < watermark) return Standing::passed;
  // If the item's place is in a window before the window of the item's TTL, the item is examined when the
  // earlier window is swept. If the place is in the window of the TTL, the item is examined at the second in
  // the item's sort key.
  const std::int64_t window = window_of(second_of(*due), layout.window_seconds);
  const bool is_late = place->window > std::max(window, window_of(now / 1000, layout.window_seconds)) ||
                       (place->window == window && *looked_at > *due);
  return is_late ? Standing::late : Standing::placed;
}

Expected<void, std::string> scan_table(aws::Client& client, const Layout& layout, Departures& departures,
                                       State* state, cli::Workers& workers, const ScanOptions& options,
                                       const std::atomic<bool>& ended, ScanCounts& counts,
                                       const std::function<void()>& progress) {
  const SegmentScan scan{client, layout, departures, state, options, ended, counts, progress};
  engine::Mutex mutex;
  std::string problem;
  workers.each(static_cast<std::size_t>(options.segments), [&](std::size_t segment) {
    if (const auto run = scan.run(static_cast<int>(segment)); !run) {
      const engine::Lock lock(mutex);
      problem = run.error();
    }
  });
  if (!problem.empty()) return Unexpected{"table " + layout.table + ": " + problem};
  // Everything was examined, so the next scan starts at the beginning.
  if (state != nullptr && !ended.load() && counts.failed == 0)
    for (int segment = 0; segment < options.segments; ++segment)
      static_cast<void>(state->drop_progress(segment, options.segments).has_value());
  return {};
}

}  // namespace mayfly::sweep
