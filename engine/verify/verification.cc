#include "engine/verify/verification.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/background/snapshots.h"
#include "engine/items/request_tokens.h"
#include "engine/schema/readable_key.h"
#include "engine/schema/shards.h"
#include "engine/schema/table.h"
#include "engine/storage/documents.h"
#include "engine/storage/key_space.h"
#include "engine/tables/catalog.h"
#include "engine/tables/change_log.h"
#include "engine/tables/replica_log.h"
#include "engine/time/account.h"
#include "engine/values/account_id.h"
#include "engine/values/item_codec.h"
#include "engine/values/key_codec.h"
#include "engine/verify/history_verification.h"
#include "engine/verify/key_view.h"
#include "engine/verify/replica_verification.h"
#include "engine/verify/stream_verification.h"

namespace mayfly::engine {
namespace {

constexpr std::string_view known_kinds = "BCDEFGHIJKLMNOPQRSTUWXY";
constexpr std::int64_t default_window_ms = 60'000;
constexpr std::size_t index_id_at = 1 + sizeof(TableId);

std::string named(const Table& table) {
  return "table " + table.name + " (" + table.account + ", " + table.region + ")";
}

std::string named(const Stream& stream) {
  return "stream of table " + stream.table_name + " (" + stream.account + ", " + stream.region + ")";
}

std::uint32_t id_in(std::string_view key) { return read_big_endian<std::uint32_t>(key.substr(1)); }

bool begins_with_id(std::string_view key) { return key.size() >= 1 + sizeof(std::uint32_t); }

template <class Integer>
std::string little_endian(Integer a) {
  std::string bytes;
  append_little_endian(bytes, a);
  return bytes;
}

// One pass over all of storage.
class Verification {
 public:
  Verification(const Storage& storage, const Storage::Snapshot& at, const VerificationOf& of,
               Findings& findings)
      : storage_(storage), at_(at), of_(of), now_(storage, at), findings_(findings) {}

  void run() {
    check_kinds();
    check_window();
    check_accounts();
    read_tables();
    read_streams();
    read_points();
    read_heads();
    check_streams_of_tables();
    check_ids();
    for (const auto& [id, table] : tables_) check_table(table);
    check_points();
    check_tables_gone();
    StreamVerification(now_, streams_, findings_).run(undecoded_streams_);
    check_tokens();
    check_documents();
    check_snapshots();
  }

 private:
  struct Head {
    StoredHead says;
    std::map<TableId, Table> tables;
    std::map<TableId, Table> past_tables;  // tables that points refer to
    bool lacks_tables = false;             // a table of the snapshot could not be decoded
    std::string name;
  };

  void check_kinds();
  void check_window();
  void check_accounts();
  void read_tables();
  void read_streams();
  void read_points();
  void read_heads();
  void read_members(SnapshotId id, Head& head);
  // Calls visit(key, value) for each member, with the key that it has in a data directory.
  template <class Visit>
  void each_member(char kind, SnapshotId id, const Head& head, Visit visit) const;
  void check_streams_of_tables();
  void check_enabled_stream(const Table& table);
  void check_ids();
  void check_table(const Table& table);
  void check_table_description(const Table& table);
  void check_points();
  void check_tables_gone();
  void check_tokens();
  void check_documents();
  void check_snapshots();
  void check_images();
  [[nodiscard]] Batch handing_on(std::string_view key, std::string_view image) const;
  void check_members();

  [[nodiscard]] Instant latest_now(const Table& table) const;
  void found(std::string_view kind, std::string text, Batch mend = {}, std::vector<std::string> keys = {}) {
    findings_.add({kind, std::move(text), std::move(mend), std::move(keys)});
  }
  static Batch putting(std::string_view key, std::string_view value) {
    Batch batch;
    batch.put(key, value);
    return batch;
  }
  static Batch erasing(std::string_view key) {
    Batch batch;
    batch.erase(key);
    return batch;
  }
  // Calls visit(key, value) for each key with the prefix.
  template <class Visit>
  void each(std::string_view prefix, Visit visit) const {
    for (KeyView::Walk walk(now_, prefix, prefix_end(prefix)); walk.valid(); walk.next())
      visit(walk.key(), walk.value());
  }

  const Storage& storage_;
  const Storage::Snapshot& at_;
  const VerificationOf& of_;
  const KeyView now_;
  Findings& findings_;
  const SystemClock system_clock_;

  std::unique_ptr<ExpiryIndex> expiry_;
  std::map<std::string, Instant, std::less<>> instants_;  // by account
  std::map<TableId, Table> tables_;
  std::set<TableId> undecoded_tables_;
  StreamVerification::Streams streams_;
  std::vector<StreamId> undecoded_streams_;
  std::map<PointId, Point> points_;
  bool undecoded_points_ = false;
  std::map<SnapshotId, Head> heads_;
  std::set<SnapshotId> undecoded_heads_;
  Sequence last_sequence_ = 0;
  VersionNumber last_version_ = 0;   // the latest number of an old version
  std::set<TableId> unsound_pasts_;  // tables whose old versions cannot all be decoded
};

// --- keys

void Verification::check_kinds() {
  int first = 0;
  const auto check_up_to = [&](int end) {
    if (first == end) return;
    const std::string lower(1, static_cast<char>(first));
    const std::string upper = end == 256 ? std::string(64, '\xff') : std::string(1, static_cast<char>(end));
    for (KeyView::Walk walk(now_, lower, upper); walk.valid(); walk.next())
      found("a key of an unknown kind", "unknown kind of key: " + hexadecimal(walk.key()), {},
            {std::string(walk.key())});
  };
  for (const char kind : known_kinds) {
    check_up_to(static_cast<unsigned char>(kind));
    first = static_cast<unsigned char>(kind) + 1;
  }
  check_up_to(256);
  each("M", [&](std::string_view key, std::string_view) {
    const bool known = key == expiry_window_key || key == next_ids_key || key == last_sequence_key ||
                       key == last_snapshot_ids_key || key == last_version_key || key == last_point_key;
    if (!known) found("a key of an unknown kind", "unknown key: " + std::string(key), {}, {std::string(key)});
  });
}

void Verification::check_window() {
  std::string value;
  const bool there = now_.get(expiry_window_key, value);
  const std::int64_t window_ms =
      there && value.size() == sizeof(std::int64_t) ? read_little_endian<std::int64_t>(value) : 0;
  expiry_ = std::make_unique<ExpiryIndex>(window_ms > 0 ? window_ms : default_window_ms);
  const bool empty = !there && !KeyView::Walk(now_, std::string(1, '\0'), "\xff").valid();
  if (window_ms <= 0 && !empty)
    found("a missing number", "the window length of the expiry index is missing",
          putting(expiry_window_key, little_endian(default_window_ms)));
}

void Verification::check_accounts() {
  each("C", [&](std::string_view key, std::string_view value) {
    const std::string account(key.substr(1));
    const auto now = Account::now_in(value, of_.host ? *of_.host : system_clock_);
    if (now && is_account_id(account)) {
      instants_[account] = *now;
      return;
    }
    found("an account's clock that cannot be decoded",
          "the clock of account " + account + " cannot be decoded; without it, the clock starts over",
          erasing(key));
  });
}

// The latest instant that the account's clock can have shown. The clock of an account with tables only moves
// forward, so this instant is not before the table's creation.
Instant Verification::latest_now(const Table& table) const {
  if (of_.now) return of_.now(table.account);
  const Instant host = (of_.host ? *of_.host : system_clock_).now();
  const auto kept = instants_.find(table.account);
  return std::max(kept == instants_.end() ? host : kept->second, table.created);
}

// --- descriptions

void Verification::read_tables() {
  std::set<std::tuple<std::string, std::string, std::string>> names;
  each("T", [&](std::string_view key, std::string_view value) {
    findings_.pass(findings_.checked.tables);
    if (key.size() != 1 + sizeof(TableId))
      return found("a description that cannot be decoded",
                   "a table's description has a malformed key: " + hexadecimal(key), {}, {std::string(key)});
    auto table = decode_table(value);
    const TableId id = id_in(key);
    if (table && table->id != id) table = Unexpected{std::string("it describes another table")};
    if (!table) {
      undecoded_tables_.insert(id);
      return found("a description that cannot be decoded",
                   "the description of table number " + std::to_string(id) +
                       " cannot be decoded, so the table's data was not checked: " + table.error());
    }
    if (!names.emplace(table->account, table->region, table->name).second)
      found("a wrong description", named(*table) + ": two tables have this name");
    tables_.emplace(id, *std::move(table));
  });
}

void Verification::read_streams() {
  each("R", [&](std::string_view key, std::string_view value) {
    findings_.pass(findings_.checked.streams);
    if (key.size() != 1 + sizeof(StreamId))
      return found("a description that cannot be decoded",
                   "a stream's description has a malformed key: " + hexadecimal(key), {}, {std::string(key)});
    auto stream = decode_stream(value);
    const StreamId id = id_in(key);
    if (stream && stream->id != id) stream = Unexpected{std::string("it describes another stream")};
    if (stream) {
      std::string name = named(*stream);
      streams_.emplace(id, std::pair(*std::move(stream), std::move(name)));
      return;
    }
    // A table's description includes the description of its stream.
    const auto owner = std::find_if(tables_.begin(), tables_.end(), [&](const auto& table) {
      return table.second.stream && table.second.stream->id == id;
    });
    undecoded_streams_.push_back(id);
    Batch mend;
    if (owner != tables_.end()) mend.put(key, encode_description(*owner->second.stream));
    found("a description that cannot be decoded",
          "the description of stream number " + std::to_string(id) +
              " cannot be decoded, so its records were not checked: " + stream.error(),
          std::move(mend));
  });
  std::vector<Stream> all;
  for (const auto& [id, each] : streams_) all.push_back(each.first);
  last_sequence_ = ChangeLog::last_sequence(storage_, all);
  for (const auto& [id, each] : streams_)
    for (const std::string& flaw : shard_flaws(each.first, last_sequence_))
      found("a wrong description", each.second + ": " + flaw);
}

void Verification::check_streams_of_tables() {
  for (const auto& [id, table] : tables_)
    if (table.stream) check_enabled_stream(table);
  for (const auto& [id, each] : streams_) {
    const Stream& stream = each.first;
    if (stream.disabled) continue;
    const auto table = tables_.find(stream.table);
    if (undecoded_tables_.count(stream.table) > 0) continue;
    if (table != tables_.end() && table->second.stream && table->second.stream->id == id) continue;
    Stream closed = stream;
    const auto kept = instants_.find(stream.account);
    close(closed, std::max(stream.created, kept == instants_.end() ? system_clock_.now() : kept->second),
          last_sequence_);
    found("a stream without a table", each.second + ": it is enabled, but no table uses it",
          putting(table_prefix('R', id), encode_description(closed)));
  }
}

void Verification::check_enabled_stream(const Table& table) {
  const StreamId id = table.stream->id;
  if (std::find(undecoded_streams_.begin(), undecoded_streams_.end(), id) != undecoded_streams_.end()) return;
  const auto there = streams_.find(id);
  if (there == streams_.end()) {
    found("a missing description", named(table) + ": the description of its stream is missing",
          putting(table_prefix('R', id), encode_description(*table.stream)));
    last_sequence_ = std::max(last_sequence_, ChangeLog::last_sequence(storage_, {*table.stream}));
    streams_.emplace(id, std::pair(*table.stream, named(*table.stream)));  // the stream's records are kept
    return;
  }
  const Stream& stream = there->second.first;
  const auto open_shards = [](const Stream& of) {
    std::vector<std::tuple<ShardNumber, std::uint64_t, std::uint64_t>> open;
    for (const Shard& shard : of.shards)
      if (!shard.closed) open.emplace_back(shard.number, shard.first_hash, shard.last_hash);
    return open;
  };
  const bool same = stream.table == table.id && stream.account == table.account &&
                    stream.region == table.region && stream.table_name == table.name &&
                    stream.label == table.stream->label && stream.view == table.stream->view &&
                    stream.keys == table.keys && !stream.disabled &&
                    open_shards(stream) == open_shards(*table.stream);
  if (!same) found("a wrong description", named(table) + ": its stream's description does not match it");
}

void Verification::check_ids() {
  TableId next_table = 1;
  StreamId next_stream = 1;
  const auto count_table = [&](TableId id) { next_table = std::max(next_table, id + 1); };
  const auto count_stream = [&](StreamId id) { next_stream = std::max(next_stream, id + 1); };
  for (const auto& [id, table] : tables_) count_table(id);
  for (const auto& [id, point] : points_) count_table(point.table.id);
  for (const auto& [id, head] : heads_) {
    for (const auto& [table_id, table] : head.tables) count_table(table_id);
    for (const auto& [table_id, table] : head.past_tables) count_table(table_id);
  }
  for (const auto& [id, stream] : streams_) count_stream(id);
  std::string value;
  TableId says_table = 1;
  StreamId says_stream = 1;
  const bool there = now_.get(next_ids_key, value);
  if (there && value.size() == next_ids_bytes) {
    says_table = read_little_endian<TableId>(value);
    says_stream = read_little_endian<StreamId>(std::string_view(value).substr(sizeof(TableId)));
  }
  if (says_table < next_table || says_stream < next_stream || (there && value.size() != next_ids_bytes))
    found("a wrong number", "the next table or stream would get an id that was already assigned",
          putting(next_ids_key, little_endian(std::max(says_table, next_table)) +
                                    little_endian(std::max(says_stream, next_stream))));

  Sequence given = last_sequence_;
  for (const auto& [id, head] : heads_) given = std::max(given, head.says.sequence);
  for (const auto& [id, each] : streams_)
    for (const Undoing& undoing : each.first.undone) given = std::max(given, undoing.last);
  const bool odd = now_.get(last_sequence_key, value) && value.size() != sizeof(Sequence);
  // An in-memory database does not store numbers that only old versions use.
  if ((given > last_sequence_ && storage_.durable()) || odd)
    found("a wrong number", "the next stream record would get a number that was already assigned",
          putting(last_sequence_key, little_endian(given)));
}

// --- tables

void Verification::check_table(const Table& table) {
  check_table_description(table);
  TableVerification::Counters counters{table_prefix('N', table.id)};
  if (of_.counts) counters.present = [&](IndexId index) { return of_.counts(table.id, index); };
  TableVerification(now_, table, named(table), *expiry_, latest_now(table), std::move(counters), findings_)
      .run();
  HistoryVerification history(now_, table, named(table), std::nullopt, findings_);
  history.check_versions(counter_key(table.id, old_versions),
                         of_.counts ? std::optional(of_.counts(table.id, old_versions)) : std::nullopt);
  last_version_ = std::max(last_version_, history.last_number());
  if (!history.sound()) unsound_pasts_.insert(table.id);
  ReplicaVerification(now_, table, named(table), std::numeric_limits<Sequence>::max(), findings_).run();
}

void Verification::check_table_description(const Table& table) {
  const auto wrong = [&](const std::string& what) {
    found("a wrong description", named(table) + ": " + what);
  };
  if (!is_account_id(table.account)) wrong("its account is malformed");
  if (table.name.empty() || table.region.empty()) wrong("it lacks a name or a region");
  std::set<IndexId> ids;
  std::set<std::string> names;
  for (const Index& index : table.indexes) {
    if (index.id == 0 || index.id > last_index_id || !ids.insert(index.id).second)
      wrong("its index " + index.name + " has an invalid id");
    if (!names.insert(index.name).second) wrong("it has two indexes named " + index.name);
    if (index.kind == Index::Kind::local &&
        !(std::ranges::equal(index.keys.partition(), table.keys.partition())))
      wrong("its local index " + index.name + " has a different partition key");
  }
  if (table.ttl && (table.ttl->attribute.empty() || table.ttl->number >= table.next_ttl_number))
    wrong("its TTL setting is malformed");
  if (table.expiry.delay_ms_min < 0 || table.expiry.delay_ms_min > table.expiry.delay_ms_max)
    wrong("its expiry delays are invalid");
  for (const Replica& replica : table.replicas) {
    const auto other = tables_.find(replica.table);
    if (other == tables_.end() && undecoded_tables_.contains(replica.table)) continue;
    const bool is_mutual = other != tables_.end() && other->second.account == table.account &&
                           other->second.name == table.name && other->second.region == replica.region &&
                           has_replica(other->second, table.id);
    if (!is_mutual) wrong("its replica in " + replica.region + " is missing or does not refer to it");
  }
}

// --- points

void Verification::read_points() {
  each("P", [&](std::string_view key, std::string_view value) {
    findings_.pass(findings_.checked.points);
    auto point = decode_point(key, value);
    if (point) {
      last_sequence_ = std::max(last_sequence_, point->number);
      const PointId id = point->id;
      points_.emplace(id, *std::move(point));
      return;
    }
    undecoded_points_ = true;
    found("a description that cannot be decoded",
          "a point cannot be decoded: " + hexadecimal(key) + ": " + point.error(), {}, {std::string(key)});
  });
}

void Verification::check_points() {
  PointId last = 0;
  std::set<TableId> seen;
  for (const auto& [id, point] : points_) {
    last = std::max(last, id);
    const TableId table = point.table.id;
    HistoryVerification history(now_, point.table, named(point.table), std::nullopt, findings_);
    const bool lives = tables_.count(table) > 0 || undecoded_tables_.count(table) > 0;
    // An in-memory database does not store the counter of a dropped table.
    if (seen.insert(table).second && !lives && storage_.durable()) {
      history.check_versions(counter_key(table, old_versions), std::nullopt);
      if (!history.sound()) unsound_pasts_.insert(table);
    }
    if (unsound_pasts_.count(table) == 0) history.check_point(storage_, at_, point);
    last_version_ = std::max(last_version_, history.last_number());
  }
  // An in-memory database does not store the last number.
  if (storage_.durable() && last_version_ > last_sequence_)
    found("a wrong number", "the next commit would get a number that was already assigned",
          putting(last_version_key, little_endian(last_version_)));
  std::string value;
  const bool there = now_.get(last_point_key, value);
  if (!there && points_.empty()) return;
  const bool right = there && value.size() == sizeof last && read_little_endian<PointId>(value) >= last;
  if (!right)
    found("a wrong number", "the next point would get an id that was already assigned",
          putting(last_point_key, little_endian(last)));
}

// --- leftovers of tables

// Finds data of tables that are in neither the catalog nor a snapshot nor a point. The entries and counters
// of such a table are dangling, unless the table has items.
void Verification::check_tables_gone() {
  const auto is_known = [&](TableId id) {
    return undecoded_points_ || tables_.count(id) > 0 || undecoded_tables_.count(id) > 0 ||
           std::any_of(points_.begin(), points_.end(),
                       [&](const auto& point) { return point.second.table.id == id; }) ||
           std::any_of(heads_.begin(), heads_.end(), [&](const auto& head) {
             return head.second.tables.count(id) > 0 || head.second.past_tables.count(id) > 0;
           });
  };
  for (const char kind : {'F', 'I', 'N', 'O', 'W', 'X', 'Y'}) {
    std::string from(1, kind);
    const std::string end = prefix_end(from);
    while (true) {
      KeyView::Walk walk(now_, from, end);
      if (!walk.valid()) break;
      const std::string key(walk.key());
      if (begins_with_id(key) && is_known(id_in(key))) {
        from = prefix_end(table_prefix(kind, id_in(key)));
        if (kind == 'N' && key.size() != index_id_at + sizeof(IndexId))
          found("a wrong counter", "a counter has a malformed key: " + hexadecimal(key), erasing(key));
        continue;
      }
      from = key + '\0';
      const std::string of_table =
          begins_with_id(key) ? "of table number " + std::to_string(id_in(key)) + ", which has no description"
                              : "with a malformed key";
      const std::string what = of_table + ": " + hexadecimal(key);
      const bool is_item = kind == 'I' && key.size() > item_prefix_bytes &&
                           read_big_endian<IndexId>(key.substr(index_id_at)) == 0;
      const std::string items = begins_with_id(key) ? item_key(id_in(key), 0, {}) : "I";
      if (is_item)
        found("an item without a table", "found an item " + what, {}, {key});
      else if (kind == 'N' || !KeyView::Walk(now_, items, prefix_end(items)).valid())
        found("leftover data of a table", "found leftover data " + what, erasing(key));
      else
        found("leftover data of a table", "found data " + what, {}, {key});
    }
  }
}

// --- tokens and documents

void Verification::check_tokens() {
  each("Q", [&](std::string_view key, std::string_view) {
    findings_.pass(findings_.checked.tokens);
    const auto age = RequestTokens::age_of_use(key);
    if (!age)
      found("a token that cannot be decoded", "a token has a malformed key: " + hexadecimal(key),
            erasing(key));
    else if (!now_.has(*age))
      found("a missing token age", "a token has no age and would never be deleted: " + hexadecimal(key),
            putting(*age, {}));
  });
  each("U", [&](std::string_view key, std::string_view) {
    const auto use = RequestTokens::use_of_age(key);
    if (!use || !now_.has(*use))
      found("a leftover age entry of a request token",
            "an age entry refers to a missing request token: " + hexadecimal(key), erasing(key));
  });
}

void Verification::check_documents() {
  each("D", [&](std::string_view key, std::string_view) {
    findings_.pass(findings_.checked.documents);
    if (!Documents::is_key(key))
      found("a document with a malformed key", "a document has a malformed key: " + hexadecimal(key), {},
            {std::string(key)});
  });
}

// --- snapshots

void Verification::read_heads() {
  each("G", [&](std::string_view key, std::string_view value) {
    findings_.pass(findings_.checked.snapshots);
    auto says = stored_head(key, value, of_.host ? *of_.host : system_clock_);
    if (!says) {
      if (begins_with_id(key)) undecoded_heads_.insert(id_in(key));
      return found("a snapshot's head that cannot be decoded",
                   "the head of a snapshot cannot be decoded: " + hexadecimal(key), {}, {std::string(key)});
    }
    const SnapshotId id = id_in(key);
    Head& head = heads_[id];
    head.says = *std::move(says);
    head.name = "snapshot " + std::to_string(id) + " of " + head.says.account;
    read_members(id, head);
  });
}

template <class Visit>
void Verification::each_member(char kind, SnapshotId id, const Head& head, Visit visit) const {
  const std::string prefix = table_prefix(kind, id);
  if (!of_.snapshot_members) return each(prefix, visit);
  of_.snapshot_members(head.says.account, id, kind, [&](std::string_view name, std::string_view value) {
    visit(std::string(prefix).append(name), value);
  });
}

void Verification::read_members(SnapshotId id, Head& head) {
  each_member('H', id, head, [&](std::string_view key, std::string_view value) {
    auto table = decode_table(value);
    const bool right = key.size() == 1 + 2 * sizeof(std::uint32_t) && table &&
                       table->id == read_big_endian<TableId>(key.substr(1 + sizeof(SnapshotId)));
    if (right) {
      const TableId table_id = table->id;
      head.tables.emplace(table_id, *std::move(table));
      return;
    }
    head.lacks_tables = true;
    found("a description that cannot be decoded",
          head.name + ": the description of a table cannot be decoded", {}, {std::string(key)});
  });
  each_member('L', id, head, [&](std::string_view key, std::string_view value) {
    auto point = key.size() < 1 + sizeof(SnapshotId)
                     ? Unexpected{std::string("its key is malformed")}
                     : decode_point(std::string("P").append(key.substr(1 + sizeof(SnapshotId))), value);
    if (point) {
      const TableId table_id = point->table.id;
      head.past_tables.emplace(table_id, std::move(point->table));
      return;
    }
    head.lacks_tables = true;
    found("a description that cannot be decoded", head.name + ": a point cannot be decoded: " + point.error(),
          {}, {std::string(key)});
  });
  each_member('J', id, head, [&](std::string_view key, std::string_view value) {
    const auto stream = decode_stream(value);
    const bool right = key.size() == 1 + 2 * sizeof(std::uint32_t) && stream &&
                       stream->id == read_big_endian<StreamId>(key.substr(1 + sizeof(SnapshotId)));
    if (!right)
      return found("a description that cannot be decoded",
                   head.name + ": the description of a stream cannot be decoded", {}, {std::string(key)});
    for (const std::string& flaw : shard_flaws(*stream, head.says.sequence))
      found("a wrong description", head.name + ": stream of table " + stream->table_name + ": " + flaw);
  });
}

void Verification::check_snapshots() {
  check_members();
  check_images();
  std::string value;
  const bool there = now_.get(last_snapshot_ids_key, value);
  if (!there && heads_.empty()) return;
  std::uint32_t snapshot = 0, log = 0;
  for (const auto& [id, head] : heads_) {
    snapshot = std::max(snapshot, id);
    log = std::max(log, head.says.log);
  }
  const auto ids = snapshot_ids(value);
  if (!there || !ids || ids->snapshot < snapshot || ids->log < log) {
    SnapshotIds right = ids.value_or(SnapshotIds{});
    right.snapshot = std::max(right.snapshot, snapshot);
    right.log = std::max(right.log, log);
    found("a wrong number", "the next snapshot would get an id that was already assigned",
          putting(last_snapshot_ids_key, bytes_of(right)));
  }
  // An in-memory database does not keep images in storage. And if the log of a snapshot is unknown, images of
  // the earlier snapshots are missing.
  if (!storage_.durable() || !undecoded_heads_.empty()) return;
  // Check the latest snapshot first, because a repair in a snapshot also repairs the earlier snapshots.
  for (auto head = heads_.rbegin(); head != heads_.rend(); ++head) {
    std::vector<ImageLog> logs;
    for (auto later = heads_.find(head->first); later != heads_.end(); ++later)
      if (later->second.says.account == head->second.says.account) logs.push_back(later->second.says.log);
    const KeyView then(storage_, at_, std::move(logs));
    for (const auto& [id, table] : head->second.tables) {
      std::string counters = table_prefix('K', head->first);
      append_big_endian(counters, id);
      TableVerification(then, table, head->second.name + ", " + named(table), *expiry_,
                        std::max(head->second.says.now, table.created), {std::move(counters)}, findings_)
          .run();
      ReplicaVerification(then, table, head->second.name + ", " + named(table), head->second.says.sequence,
                          findings_)
          .run();
    }
    std::map<TableId, Table> with_past = head->second.past_tables;
    with_past.insert(head->second.tables.begin(), head->second.tables.end());
    for (const auto& [id, table] : with_past) {
      std::string counter = table_prefix('K', head->first);
      append_big_endian(counter, id);
      append_big_endian(counter, old_versions);
      HistoryVerification(then, table, head->second.name + ", " + named(table), head->second.says.sequence,
                          findings_)
          .check_versions(counter, std::nullopt);
    }
  }
}

// Finds members of missing snapshots, and counters of tables that the counters' snapshot does not contain.
void Verification::check_members() {
  for (const char kind : {'H', 'J', 'K', 'E', 'L'}) {
    each(std::string(1, kind), [&](std::string_view key, std::string_view) {
      const auto head = begins_with_id(key) ? heads_.find(id_in(key)) : heads_.end();
      if (begins_with_id(key) && undecoded_heads_.count(id_in(key)) > 0) return;
      const bool wrong_counter =
          kind == 'K' && head != heads_.end() && !head->second.lacks_tables &&
          (key.size() != 1 + 2 * sizeof(std::uint32_t) + sizeof(IndexId) ||
           (head->second.tables.count(id_in(key.substr(sizeof(SnapshotId)))) == 0 &&
            head->second.past_tables.count(id_in(key.substr(sizeof(SnapshotId)))) == 0));
      if (head == heads_.end() || wrong_counter)
        found("leftover data of a snapshot",
              (wrong_counter ? "found a counter of a table that its snapshot lacks: "
                             : "found data of a missing snapshot: ") +
                  hexadecimal(key),
              erasing(key));
    });
  }
}

// Erases an image of a lost snapshot. If the previous snapshot has no image of the key, moves the image to
// that snapshot: the key did not change between the two snapshots, so the image is right for both.
Batch Verification::handing_on(std::string_view key, std::string_view image) const {
  Batch mend = erasing(key);
  if (!begins_with_id(key) || !is_image(image)) return mend;
  const std::string_view of = key.substr(1 + sizeof(ImageLog));
  if (!is_image_of(of) || of.front() == 'S') return mend;
  const Head* before = nullptr;
  for (const auto& [id, head] : heads_)
    if (head.says.log < id_in(key) &&
        (head.tables.count(id_in(of)) > 0 || head.past_tables.count(id_in(of)) > 0) &&
        (!before || before->says.log < head.says.log))
      before = &head;
  if (before && !now_.has(image_key(before->says.log, of))) mend.put(image_key(before->says.log, of), image);
  return mend;
}

void Verification::check_images() {
  std::set<ImageLog> logs;
  for (const auto& [id, head] : heads_) logs.insert(head.says.log);
  each("B", [&](std::string_view key, std::string_view value) {
    findings_.pass(findings_.checked.images);
    // The log of a head that cannot be decoded is unknown, so the image may belong to it.
    if (!begins_with_id(key) || (logs.count(id_in(key)) == 0 && undecoded_heads_.empty()))
      return found("leftover data of a snapshot", "found an image of a missing snapshot: " + hexadecimal(key),
                   handing_on(key, value));
    if (!is_image(value) || !is_image_of(key.substr(1 + sizeof(ImageLog))))
      found("an image that cannot be decoded",
            "an image of a snapshot cannot be decoded: " + hexadecimal(key), {}, {std::string(key)});
  });
}

}  // namespace

void verify(const Storage& storage, const Storage::Snapshot& at, const VerificationOf& of,
            Findings& findings) {
  Verification(storage, at, of, findings).run();
}

}  // namespace mayfly::engine
