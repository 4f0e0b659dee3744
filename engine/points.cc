#include "engine/points.h"

#include <algorithm>
#include <utility>

#include "engine/key_space.h"
#include "engine/storage.h"

namespace mayfly::engine {
namespace {

constexpr std::size_t head_bytes = 4 * sizeof(std::int64_t);
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
  if (key.size() != 1 + sizeof(PointId)) return Unexpected{std::string("its key is none")};
  if (value.size() < head_bytes) return Unexpected{std::string("it ends too early")};
  Point point;
  point.id = read_big_endian<PointId>(key.substr(1));
  const auto number = read_little_endian<VersionNumber>(value);
  point.number = number & ~by_instant_bit;
  point.by_instant = (number & by_instant_bit) != 0;
  point.at = read_little_endian<Instant>(value.substr(8));
  point.items = read_little_endian<std::int64_t>(value.substr(16));
  point.bytes = read_little_endian<std::int64_t>(value.substr(24));
  TRY(point.table, decode_table(value.substr(head_bytes)));
  return point;
}

Points::Points(const Storage& storage) : storage_(storage) {
  const Lock lock(mutex_);
  Storage::Iterator points(storage, "P", "Q");
  for (points.seek_to_first(); points.valid(); points.next())
    add_locked(decoded(decode_point(points.key(), points.value()), "a point"));
}

// --- which there are

std::optional<Point> Points::find(PointId id) const {
  const SharedLock lock(mutex_);
  const auto found = points_.find(id);
  return found == points_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Point> Points::of(std::string_view account) const {
  std::vector<Point> result;
  const SharedLock lock(mutex_);
  for (const auto& [id, point] : points_)
    if (point.table.account == account) result.push_back(point);
  return result;
}

std::vector<VersionNumber> Points::numbers(TableId table) const {
  const SharedLock lock(mutex_);
  const auto found = numbers_.find(table);
  if (found == numbers_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

std::vector<Instant> Points::instants(TableId table) const {
  const SharedLock lock(mutex_);
  const auto found = instants_.find(table);
  if (found == instants_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

std::optional<VersionNumber> Points::latest(TableId table) const {
  const SharedLock lock(mutex_);
  const auto found = numbers_.find(table);
  return found == numbers_.end() ? std::nullopt : std::optional(*found->second.rbegin());
}

std::vector<TableId> Points::tables() const {
  std::vector<TableId> result;
  const SharedLock lock(mutex_);
  for (const auto& [table, numbers] : numbers_) result.push_back(table);
  return result;
}

std::string Points::account_of(TableId table) const {
  const SharedLock lock(mutex_);
  for (const auto& [id, point] : points_)
    if (point.table.id == table) return point.table.account;
  return {};
}

VersionNumber Points::last_number() const {
  VersionNumber last = 0;
  const SharedLock lock(mutex_);
  for (const auto& [table, numbers] : numbers_) last = std::max(last, *numbers.rbegin());
  return last;
}

// --- changing them

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
  numbers_[point.table.id].insert(point.number);
  if (point.by_instant) instants_[point.table.id].insert(point.at);
  points_.insert_or_assign(point.id, std::move(point));
}

void Points::remove(PointId id) {
  const Lock lock(mutex_);
  if (const auto found = points_.find(id); found != points_.end()) remove_locked(found);
}

void Points::remove_locked(std::map<PointId, Point>::iterator point) {
  const TableId table = point->second.table.id;
  auto& numbers = numbers_[table];
  numbers.erase(numbers.find(point->second.number));
  if (point->second.by_instant) {
    auto& instants = instants_[table];
    instants.erase(instants.find(point->second.at));
    if (instants.empty()) instants_.erase(table);
  }
  points_.erase(point);
  if (!numbers.empty()) return;
  numbers_.erase(table);
  left_.erase(table);
}

void Points::replace(std::string_view account, std::vector<Point> points) {
  const Lock lock(mutex_);
  for (auto point = points_.begin(); point != points_.end();) {
    const auto next = std::next(point);
    if (point->second.table.account == account) {
      left_.erase(point->second.table.id);
      remove_locked(point);
    }
    point = next;
  }
  for (Point& point : points) add_locked(std::move(point));
}

// --- of tables that were dropped

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
