#include "engine/tables/replica_log.h"

#include <algorithm>

#include "engine/base/byte_order.h"
#include "engine/storage/key_space.h"
#include "engine/storage/storage.h"

namespace mayfly::engine {
namespace {

constexpr std::size_t version_bytes = sizeof(std::uint64_t) + sizeof(TableId) + sizeof(Sequence);
constexpr std::size_t departure_head_bytes =
    sizeof(Instant) + sizeof(std::uint64_t) + sizeof(TableId) + sizeof(std::uint32_t);

}  // namespace

std::string write_version_key(TableId table, std::string_view key) {
  return table_prefix('W', table).append(key);
}

std::string encode_version(const WriteVersion& version) {
  std::string bytes;
  append_little_endian(bytes, version.number);
  append_little_endian(bytes, version.origin);
  append_little_endian(bytes, version.tombstone);
  return bytes;
}

std::optional<WriteVersion> decode_version(std::string_view bytes) {
  if (bytes.size() != version_bytes) return std::nullopt;
  return WriteVersion{read_little_endian<std::uint64_t>(bytes), read_little_endian<TableId>(bytes.substr(8)),
                      read_little_endian<Sequence>(bytes.substr(12))};
}

std::string tombstone_key(TableId table, Sequence sequence, std::string_view key) {
  std::string stored = table_prefix('Y', table);
  append_big_endian(stored, sequence);
  return stored.append(key);
}

std::string_view tombstone_item_key(std::string_view tombstone_key) {
  return tombstone_key.substr(tombstone_head_bytes);
}

std::string departures_prefix(TableId from, TableId to) {
  std::string key = table_prefix('F', from);
  append_big_endian(key, to);
  return key;
}

std::string departure_key(TableId from, TableId to, Sequence sequence) {
  std::string key = departures_prefix(from, to);
  append_big_endian(key, sequence);
  return key;
}

std::string encode_departure(const Departure& departure) {
  std::string bytes;
  bytes.reserve(departure_head_bytes + departure.key.size() + departure.item.size());
  append_little_endian(bytes, departure.at);
  append_little_endian(bytes, departure.version);
  append_little_endian(bytes, departure.origin);
  append_little_endian(bytes, static_cast<std::uint32_t>(departure.key.size()));
  return bytes.append(departure.key).append(departure.item);
}

std::optional<Departure> decode_departure(std::string_view bytes) {
  if (bytes.size() <= departure_head_bytes) return std::nullopt;
  const auto key_bytes = read_little_endian<std::uint32_t>(bytes.substr(20));
  const std::string_view rest = bytes.substr(departure_head_bytes);
  if (key_bytes == 0 || key_bytes > rest.size()) return std::nullopt;
  return Departure{read_little_endian<Instant>(bytes), read_little_endian<std::uint64_t>(bytes.substr(8)),
                   read_little_endian<TableId>(bytes.substr(16)), rest.substr(0, key_bytes),
                   rest.substr(key_bytes)};
}

void stage(Batch& batch, const ReplicaWrite& write, Sequence sequence, Instant at) {
  const bool gone = write.item.empty();
  const std::uint64_t number = write.version.value_or(WriteVersion::of_write(sequence));
  batch.put(write_version_key(write.table, write.key),
            encode_version({number, write.origin, gone ? sequence : Sequence{0}}));
  if (gone) batch.put(tombstone_key(write.table, sequence, write.key), {});
  if (write.to.empty()) return;
  const std::string departure = encode_departure({at, number, write.origin, write.key, write.item});
  for (const TableId to : write.to) batch.put(departure_key(write.table, to, sequence), departure);
}

bool has_replica(const Table& table, TableId other) {
  return std::any_of(table.replicas.begin(), table.replicas.end(),
                     [&](const Replica& replica) { return replica.table == other; });
}

bool expires_here(const Table& table, TableId origin) {
  if (table.replicas.empty() || origin == 0 || origin == table.id) return true;
  return !has_replica(table, origin) && table.id < table.replicas.front().table;
}

}  // namespace mayfly::engine
