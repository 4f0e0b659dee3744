#include "engine/tables/points.h"

#include <algorithm>
#include <utility>

#include "engine/storage/key_space.h"
#include "engine/storage/storage.h"

namespace mayfly::engine {
namespace {

constexpr std::size_t point_head_bytes = 4 * sizeof(std::int64_t);
constexpr VersionNumber by_instant_bit = VersionNumber{1} << 63;

}  // namespace

std::string point_key(PointId id) { return table_prefix('P', id); }

std::string point_bytes(const Point& point) {
  std::string bytes;
  append_little_endian(bytes, point.number | (point.by_instant ? by_instant_bit : 0));
  append_little_endian(bytes, point.at);
  append_little_endian(bytes, point.items);
  append_little_endian(bytes, point.bytes);
  return bytes.append(encode_description(point.table));
}

Expected<Point, std::string> decode_point(std::string_view key, std::string_view value) {
  if (key.size() != 1 + sizeof(PointId)) return Unexpected{std::string("its key is malformed")};
  if (value.size() < point_head_bytes) return Unexpected{std::string("it ends too early")};
  Point point;
  point.id = read_big_endian<PointId>(key.substr(1));
  const auto number = read_little_endian<VersionNumber>(value);
  point.number = number & ~by_instant_bit;
  point.by_instant = (number & by_instant_bit) != 0;
  point.at = read_little_endian<Instant>(value.substr(8));
  point.items = read_little_endian<std::int64_t>(value.substr(16));
  point.bytes = read_little_endian<std::int64_t>(value.substr(24));
  TRY(point.table, decode_table(value.substr(point_head_bytes)));
  return point;
}

Points::Points(const Storage& storage) : storage_(storage) {
  const Lock lock(mutex_);
  Storage::Iterator points(storage, "P", "Q");
  for (points.seek_to_first(); points.valid(); points.next())
    add_locked(decoded(decode_point(points.key(), points.value()), "a point"));
}

// --- lookups

std::optional<Point> Points::find(PointId id) const {
  const SharedLock lock(mutex_);
  const auto found = points_.find(id);
  return found == points_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Point> Points::of(std::string_view account) const {
  std::vector<Point> result;
  const SharedLock lock(mutex_);
  const auto found = of_accounts_.find(account);
  if (found == of_accounts_.end()) return result;
  for (const PointId id : found->second) result.push_back(points_.at(id));
  return result;
}

std::vector<VersionNumber> Points::numbers(TableId table) const {
  const SharedLock lock(mutex_);
  const auto found = of_tables_.find(table);
  if (found == of_tables_.end()) return {};
  return {found->second.numbers.begin(), found->second.numbers.end()};
}

std::vector<Instant> Points::instants(TableId table) const {
  const SharedLock lock(mutex_);
  const auto found = of_tables_.find(table);
  if (found == of_tables_.end()) return {};
  return {found->second.instants.begin(), found->second.instants.end()};
}

std::optional<VersionNumber> Points::latest(TableId table) const {
  const SharedLock lock(mutex_);
  const auto found = of_tables_.find(table);
  return found == of_tables_.end() ? std::nullopt : std::optional(*found->second.numbers.rbegin());
}

std::vector<TableId> Points::tables() const {
  std::vector<TableId> result;
  const SharedLock lock(mutex_);
  for (const auto& [table, of_table] : of_tables_) result.push_back(table);
  return result;
}

std::string Points::account_of(TableId table) const {
  const SharedLock lock(mutex_);
  const auto found = of_tables_.find(table);
  return found == of_tables_.end() ? std::string() : found->second.account;
}

VersionNumber Points::last_number() const {
  VersionNumber last = 0;
  const SharedLock lock(mutex_);
  for (const auto& [table, of_table] : of_tables_) last = std::max(last, *of_table.numbers.rbegin());
  return last;
}

// --- changes

void Points::stage(Batch& batch, Point& point, PointId staged) const {
  std::string value;
  PointId last = 0;
  if (storage_.get(last_point_key, value)) {
    if (value.size() != sizeof last) throw StorageFault("the last point's id cannot be decoded");
    last = read_little_endian<PointId>(value);
  }
  point.id = std::max(last, staged) + 1;
  value.clear();
  append_little_endian(value, point.id);
  batch.put(last_point_key, value);
  batch.put(point_key(point.id), point_bytes(point));
}

void Points::add(Point point) {
  const Lock lock(mutex_);
  add_locked(std::move(point));
}

void Points::add_locked(Point point) {
  OfTable& of_table = of_tables_[point.table.id];
  of_table.account = point.table.account;
  of_table.numbers.insert(point.number);
  if (point.by_instant) of_table.instants.insert(point.at);
  of_accounts_[point.table.account].insert(point.id);
  points_.insert_or_assign(point.id, std::move(point));
}

void Points::remove(PointId id) {
  const Lock lock(mutex_);
  if (points_.contains(id)) remove_locked(id);
}

void Points::remove_locked(PointId id) {
  const Point point = std::move(points_.extract(id).mapped());
  const auto of_account = of_accounts_.find(point.table.account);
  of_account->second.erase(id);
  if (of_account->second.empty()) of_accounts_.erase(of_account);
  const auto of_table = of_tables_.find(point.table.id);
  auto& [account, numbers, instants] = of_table->second;
  numbers.erase(numbers.find(point.number));
  if (point.by_instant) instants.erase(instants.find(point.at));
  if (!numbers.empty()) return;
  of_tables_.erase(of_table);
  left_.erase(point.table.id);
}

void Points::replace(std::string_view account, std::vector<Point> points) {
  const Lock lock(mutex_);
  while (true) {
    const auto of_account = of_accounts_.find(account);
    if (of_account == of_accounts_.end()) break;
    const PointId id = *of_account->second.begin();
    left_.erase(points_.at(id).table.id);
    remove_locked(id);
  }
  for (Point& point : points) add_locked(std::move(point));
}

// --- dropped tables

void Points::leave(TableId table, VersionCount count) {
  const Lock lock(mutex_);
  left_[table] = count;
}

std::optional<VersionCount> Points::left(TableId table) const {
  const SharedLock lock(mutex_);
  const auto found = left_.find(table);
  return found == left_.end() ? std::nullopt : std::optional(found->second);
}

VersionCount Points::left() const {
  VersionCount total;
  const SharedLock lock(mutex_);
  for (const auto& [table, count] : left_) {
    total.versions += count.versions;
    total.bytes += count.bytes;
  }
  return total;
}

std::vector<TableId> Points::dropped_tables() const {
  std::vector<TableId> result;
  const SharedLock lock(mutex_);
  for (const auto& [table, count] : left_) result.push_back(table);
  return result;
}

}  // namespace mayfly::engine
