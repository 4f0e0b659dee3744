#include "tests/simulation/simulation.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <utility>

#include "compat/backups/backups.h"
#include "compat/emulator.h"
#include "compat/json/json.h"
#include "compat/kinesis/destinations.h"
#include "compat/triggers/triggers.h"
#include "compat/wire/attribute_value_json.h"
#include "engine/background/history_size.h"
#include "engine/background/snapshot_heads.h"
#include "engine/base/attempt.h"
#include "engine/base/random.h"
#include "engine/database.h"
#include "engine/schema/readable_key.h"
#include "engine/storage/key_space.h"
#include "engine/storage/storage.h"
#include "engine/tables/replica_log.h"
#include "engine/values/item_codec.h"
#include "engine/values/key_codec.h"
#include "engine/verify/verification.h"
#include "tests/simulation/clients.h"
#include "tests/simulation/crashing_files.h"
#include "tests/simulation/interleaver.h"
#include "tests/simulation/model.h"
#include "tests/simulation/receivers.h"
#include "tests/support/stepped_scheduler.h"

namespace mayfly::testing {
namespace {

constexpr engine::Instant start = 1'700'000'000'000;
constexpr engine::Instant day_ms = 24 * 3600 * 1000;
constexpr std::string_view account = "000000000000";

Json json_of(const std::optional<engine::Item>& item) {
  if (!item) return nullptr;
  std::string text;
  json::Writer out(text);
  compat::write_item_object(out, *item);
  return Json::parse(text);
}

// Returns the model's name for an item: "a/5" for the readable key id="a", at=5.
std::string model_key_of(const engine::Table& table, std::string_view encoded) {
  const std::string readable = engine::readable_key(table.keys, encoded);
  const auto first = readable.find('"') + 1, last = readable.rfind('"'), sort = readable.find("at=");
  std::string key = readable.substr(first, last - first);
  if (!table.keys.sort().empty()) key += "/" + readable.substr(sort + 3);
  return key;
}

// Returns the last write to an item of a global table, including a write that removed the item; nullopt if
// the table is not global or the item is older than its replica.
std::optional<ModelWrite> write_of(const engine::Database& database, const engine::Table& table,
                                   std::string_view key) {
  std::string bytes;
  const bool found =
      table.replicates() && database.storage().get(engine::write_version_key(table.id, key), bytes);
  const auto version = found ? engine::decode_version(bytes) : std::nullopt;
  if (!version) return std::nullopt;
  return ModelWrite{version->number, version->origin == 0 || version->origin == table.id};
}

// The last write to each of the table's items, including its removed items.
std::map<std::string, ModelWrite> writes_of(const engine::Database& database, const engine::Table& table) {
  std::map<std::string, ModelWrite> writes;
  const std::string prefix = engine::write_version_key(table.id, {});
  engine::Storage::Iterator versions(database.storage(), prefix, engine::prefix_end(prefix));
  for (versions.seek_to_first(); versions.valid(); versions.next()) {
    const auto version = engine::decode_version(versions.value());
    writes[model_key_of(table, versions.key().substr(prefix.size()))] = {
        version->number, version->origin == 0 || version->origin == table.id};
  }
  return writes;
}

// The writes in flight to the table, with their numbers in storage.
std::vector<ModelDeparture> arriving_at(const engine::Database& database, const engine::Table& table) {
  std::vector<ModelDeparture> arriving;
  for (const engine::Replica& replica : table.replicas) {
    const std::string prefix = engine::departures_prefix(replica.table, table.id);
    engine::Storage::Iterator departures(database.storage(), prefix, engine::prefix_end(prefix));
    for (departures.seek_to_first(); departures.valid(); departures.next()) {
      const auto departure = engine::decode_departure(departures.value());
      std::shared_ptr<const Json> item;
      if (!departure->item.empty())
        item = std::make_shared<const Json>(json_of(engine::decode_item(departure->item)));
      arriving.push_back({model_key_of(table, departure->key), std::move(item), departure->version});
    }
  }
  return arriving;
}

// Everything in storage, including items that reads would hide.
ModelState stored_state(engine::Database& database) {
  ModelState state;
  for (const auto& live : database.catalog().tables(account)) {
    const auto description = live->description();
    ModelTable table;
    table.sorted = !description->keys.sort().empty();
    table.by_user = description->find_index("by_user") != nullptr;
    table.by_n = description->find_index("by_n") != nullptr;
    table.streamed = description->stream.has_value();
    table.expires = description->ttl.has_value();
    if (description->recovery) table.recovery = ModelRecovery{.days = description->recovery->days};
    table.name = model_name(*description);
    table.id = live->id();
    table.writes = writes_of(database, *description);
    table.stored_arriving = arriving_at(database, *description);
    table.copying = !description->copies_from.empty();
    if (!description->replicas.empty()) table.replica = other_name(table.name);
    table.mode = description->expiry;
    const std::string prefix = engine::item_key(live->id(), 0, {});
    engine::Storage::Iterator items(database.storage(), prefix, engine::prefix_end(prefix));
    for (items.seek_to_first(); items.valid(); items.next()) {
      auto item = std::make_shared<const Json>(json_of(engine::decode_item(items.value())));
      table.items[model_key(table.sorted, *item)] = std::move(item);
    }
    if (table.streamed) {
      std::map<engine::Sequence, ModelRecord> records;
      const auto stream = database.catalog().find_stream({description->account, description->region},
                                                         description->name, description->stream->label);
      for (const engine::Shard& shard : stream->shards) {
        for (engine::ChangeRecord& record :
             database.change_log().read(stream->id, shard.number, 0, 100'000, 100'000'000).records) {
          static constexpr const char* events[] = {"INSERT", "MODIFY", "REMOVE"};
          records[record.sequence] = {events[static_cast<int>(record.kind)],
                                      model_key(table.sorted, json_of(record.keys)),
                                      record.cause == engine::Cause::time_to_live,
                                      json_of(record.old_image),
                                      json_of(record.new_image),
                                      record.created};
        }
      }
      for (auto& [sequence, record] : records) table.records.push_back(std::move(record));
    }
    state.tables[model_name(*description)] = std::make_shared<const ModelTable>(std::move(table));
  }
  return state;
}

// Adds the members of snapshots to the verification if the database is in memory, because they are then not
// in storage. Sets `lacking` if a snapshot has no members, because it is being taken or was dropped during
// the verification.
void add_snapshot_members(engine::Database& database, engine::VerificationOf& of, bool& lacking) {
  if (database.storage().durable()) return;
  of.snapshot_members = [&database, &lacking](std::string_view id, engine::SnapshotId snapshot, char kind,
                                              const engine::SnapshotMembers::Visit& visit) {
    if (!database.snapshots().each_member(id, snapshot, kind, visit)) lacking = true;
  };
}

// The first error that a verification finds in storage at this instant; empty if there is none. The process
// could be killed at any such instant, so storage must always be consistent. Counters in memory are not
// compared, because they are updated after the write.
std::string flaw_now(engine::Database& database, const engine::Clock& host) {
  const engine::Storage& storage = database.storage();
  std::string first;
  engine::Findings findings([&](const engine::Finding& finding) {
    if (first.empty() && (storage.durable() || finding.kind != "a wrong counter")) first = finding.text;
  });
  engine::VerificationOf of{.host = &host};
  bool lacking = false;
  add_snapshot_members(database, of, lacking);
  engine::attempt([&] { verify(storage, engine::Storage::Snapshot(storage), of, findings); },
                  [](std::string_view) {});  // ignores files that cannot be read
  return lacking ? std::string() : first;
}

// Like flaw_now(), but also compares the counters in memory. Requires: no request is in flight and no
// background work is pending.
std::string flaw_of(engine::Database& database, const engine::Clock& host) {
  const engine::Storage& storage = database.storage();
  std::string first;
  engine::Findings findings([&](const engine::Finding& finding) {
    if (first.empty()) first = finding.text;
  });
  engine::VerificationOf of{.host = &host,
                            .now = [&](std::string_view id) { return database.accounts().of(id).now(); }};
  bool lacking = false;
  add_snapshot_members(database, of, lacking);
  if (!storage.durable()) {
    of.counts = [&](engine::TableId id, engine::IndexId index) {
      if (index == engine::old_versions) {
        const engine::VersionCount count = database.catalog().find(id)->version_count();
        return engine::Counts{count.versions, count.bytes};
      }
      const engine::Counter& counter = database.catalog().find(id)->counter(index);
      return engine::Counts{counter.items, counter.bytes};
    };
  }
  verify(storage, engine::Storage::Snapshot(storage), of, findings);
  if (lacking && first.empty()) return "a snapshot in storage has no members in memory";
  for (const auto& live : database.catalog().tables(account)) {
    const auto description = live->description();
    if (!description->ttl) continue;
    const std::string prefix = engine::table_prefix('X', live->id());
    engine::Storage::Iterator entries(storage, prefix, engine::ExpiryIndex::never_begin(live->id()));
    entries.seek_to_first();
    const auto timer = database.accounts().of(account).timers().of(live->id());
    if (entries.valid() && (!timer || timer->due > engine::ExpiryIndex::due_in(entries.key())))
      return description->name + ": its timer is later than the first due item";
  }
  return first;
}

bool is_subsequence(const std::vector<std::string>& part, const std::vector<std::string>& all) {
  auto next = all.begin();
  return std::all_of(part.begin(), part.end(), [&](const std::string& one) {
    next = std::find(next, all.end(), one);
    return next != all.end() && ++next != all.begin();
  });
}

std::string lines(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& one : all) text += "\n    " + one;
  return text;
}

class Simulation {
 public:
  Simulation(std::uint64_t seed, const SimulationOptions& options)
      : seed_(seed),
        options_(options),
        random_(seed_of(1)),
        model_([this](const std::string& what) { wrong(what); }, outcome_.trace,
               [this](const std::string& table) { return id_of(table); }),
        interleaver_(
            seed_of(2), switches_one_in(), [this](std::string_view place) { reached(place); },
            [this] { give_up(); }) {
    const ClientOptions client_options{
        .whole_account = random_() % 2 == 0,
        .tables = random_() % 4 != 0,
        .faults = on_disk(),
        .past = random_() % 3 != 0,
        .recovery_lag_ms = random_() % 2 == 0 ? 0 : compat::backups::recovery_lag_ms,
        .stale_reads = random_() % 2 == 0,
        .replicas = random_() % 3 == 0,
        .history_bytes_max = random_() % 4 == 0 ? 1000 + random_() % 4000 : 0};
    history_bytes_max_ = client_options.history_bytes_max;
    exact_recovery_ = client_options.recovery_lag_ms == 0;
    streams_stay_ = !client_options.whole_account && !client_options.tables;
    clock_goes_on_ = !client_options.whole_account;
    for (int i = 0; i < options_.clients; ++i)
      clients_.push_back(std::make_unique<Clients>(
          model_, seed_of(100 + static_cast<std::uint64_t>(i)), 1'000'000 * i, client_options,
          [this](const std::string& what) { wrong(what); }, outcome_.trace));
  }

  Outcome run() {
    if (on_disk()) model_.begin_life();
    // Each opening adds log files. The fourth opening starts to compact them.
    const int lives = 3 + static_cast<int>(on_disk() ? random_() % 4 : 0);
    const bool syncs = on_disk() && random_() % 2 == 0;
    for (life_ = 0; life_ < lives && outcome_.wrong.empty(); ++life_) {
      if (life_ == 0 || on_disk()) open(syncs);
      if (!outcome_.wrong.empty()) break;
      live();
      if (!on_disk() || !outcome_.wrong.empty()) continue;
      close();
      const Lost lost = random_() % 2 == 0 ? Lost::nothing : Lost::unsynced;
      may_lose_commits_ = lost == Lost::unsynced && !syncs;
      if (may_lose_commits_) {
        mappings_stay_ = false;
        receivers_->forget_taken();  // after lost commits, changes can be delivered again or out of order
      }
      outcome_.trace.push_back(std::string(env_->crashed() ? "--- crashed" : "--- closed") +
                               (lost == Lost::nothing ? "" : ", and the power failed") +
                               (syncs ? "; every commit is synced" : ""));
      env_->restart(lost, random_);
      const auto days_down = static_cast<engine::Instant>(random_() % 2 * (2 + random_() % 20));
      clock_->move(days_down * day_ms + static_cast<engine::Instant>(random_() % 5000));
    }
    close();
    outcome_.requests = static_cast<std::uint64_t>(options_.clients * options_.requests);
    outcome_.switches = interleaver_.switches();
    return std::move(outcome_);
  }

 private:
  // Each user of random numbers has its own seed.
  [[nodiscard]] std::uint64_t seed_of(std::uint64_t of) const { return seed_ * 1000 + of; }
  [[nodiscard]] bool on_disk() const { return !options_.directory.empty(); }
  unsigned switches_one_in() {
    static constexpr unsigned frequencies[] = {2, 5, 20, 100};
    return frequencies[random_() % std::size(frequencies)];
  }

  void wrong(const std::string& what) {
    if (!outcome_.wrong.empty()) return;
    outcome_.wrong = what;
    outcome_.trace.push_back("WRONG: " + what);
  }

  [[noreturn]] void give_up() {
    for (const std::string& line : outcome_.trace) std::fprintf(stderr, "%s\n", line.c_str());
    std::fprintf(stderr, "seed %llu: deadlock\n", static_cast<unsigned long long>(seed_));
    std::fflush(stderr);
    std::_Exit(1);
  }

  // How far the account's clock is ahead of the host's.
  [[nodiscard]] engine::Instant ahead() const {
    return emulator_->database().accounts().of(account).now() - clock_->now();
  }

  void close() {
    subscription_ = {};
    if (emulator_) ahead_ = ahead();
    emulator_.reset();
    receivers_->forget_calls();
  }

  void reached(std::string_view place) {
    if (env_ && place == "waits for jobs") env_->begin_waiting(Interleaver::self());
    if (env_ && place == "jobs done") env_->end_waiting(Interleaver::self());
    model_.reached(place, Interleaver::self());
  }

  // Called while a change to the catalog is reported, when no other thread may take a turn.
  [[nodiscard]] engine::TableId id_of(const std::string& table) const {
    const engine::Interleaving::Alone alone;
    const bool away = table.find('@') != std::string::npos;
    const auto live = emulator_->database().catalog().find(
        {std::string(account), std::string(away ? away_region : home_region)},
        table.substr(0, table.find('@')));
    return live ? live->id() : 0;
  }

  void open(bool syncs) {
    scheduler_ = std::make_shared<SteppedScheduler>(clock_, seed_of(10 + static_cast<std::uint64_t>(life_)));
    if (on_disk() && !env_) env_ = std::make_unique<SimulatedEnv>();
    if (env_) env_->use(scheduler_);
    const auto url = [](const char* text) { return *compat::outbound::Url::parse(text); };
    auto opened = compat::Emulator::open(
        {.database = {
             .directory = options_.directory,
             .fsync = syncs,
             .clock = clock_,
             .random =
                 std::make_shared<engine::SeededRandom>(seed_of(20 + static_cast<std::uint64_t>(life_))),
             .stream_shards = 1 + static_cast<std::uint32_t>(random_() % 3),
             .backfill_at_once_max = random_() % 2 * 100,
             .report = [this](std::string_view text) { outcome_.trace.emplace_back(text); },
             .make_scheduler = [this](std::size_t) { return scheduler_; },
             .env = env_.get(),
             .history_bytes_max =
                 history_bytes_max_ != 0 ? history_bytes_max_ : engine::DatabaseOptions().history_bytes_max},
         .exact_recovery = exact_recovery_,
         .restored_at_once_max = random_() % 2 == 0 ? 1 + random_() % 3 : 1000,
         .triggers = {.invoker = receivers_,
                      .functions = {{"carts", {url("http://function/carts")}},
                                    {"visits", {url("http://function/visits")}}},
                      .held_bytes_max =
                          seed_ % 5 == 1 ? 0 : compat::triggers::TriggerOptions().held_bytes_max},
         .kinesis = {.invoker = receivers_, .endpoint = url("http://kinesis/")}});
    if (!opened) return wrong("the database cannot be opened: " + opened.error());
    emulator_ = *std::move(opened);
    for (const auto& client : clients_) {
      client->use(emulator_.get());
      if (may_lose_commits_) client->forget_snapshots();
    }
    engine::Database& database = emulator_->database();
    if (life_ > 0) {
      // If the clock was moved back, or one of its moves was lost, instants repeat.
      const bool went_back = ahead() < ahead_;
      if (went_back && !may_lose_commits_ && !model_.may_be_rewound())
        return wrong("the account's time went backward");
      model_.recovered(stored_state(database), database.accounts().of(account).now(),
                       {.commits = may_lose_commits_, .time = went_back});
      if (outcome_.wrong.empty()) clients_.front()->look_at_backups();
    }
    subscription_ = database.change_feed().subscribe([this](const engine::Change& change) {
      std::optional<ModelWrite> write;
      engine::attempt([&] { write = write_of(emulator_->database(), *change.table, change.key); },
                      [](std::string_view) {});  // ignores files that cannot be read
      model_.told(change, Interleaver::self(), write);
    });
    if (life_ > 0 && outcome_.wrong.empty()) {
      check();  // items that fell due in the meantime are deleted
    }
  }

  [[nodiscard]] bool goes_on() const { return outcome_.wrong.empty() && !(env_ && env_->crashed()); }

  void live() {
    clients_.front()->make_tables();
    if (env_ && options_.crash_at != 0) {
      env_->crash_at(life_ == 0 ? options_.crash_at : 0);
    } else if (env_ && random_() % 4 != 0) {
      env_->crash_at(1 + random_() % 150);
    }
    int working = options_.clients;
    std::vector<std::function<void()>> threads;
    for (const auto& client : clients_) {
      threads.emplace_back([this, &client, &working] {
        for (int i = 0; i < options_.requests / 3 && goes_on(); ++i) client->act();
        --working;
      });
    }
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([this, &working] {
        while (working > 0) {
          if (!goes_on() || scheduler_->idle() || !scheduler_->step_one())
            static_cast<void>(interleaver_.blocked());
        }
      });
    }
    threads.emplace_back([this, &working] {  // moves time, checks storage and makes the disk fail
      std::mt19937_64 passing(seed_of(30 + static_cast<std::uint64_t>(life_)));
      engine::Instant latest = 0;
      while (working > 0) {
        static_cast<void>(interleaver_.blocked());
        const engine::Instant now = emulator_->database().accounts().of(account).now();
        if (clock_goes_on_ && now < latest)
          wrong("time went backward by " + std::to_string(latest - now) + " ms");
        latest = now;
        if (passing() % 25 == 0) {
          if (const std::string flaw = flaw_now(emulator_->database(), *clock_); !flaw.empty()) wrong(flaw);
        }
        if (passing() % 40 == 0) clock_->move(static_cast<engine::Instant>(passing() % 1500));
        if (env_ && passing() % 100 == 0) {
          if (passing() % 4 == 0)
            env_->leave_room(passing() % 20'000);
          else
            env_->fail(static_cast<Failing>(passing() % 3));
        }
      }
    });
    threads.emplace_back([this, &working] {  // responds to calls to functions and to Kinesis
      while (working > 0) {
        static_cast<void>(interleaver_.blocked());
        receivers_->answer_one();
      }
    });
    interleaver_.run(std::move(threads));
    if (env_ && env_->crashed()) {
      ++outcome_.crashes;
    } else if (outcome_.wrong.empty()) {
      if (env_) {
        env_->crash_at(0);
        env_->fail(Failing::nothing);
        // Failed work is retried after a second, possibly before storage has resumed, so let several seconds
        // pass.
        for (int tries = 0; tries < 3; ++tries) {
          clock_->move(1000);
          scheduler_->run();
        }
      }
      check();
    }
  }

  // Requires: no request is in flight. Finishes all background work and compares everything with the model.
  // Repeats this a minute later, to check that sleeping tasks woke up although no client moved a clock.
  void check() {
    check_now();
    if (!outcome_.wrong.empty()) return;
    clients_.front()->restore_some();
    clock_->move(60'000);
    check_now();
  }

  void check_now() {
    receivers_->take_all();
    clients_.front()->open_ways();
    constexpr int rounds_max = 3000;
    bool settled = false;
    for (int round = 0; round < rounds_max && !settled; ++round) {
      scheduler_->run();
      while (receivers_->answer_one()) scheduler_->run();
      settled = emulator_->kinesis().settle(engine::RealTime()) &&
                emulator_->triggers().settle(account, std::chrono::milliseconds(0)).unfinished.empty();
      if (!settled) clock_->move(100);
    }
    if (!settled) wrong("deliveries are not complete after " + std::to_string(rounds_max) + " rounds");
    receivers_->fail_again();
    if (outcome_.wrong.empty()) clients_.front()->check_all();
    if (const std::string flaw = flaw_of(emulator_->database(), *clock_); !flaw.empty()) wrong(flaw);
    for (const std::string table : {"carts", "visits"}) {
      check_deliveries(table, "http://function/" + table, mappings_stay_);
      check_deliveries(table, "arn:aws:kinesis:us-east-1:000000000000:stream/" + table, !on_disk());
    }
  }

  void check_deliveries(const std::string& table, const std::string& receiver, bool all) {
    const Model::History& history = model_.history(table);
    const Receivers::ByItem& taken = receivers_->of(receiver);
    for (const auto& [key, records] : taken) {
      const auto known = history.find(key);
      for (const std::string& record : records) {
        if (known == history.end() ||
            std::find(known->second.begin(), known->second.end(), record) == known->second.end())
          return wrong(receiver + " got a change that never happened: " + key + " " + record);
      }
      if (streams_stay_ && !is_subsequence(records, known->second))
        return wrong(receiver + " got the changes of " + key + " in the wrong order:" + lines(records) +
                     "\n  instead of:" + lines(known->second));
    }
    const ModelTable* const present = model_.state().find(table);
    if (!all || !streams_stay_ || present == nullptr || !clients_.front()->is_mapped(table)) return;
    for (const ModelRecord* record :
         readable(present->records, emulator_->database().accounts().of(account).now())) {
      const std::string printed =
          print_record(record->event, record->by_service, record->old_image, record->new_image);
      const auto of_key = taken.find(record->key);
      if (of_key == taken.end() ||
          std::find(of_key->second.begin(), of_key->second.end(), printed) == of_key->second.end())
        return wrong(receiver + " did not get " + record->key + " " + printed);
    }
  }

  const std::uint64_t seed_;
  const SimulationOptions options_;
  Outcome outcome_;
  std::mt19937_64 random_;
  Model model_;
  Interleaver interleaver_;
  const std::shared_ptr<Receivers> receivers_ = std::make_shared<Receivers>(seed_of(3));
  const std::shared_ptr<SteppedClock> clock_ = std::make_shared<SteppedClock>(start);
  std::shared_ptr<SteppedScheduler> scheduler_;
  std::unique_ptr<SimulatedEnv> env_;
  std::vector<std::unique_ptr<Clients>> clients_;
  std::unique_ptr<compat::Emulator> emulator_;
  engine::ChangeFeed::Subscription subscription_;
  int life_ = 0;
  bool may_lose_commits_ = false;
  bool exact_recovery_ = false;
  std::uint64_t history_bytes_max_ = 0;
  engine::Instant ahead_ = 0;
  bool streams_stay_ = false;   // tables keep the streams of the first life
  bool clock_goes_on_ = false;  // no restore or reset moves the clock back
  bool mappings_stay_ = true;
};

}  // namespace

Outcome simulate(std::uint64_t seed, const SimulationOptions& options) {
  if (!options.directory.empty()) std::filesystem::remove_all(options.directory);
  return Simulation(seed, options).run();
}

}  // namespace mayfly::testing
