// Damages a data directory in many ways, and checks what verify reports and what repair fixes.
#include "engine/verify/directory_check.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <thread>

#include "engine/background/history.h"
#include "engine/background/snapshots.h"
#include "engine/database.h"
#include "engine/schema/index_entries.h"
#include "engine/schema/item_version.h"
#include "engine/storage/documents.h"
#include "engine/storage/key_space.h"
#include "engine/tables/replica_log.h"
#include "engine/time/expiry_index.h"
#include "engine/values/item_codec.h"
#include "engine/values/key_codec.h"
#include "engine/verify/verification.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace engine;

namespace {

namespace fs = std::filesystem;

constexpr TableId carts_id = 1;
constexpr TableId gone_id = 3, past_id = 4;
constexpr IndexId by_day = 1;
constexpr IndexId by_user = 2;

Table carts_table() {
  Table table = simple_table("carts");
  table.indexes = {local_index("by_day", "day"), global_index("by_user", "user")};
  table.stream = stream_of(StreamView::new_and_old_images);
  return table;
}

Item plain_cart(const std::string& id) {
  return {{"id", id}, {"user", "u" + id}, {"day", "monday"}, {"ttl", number(start_seconds + 1000)}};
}

// Writes at least one key of each kind: tables (with indexes, TTL and a stream of two shards), a token, a
// document, a moved clock, points in time, and two snapshots with changes after them.
void fill(const std::string& path) {
  World world({.directory = path, .stream_shards = 2, .reap = false});
  const auto carts = world.create(carts_table());
  const auto logs = world.create(sorted_table("logs"));
  world.enable_ttl(carts);
  for (const char* id : {"a", "b", "c", "d"}) world.put(carts, plain_cart(id));
  for (int at = 0; at < 3; ++at) world.put(logs, {{"id", "x"}, {"at", number(at)}});
  world.advance(start_ms + 1000);
  world.database().snapshots().take(account);
  world.put(carts, {{"id", "a"}, {"user", "other"}, {"ttl", number(start_seconds + 2000)}});
  world.database().snapshots().take(account);
  world.remove(carts, {{"id", "b"}});
  world.database().documents().put({std::string(account), "function", "reminder"}, "{}");

  Transaction transaction(world.database().write_path(), Cause::user);
  const auto slot = transaction.add(carts, key_of(*carts->description(), {{"id", "e"}}));
  transaction.use_token({std::string(account), "us-east-1"}, "once", "digest");
  REQUIRE(transaction.lock());
  transaction.put(slot, plain_cart("e"));
  transaction.commit();

  History& history = world.database().history();
  const auto gone = world.create(simple_table("gone"));
  world.put(gone, {{"id", "g"}});
  REQUIRE(history.take_point(gone));
  world.remove(gone, {{"id", "g"}});
  std::optional<Point> last;
  REQUIRE(world.database().tables().drop(gone, &last));
  const auto past = world.create(simple_table("past"));
  history.keep(past, 35);
  world.put(past, {{"id", "p"}, {"n", number(1)}});
  REQUIRE(history.take_point(past));
  world.put(past, {{"id", "p"}, {"n", number(22)}});
  world.put(past, {{"id", "q"}});
}

struct Outcome {
  std::uint64_t wrong = 0, mended = 0;
  std::vector<std::string> lines;  // findings that remain
  std::vector<std::string> mended_lines;
};

CheckListener listener(Outcome& outcome) {
  return {
      .wrong = [&](std::string_view, std::string_view line) { outcome.lines.emplace_back(line); },
      .mended = [&](std::string_view, std::string_view line) { outcome.mended_lines.emplace_back(line); }};
}

Outcome verified(const std::string& path) {
  Outcome outcome;
  const auto checked = verify_directory(path, listener(outcome));
  if (!checked) FAIL(checked.error());
  outcome.wrong = checked->wrong;
  CHECK(outcome.lines.size() == outcome.wrong);
  return outcome;
}

Outcome repaired(const std::string& path, const RepairOptions& options = {}) {
  Outcome outcome;
  const auto checked = repair_directory(path, options, listener(outcome));
  if (!checked) FAIL(checked.error());
  outcome.wrong = checked->wrong;
  outcome.mended = checked->mended;
  return outcome;
}

bool says(const std::vector<std::string>& lines, std::string_view part) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

std::unique_ptr<Storage> open_directory(const std::string& path) {
  auto opened = Storage::open({.directory = path});
  REQUIRE(opened);
  return *std::move(opened);
}

struct Key {
  std::string key, value;
};
// The first key with this prefix.
Key found(const Storage& storage, const std::string& prefix) {
  Storage::Iterator iterator(storage, prefix, prefix_end(prefix));
  iterator.seek_to_first();
  REQUIRE(iterator.valid());
  return {std::string(iterator.key()), std::string(iterator.value())};
}

void plant(Storage& storage, std::string_view key, std::string_view value) {
  Batch batch;
  batch.put(key, value);
  storage.write(batch);
}
void erase(Storage& storage, std::string_view key) {
  Batch batch;
  batch.erase(key);
  storage.write(batch);
}
// `change` edits the value of the first key with this prefix.
void change(Storage& storage, const std::string& prefix, const std::function<void(std::string&)>& change) {
  Key found = testing::found(storage, prefix);
  change(found.value);
  plant(storage, found.key, found.value);
}

std::string version_of(const std::optional<std::string>& stored) {
  const auto head = version_head(0, stored.has_value());
  return std::string(head.data(), head.size()) + stored.value_or("");
}
std::string cart_key(const std::string& id) { return key_of(simple_table("carts"), {{"id", id}}); }
std::string entries(IndexId index) { return item_key(carts_id, index, {}); }

// The contents of all files, by path.
std::map<std::string, std::string> contents(const std::string& path) {
  std::map<std::string, std::string> files;
  for (const auto& file : fs::recursive_directory_iterator(path)) {
    if (!file.is_regular_file()) continue;
    std::ifstream in(file.path(), std::ios::binary);
    files[file.path().string()] = {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  return files;
}

// The newest log that is not empty.
fs::path last_log(const std::string& path) {
  fs::path last;
  for (const auto& file : fs::directory_iterator(path))
    if (file.path().extension() == ".log" && fs::file_size(file) > 0) last = std::max(last, file.path());
  REQUIRE_FALSE(last.empty());
  return last;
}

struct Damage {
  std::string what;
  std::function<void(Storage&)> plant;
  std::string line;   // part of the line that reports this damage
  bool mends = true;  // false if repair reports that the damage remains, or moves the damaged data to a file
  bool moves = false;
};

constexpr std::size_t damages_of_a_table = 13;  // the first 13 kinds of damage can be planted together

const std::vector<Damage>& all_damages() {
  static const std::vector<Damage> damages = {
      {"a missing index entry", [](Storage& s) { erase(s, found(s, entries(by_user)).key); },
       "table carts (000000000000, us-east-1): index by_user has no entry for the item id=\""},
      {"a leftover index entry",
       [](Storage& s) { plant(s, found(s, entries(by_user)).key + "\x01", cart_key("gone")); },
       "index by_user has an entry 0x"},
      {"an index entry that does not match the values of its item",
       [](Storage& s) {
         std::string entry;
         const AttributeValue user("nobody"), id("c");
         const AttributeValue *users[] = {&user}, *ids[] = {&id};
         append_key(entry, users, {});
         append_partition(entry, ids);
         plant(s, item_key(carts_id, by_user, entry), cart_key("c"));
       },
       "index by_user has an entry user=\"nobody\", id=\"c\" that does not match the values of its item"},
      {"an index entry that points elsewhere",
       [](Storage& s) { plant(s, found(s, entries(by_day)).key, cart_key("gone")); },
       "index by_day has an entry for the item id="},
      {"an entry of an index that does not exist",
       [](Storage& s) { plant(s, item_key(carts_id, 7, "entry"), cart_key("a")); },
       "found an entry of an index that the table does not have"},
      {"a missing expiry entry", [](Storage& s) { erase(s, found(s, table_prefix('X', carts_id)).key); },
       "expires at 2024-05-01T00:16:40.001Z but has no expiry entry"},
      {"an expiry entry with the wrong instant",
       [](Storage& s) {
         plant(s, ExpiryIndex(60'000).entry_key(carts_id, start_ms + 5'000'000, cart_key("c")), {});
       },
       "found an expiry entry of the item id=\"c\", which expires at another time"},
      {"an expiry entry in the wrong window",
       [](Storage& s) {
         const Instant due = start_ms + 1'000'001;
         plant(s, ExpiryIndex(1000).entry_key(carts_id, due, cart_key("c")), {});
       },
       "found an expiry entry of the item id=\"c\" in the wrong window"},
      {"an expiry entry of a missing item",
       [](Storage& s) {
         plant(s, ExpiryIndex(60'000).entry_key(carts_id, start_ms + 5'000'000, cart_key("gone")), {});
       },
       "found an expiry entry of the item id=\"gone\", which is missing"},
      {"a malformed expiry entry", [](Storage& s) { plant(s, table_prefix('X', carts_id) + "soon", {}); },
       "malformed expiry entry: 0x58"},
      {"a wrong counter", [](Storage& s) { plant(s, counter_key(carts_id, 0), std::string(16, '\x01')); },
       "the counter of its items says "},
      {"a missing counter", [](Storage& s) { erase(s, counter_key(carts_id, by_user)); },
       "the counter of the entries of its index by_user says 0 (0 bytes); there are 4 ("},
      {"a counter of the wrong length",
       [](Storage& s) { plant(s, counter_key(carts_id, expiry_entries), "x"); },
       "the counter of its items that will expire is malformed; there are 4 (0 bytes)"},
      {"a record in a missing shard",
       [](Storage& s) { plant(s, record_key(1, 7, 2), found(s, table_prefix('S', 1)).value); },
       "stream of table carts (000000000000, us-east-1): record 2 in shard 7 is in a shard that does "
       "not exist"},
      {"a record of a missing stream", [](Storage& s) { plant(s, record_key(9, 0, 2), "record"); },
       "record 2 belongs to stream 9, which does not exist"},
      {"a record older than the shard's oldest",
       [](Storage& s) { plant(s, record_key(1, 0, 0), found(s, table_prefix('S', 1)).value); },
       "record 0 in shard 0 is older than the shard's oldest record"},
      {"two records with one number",
       [](Storage& s) {
         const Key first = found(s, shard_prefix(1, 0));
         plant(s, record_key(1, 1, record_sequence(first.key)), first.value);
       },
       "repeats another record's number", false, true},
      {"a record in another item's shard",
       [](Storage& s) { plant(s, record_key(1, 1, 100), found(s, shard_prefix(1, 0)).value); },
       "record 100 in shard 1 is in the wrong shard for its item", false, true},
      {"a record that cannot be decoded",
       [](Storage& s) { change(s, shard_prefix(1, 0), [](std::string& v) { v.resize(v.size() / 2); }); },
       "cannot be decoded: ", false, true},
      {"an item that cannot be decoded",
       [](Storage& s) { plant(s, item_key(carts_id, 0, cart_key("c")), "\x01"); },
       "the item id=\"c\" cannot be decoded: it has 1 bytes", false, true},
      {"an item under another key",
       [](Storage& s) {
         std::string value;
         REQUIRE(s.get(item_key(carts_id, 0, cart_key("c")), value));
         plant(s, item_key(carts_id, 0, cart_key("z")), value);
         erase(s, item_key(carts_id, 0, cart_key("c")));
       },
       "the item stored under the key id=\"z\" has the key id=\"c\""},
      {"an item under another key, and another under its own",
       [](Storage& s) {
         std::string value;
         REQUIRE(s.get(item_key(carts_id, 0, cart_key("c")), value));
         plant(s, item_key(carts_id, 0, cart_key("z")), value);
       },
       "the item stored under the key id=\"z\" has the key id=\"c\"", false, true},
      {"items of a table without a description",
       [](Storage& s) {
         std::string bytes;
         encode_item({{"id", "a"}}, bytes);
         plant(s, item_key(77, 0, cart_key("a")), bytes);
       },
       "found an item of table number 77, which has no description", false, true},
      {"entries of a missing table",
       [](Storage& s) {
         plant(s, item_key(77, 1, "entry"), "key");
         plant(s, counter_key(77, 0), std::string(16, '\0'));
       },
       "found leftover data of table number 77"},
      {"a table's description that cannot be decoded",
       [](Storage& s) { plant(s, table_prefix('T', 2), "description"); },
       "the description of table number 2 cannot be decoded, so the table's data was not checked", false},
      {"a missing description of a stream", [](Storage& s) { erase(s, table_prefix('R', 1)); },
       "table carts (000000000000, us-east-1): the description of its stream is missing"},
      {"a stream's description that cannot be decoded",
       [](Storage& s) { plant(s, table_prefix('R', 1), "description"); },
       "the description of stream number 1 cannot be decoded"},
      {"a shard with hashes of another shard",
       [](Storage& s) {
         change(s, table_prefix('R', 1), [](std::string& bytes) {
           Stream stream = stream_from_item(decode_item(bytes));
           stream.shards[0].last_hash += 1;
           bytes.clear();
           encode_item(to_item(stream), bytes);
         });
       },
       "its open shards do not cover each hash exactly once", false},
      {"an enabled stream without a table",
       [](Storage& s) {
         change(s, table_prefix('R', 1), [&](std::string& bytes) {
           Stream stream = stream_from_item(decode_item(bytes));
           stream.id = 5;
           stream.table = 99;
           std::string other;
           encode_item(to_item(stream), other);
           plant(s, table_prefix('R', 5), other);
         });
       },
       "it is enabled, but no table uses it"},
      {"next ids that are too low",
       [](Storage& s) { plant(s, "Mnext-ids", std::string("\x01\0\0\0\x01\0\0\0", 8)); },
       "the next table or stream would get an id that was already assigned"},
      {"a missing window length", [](Storage& s) { erase(s, "Mexpiry-window"); },
       "the window length of the expiry index is missing"},
      {"an unknown key", [](Storage& s) { plant(s, "Manswer", "42"); }, "unknown key: Manswer", false, true},
      {"a key of an unknown kind", [](Storage& s) { plant(s, "Zebra", "stripes"); },
       "unknown kind of key: 0x5a65627261", false, true},
      {"a clock that cannot be decoded",
       [](Storage& s) { change(s, "C", [](std::string& v) { v.resize(3); }); },
       "the clock of account 000000000000 cannot be decoded"},
      {"a token without its age", [](Storage& s) { erase(s, found(s, "U").key); },
       "a token has no age and would never be deleted"},
      {"an age without its token", [](Storage& s) { erase(s, found(s, "Q").key); },
       "an age entry refers to a missing request token"},
      {"a token with a malformed key", [](Storage& s) { plant(s, "Qtoken", {}); },
       "a token has a malformed key"},
      {"a document with a malformed key", [](Storage& s) { plant(s, "Dletter", "dear"); },
       "a document has a malformed key", false, true},
      {"a snapshot without its head", [](Storage& s) { erase(s, table_prefix('G', 2)); },
       "found data of a missing snapshot"},
      {"a snapshot's head that cannot be decoded", [](Storage& s) { plant(s, table_prefix('G', 2), "head"); },
       "the head of a snapshot cannot be decoded", false},
      {"a wrong counter in a snapshot",
       [](Storage& s) { plant(s, found(s, table_prefix('K', 1)).key, std::string(16, '\x01')); },
       "snapshot 1 of 000000000000, table carts (000000000000, us-east-1): the counter of its items says"},
      {"an image of a missing snapshot",
       [](Storage& s) { plant(s, image_key(99, "Iimage-of-a-key"), "\x01value"); },
       "found an image of a missing snapshot"},
      {"an index entry that is missing from a snapshot",
       [](Storage& s) {
         const Table table = carts_table();
         const std::string entry = index_entry_key(table, table.indexes[1], plain_cart("c"));
         plant(s, image_key(2, item_key(carts_id, by_user, entry)), std::string(1, '\0'));
       },
       "snapshot 2 of 000000000000, table carts (000000000000, us-east-1): index by_user has no entry"},
      {"a next snapshot id that is too low",
       [](Storage& s) { plant(s, "Msnapshots", std::string(12, '\0')); },
       "the next snapshot would get an id that was already assigned"},
      {"an old version that cannot be decoded",
       [](Storage& s) { plant(s, found(s, table_prefix('O', past_id)).key, "version"); },
       "table past (000000000000, us-east-1): an old version of the item id=\"", false, true},
      {"an old version of another item",
       [](Storage& s) {
         std::string stored, version;
         encode_item({{"id", "other"}}, stored);
         plant(s, found(s, table_prefix('O', past_id)).key, version_of(stored));
       },
       "cannot be decoded: it holds another item", false, true},
      {"an old version under a malformed key",
       [](Storage& s) { plant(s, table_prefix('O', past_id) + "k", version_of(std::nullopt)); },
       "an old version of the item 0x4f000000046b cannot be decoded: its key is malformed", false, true},
      {"an old version of a missing table",
       [](Storage& s) { plant(s, version_key(77, cart_key("a"), 1), version_of(std::nullopt)); },
       "found leftover data of table number 77"},
      {"a wrong counter of old versions",
       [](Storage& s) { plant(s, counter_key(past_id, old_versions), std::string(16, '\x01')); },
       "table past (000000000000, us-east-1): the counter of the old versions of its items says"},
      {"a wrong counter of a dropped table's old versions",
       [](Storage& s) { erase(s, counter_key(gone_id, old_versions)); },
       "table gone (000000000000, us-east-1): the counter of the old versions of its items says 0"},
      {"a missing old version", [](Storage& s) { erase(s, found(s, table_prefix('O', gone_id)).key); },
       "table gone (000000000000, us-east-1): point 1 had 1 items ("},
      {"a point that cannot be decoded", [](Storage& s) { plant(s, point_key(3), "point"); },
       "a point cannot be decoded: 0x5000000003: it ends too early", false, true},
      {"a point with wrong counts",
       [](Storage& s) { change(s, point_key(3), [](std::string& v) { v[16] = 7; }); },
       "table past (000000000000, us-east-1): point 3 had 7 items ("},
      {"a last point id that is too low", [](Storage& s) { plant(s, "Mlast-point", std::string(4, '\0')); },
       "the next point would get an id that was already assigned"},
      {"a missing last number of old versions", [](Storage& s) { erase(s, "Mlast-version"); },
       "the next commit would get a number that was already assigned"},
  };
  return damages;
}

}  // namespace

TEST_CASE("verify finds nothing wrong in an intact directory and counts its contents", "[verification]") {
  const TemporaryDirectory directory;
  fill(directory.path());
  Outcome outcome;
  const auto checked = verify_directory(directory.path(), listener(outcome));
  REQUIRE(checked);
  CHECK(outcome.lines == std::vector<std::string>{});
  CHECK(checked->wrong == 0);
  CHECK(checked->checked->tables == 3);
  CHECK(checked->checked->points == 3);
  CHECK(checked->checked->versions == 4);
  CHECK(checked->checked->streams == 1);
  CHECK(checked->checked->records == 7);
  CHECK(checked->checked->snapshots == 2);
  CHECK(checked->checked->tokens == 1);
  CHECK(checked->checked->documents == 1);
  CHECK(checked->checked->items == 7 + 2 + 7 + 7);  // in the current state and in each snapshot
  const Outcome repair = repaired(directory.path());
  CHECK(repair.mended == 0);
  CHECK(repair.wrong == 0);
}

TEST_CASE("each kind of damage is reported and is repaired if the data can be derived from other data",
          "[verification][holds]") {
  for (const Damage& damage : all_damages()) {
    INFO(damage.what);
    const TemporaryDirectory directory;
    fill(directory.path());
    damage.plant(*open_directory(directory.path()));

    const Outcome before = verified(directory.path());
    for (const std::string& line : before.lines) UNSCOPED_INFO("wrong: " << line);
    CHECK(says(before.lines, damage.line));
    const Outcome repair = repaired(directory.path());
    for (const std::string& line : repair.mended_lines) UNSCOPED_INFO("mended: " << line);
    const Outcome after = verified(directory.path());
    for (const std::string& line : after.lines) UNSCOPED_INFO("after: " << line);
    CHECK(after.lines == repair.lines);
    if (damage.mends) {
      CHECK(repair.mended > 0);
      CHECK(after.wrong == 0);
      continue;
    }
    CHECK(says(after.lines, damage.line));
    if (!damage.moves) continue;
    const std::string file = directory.path() + "-moved";
    CHECK(repaired(directory.path(), {.move_out_file = file}).mended > 0);
    CHECK(verified(directory.path()).lines == std::vector<std::string>{});
    std::ifstream moved(file);
    std::string line;
    CHECK(std::getline(moved, line));
    CHECK(line.starts_with("0x"));
    moved.close();  // Windows does not remove open files
    fs::remove(file);
  }
}

TEST_CASE("repair moves damaged data only to a regular file and never through a link", "[verification]") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/data", elsewhere = directory.path() + "/elsewhere";
  fill(path);
  const auto repair = [&](const std::string& file) {
    Outcome outcome;
    return repair_directory(path, {.move_out_file = file}, listener(outcome));
  };
  std::ofstream(elsewhere) << "private";
  const std::string link = directory.path() + "/link", name = directory.path() + "/name";
  fs::create_symlink(elsewhere, link);
  CHECK(repair(link).error() == "cannot write to " + link + ": it is a symbolic link");
  fs::create_hard_link(elsewhere, name);
  CHECK(repair(name).error() ==
        "cannot write to " + name + ": it must be a regular file without other hard links");
  CHECK(repair(directory.path() + "/moved"));
}

TEST_CASE("damage to replication data is reported and is repaired if the data can be derived from other data",
          "[verification][replication]") {
  const auto fill_global = [](const std::string& path) {
    World world({.directory = path, .reap = false});
    const auto trips = world.create(simple_table("trips"));
    REQUIRE(world.database().tables().update_together(trips, [](std::vector<Table>& tables) {
      tables[0].stream = stream_of(StreamView::keys_only);
      Table replica = simple_table("trips");
      replica.region = "eu-west-1";
      tables.push_back(replica);
      return true;
    }));
    for (const char* id : {"a", "b"}) world.put(trips, {{"id", id}});
    world.remove(trips, {{"id", "b"}});  // no write has arrived in the other region yet
  };
  const std::string a = cart_key("a"), b = cart_key("b");
  const std::vector<Damage> damages = {
      {"a version that cannot be decoded", [&](Storage& s) { plant(s, write_version_key(1, a), "version"); },
       "the version of the item id=\"a\" cannot be decoded"},
      {"a version of a missing item",
       [&](Storage& s) {
         plant(s, write_version_key(1, cart_key("z")), encode_version({2, 1, 0}));
       },
       "the item id=\"z\" is missing, but its version says that it exists"},
      {"a missing tombstone", [](Storage& s) { erase(s, found(s, table_prefix('Y', 1)).key); },
       "the deletion of the item id=\"b\" has no tombstone and would never be forgotten"},
      {"a tombstone of an item", [&](Storage& s) { plant(s, tombstone_key(1, 1, a), {}); },
       "a tombstone of the item id=\"a\" does not match its version"},
      {"a write in flight to a table that is not a replica",
       [&](Storage& s) {
         plant(s, departure_key(1, 99, 1), encode_departure({1, 2, 1, a, {}}));
       },
       "a write is in flight to a table that is not a replica"},
      {"a write in flight that cannot be decoded",
       [](Storage& s) { change(s, table_prefix('F', 1), [](std::string& v) { v.resize(10); }); },
       "a write in flight to a replica cannot be decoded"},
      {"a replica that does not refer to the table",
       [](Storage& s) {
         change(s, table_prefix('T', 2), [](std::string& bytes) {
           Table table = table_from_item(decode_item(bytes));
           table.replicas.clear();
           table.copies_from.clear();
           bytes.clear();
           encode_item(to_item(table), bytes);
         });
       },
       "its replica in eu-west-1 is missing or does not refer to it", false},
  };
  for (const Damage& damage : damages) {
    INFO(damage.what);
    const TemporaryDirectory directory;
    fill_global(directory.path());
    CHECK(verified(directory.path()).lines == std::vector<std::string>{});
    damage.plant(*open_directory(directory.path()));
    CHECK(says(verified(directory.path()).lines, damage.line));
    repaired(directory.path());
    if (damage.mends) CHECK(verified(directory.path()).wrong == 0);
  }
}

TEST_CASE("an interrupted repair makes nothing worse and the next repair continues it", "[verification]") {
  const TemporaryDirectory directory;
  fill(directory.path());
  {
    const auto storage = open_directory(directory.path());
    for (std::size_t i = 0; i < damages_of_a_table; ++i) all_damages()[i].plant(*storage);
  }
  std::uint64_t wrong = verified(directory.path()).wrong;
  CHECK(wrong > 10);
  while (wrong > 0) {
    {
      // Applies one fix and then stops, like an interrupted repair.
      const auto storage = open_directory(directory.path());
      const Storage::Snapshot at(*storage);
      std::optional<Batch> mend;
      Findings findings([&](Finding finding) {
        if (!mend && !finding.mend.empty()) mend = std::move(finding.mend);
      });
      verify(*storage, at, {}, findings);
      REQUIRE(mend);
      storage->write(*mend);
    }
    const std::uint64_t left = verified(directory.path()).wrong;
    REQUIRE(left < wrong);
    wrong = left;
  }
}

TEST_CASE("verify changes no byte of a directory even if its log is torn", "[verification][holds]") {
  const TemporaryDirectory directory;
  fill(directory.path());
  const bool torn = GENERATE(false, true);
  if (torn) {
    const fs::path log = last_log(directory.path());
    fs::resize_file(log, fs::file_size(log) - 3);
  }
  const auto before = contents(directory.path());
  CHECK(verified(directory.path()).wrong == 0);
  CHECK(contents(directory.path()) == before);
}

TEST_CASE("verify and repair reject a directory that is missing or in use or was not created by Mayfly",
          "[verification]") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/data";
  const auto refusals = [&] {
    Outcome unused;
    const auto checked = verify_directory(path, listener(unused));
    const auto repaired = repair_directory(path, {}, listener(unused));
    REQUIRE_FALSE(checked);
    REQUIRE_FALSE(repaired);
    CHECK(checked.error() == repaired.error());
    return checked.error();
  };
  CHECK(refusals() == "cannot read the data directory " + path + ": No such file or directory");
  fs::create_directory(path);
  CHECK(refusals() == "the data directory " + path + " is empty");
  CHECK(fs::is_empty(path));
  std::ofstream(path + "/letter.txt") << "dear";
  CHECK(refusals().find("was not created by Mayfly") != std::string::npos);
  fs::remove(path + "/letter.txt");
  {
    const auto storage = open_directory(path);
    plant(*storage, "k", "v");
    CHECK(refusals() == "the data directory " + path + " is in use by another process");
  }
  fs::remove(path + "/MAYFLY");
  CHECK(refusals().find("was not created by Mayfly") != std::string::npos);
  std::ofstream(path + "/MAYFLY", std::ios::binary) << "Mayfly's data, format 5\n";
  const auto before = contents(path);
  CHECK(refusals() == "the data directory " + path +
                          " was written by another version of Mayfly, in a format that this version does "
                          "not know");
  CHECK(contents(path) == before);
}

TEST_CASE("verify does not change a directory in an earlier format and repair converts it",
          "[verification]") {
  const TemporaryDirectory directory;
  fill(directory.path());
  const std::string mark = directory.path() + "/MAYFLY";
  std::ofstream(mark, std::ios::binary) << "Mayfly's data, format 1\n";
  CHECK(verified(directory.path()).wrong == 0);
  CHECK(contents(directory.path())[mark] == "Mayfly's data, format 1\n");
  CHECK(repaired(directory.path()).wrong == 0);
  CHECK(contents(directory.path())[mark] == "Mayfly's data, format 4\n");
}

TEST_CASE("a damaged file is reported and repair keeps the file unless an option says to give it up",
          "[verification]") {
  const TemporaryDirectory directory;
  fill(directory.path());
  open_directory(directory.path());  // moves the contents of the log to a table file
  fs::path table;
  for (const auto& file : fs::directory_iterator(directory.path()))
    if (file.path().extension() == ".sst") table = file.path();
  REQUIRE_FALSE(table.empty());
  const std::string table_path = directory.path() + "/" + table.filename().string();
  const bool cut = GENERATE(false, true);
  if (cut)
    fs::resize_file(table, fs::file_size(table) / 2);
  else {
    std::fstream file(table, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);
    file.put('\x7f');
  }
  const Outcome before = verified(directory.path());
  CHECK(says(before.lines, table_path + " cannot be read: "));
  const auto files = contents(directory.path());
  CHECK(says(repaired(directory.path()).lines, table_path + " cannot be read: "));
  CHECK(contents(directory.path()) == files);

  const Outcome repair = repaired(directory.path(), {.give_up_damaged_files = true});
  CHECK(says(repair.mended_lines, "moved " + table_path + " to " + directory.path() + "/lost/"));
  CHECK(repair.wrong == 0);
  CHECK(fs::exists(directory.path() + "/lost/" + table.filename().string()));
  CHECK(verified(directory.path()).wrong == 0);
  World world({.directory = directory.path(), .reap = false});
}

TEST_CASE("a damaged log is reported and giving up the log keeps the writes before the damage",
          "[verification]") {
  const TemporaryDirectory directory;
  {
    const auto storage = open_directory(directory.path());
    plant(*storage, "Mnext-ids", std::string("\x01\0\0\0\x01\0\0\0", 8));
    plant(*storage, "Mexpiry-window", std::string("\x60\xea\0\0\0\0\0\0", 8));
    for (int i = 0; i < 50; ++i)
      plant(*storage, "D000000000000" + std::string("\0k\0", 3) + std::to_string(i), "document");
  }
  const fs::path log = last_log(directory.path());
  {
    std::fstream file(log, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(fs::file_size(log) / 2));
    file.put('\x7f');
  }
  CHECK(says(verified(directory.path()).lines, "the log " + log.string() + " is damaged at byte "));
  CHECK(says(repaired(directory.path()).lines, "the log " + log.string() + " is damaged at byte "));
  const Outcome repair = repaired(directory.path(), {.give_up_damaged_files = true});
  CHECK(says(repair.mended_lines, "truncated " + log.string() + " at byte "));
  CHECK(repair.wrong == 0);
  std::string value;
  const auto storage = open_directory(directory.path());
  CHECK(storage->get("D000000000000" + std::string("\0k\0", 3) + "0", value));
  CHECK_FALSE(storage->get("D000000000000" + std::string("\0k\0", 3) + "49", value));
}

TEST_CASE("a database is consistent at every instant while clients write", "[verification][holds]") {
  const TemporaryDirectory directory;
  World world({.directory = directory.path(), .reap = false});
  const auto carts = world.create(carts_table());
  world.enable_ttl(carts);
  std::atomic<bool> ended = false;
  std::thread writer([&] {
    for (int i = 0; !ended; ++i) {
      world.put(carts, {{"id", std::to_string(i % 20)},
                        {"user", "u" + std::to_string(i % 7)},
                        {"ttl", number(start_seconds + i)}});
      if (i % 3 == 0) world.remove(carts, {{"id", std::to_string(i % 11)}});
    }
  });
  for (int i = 0; i < 20; ++i) CHECK(world.inconsistency(carts) == "");
  ended = true;
  writer.join();
}

}  // namespace mayfly::testing
