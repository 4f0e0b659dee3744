// The simulation's model of a database: tables as maps, with every state that existed while requests were in
// flight.
//
// The model learns of each commit as it happens: from the change feed (told()), and from the named
// places in the engine that threads reach (reached()). The model applies the intents of the requests in
// flight to its own state and compares the results. So the engine decides the order of commits, and the model
// decides what each commit must do. A response must be right for one of the states between its request and
// the response.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "engine/schema/table.h"
#include "engine/tables/change_feed.h"
#include "engine/values/sight.h"

namespace mayfly::testing {

using Json = nlohmann::json;

struct ModelRecord {
  std::string event, key;  // `event` is "INSERT", for example
  bool by_service;
  Json old_image, new_image;  // null if there was no item
  engine::Instant at = 0;
  friend bool operator==(const ModelRecord&, const ModelRecord&) = default;
};

// An item's value after a commit. The time of the commit is known within bounds. A version is not certain if
// a crash may have undone the commit.
struct ModelVersion {
  std::string key;
  engine::Instant earliest = 0, latest = 0;
  std::shared_ptr<const Json> item;  // nullptr if it was removed
  bool certain = true;
};

// The earliest instant to which a table can be restored, within bounds.
struct ModelRecovery {
  engine::Instant since_earliest = 0, since_latest = 0;
  engine::Instant given_up = 0;  // upper bound of the instants given up when the period was shortened
  std::int64_t days = 35;
};

// The write that an item of a global table comes from. Later writes have higher numbers. The removal of an
// expired item has the number of the item's write plus one.
struct ModelWrite {
  std::uint64_t number = 0;
  bool here = true;  // false: made in the other region
};

// A write in flight to a table.
struct ModelDeparture {
  std::string key;
  std::shared_ptr<const Json> item;  // nullptr: a removal
  std::uint64_t number = 0;
  bool copying = false;  // sent during the copying of the table's items, which may include a later write
};

// The items that a restore may bring back: for each key a list of possible items; nullptr means that the key
// has no item.
using Candidates = std::map<std::string, std::vector<std::shared_ptr<const Json>>>;

struct ModelTable {
  std::string name;
  bool sorted = false;   // has the sort key "at"
  bool by_user = false;  // has the global index
  bool by_n = false;     // has the local index
  bool streamed = false;
  bool expires = false;  // TTL is on, by the attribute "ttl"
  engine::ExpiryMode mode;
  std::map<std::string, std::shared_ptr<const Json>> items;  // by key
  std::vector<ModelRecord> records;                          // records of the enabled stream

  std::uint64_t number = 0;            // unique, also among tables with the same name
  engine::TableId id = 0;              // in storage; 0: not known
  std::vector<ModelVersion> versions;  // all versions of its items, in order
  engine::Instant expiry_changed = 0;  // upper bound of the last change of TTL or its mode
  std::optional<ModelRecovery> recovery;
  // Set if the table is or was being restored: the items that are still missing. Until the last one arrives,
  // the table cannot be read or written. After that, it can become usable at any time.
  std::optional<Candidates> awaited;
  // --- of a global table with two regions
  std::string replica;  // the name of the other region's table; empty: not a global table
  // Items of the other table may still be missing. Until all are here, the table cannot be read or written,
  // and arriving items make no stream records.
  bool copying = false;
  std::map<std::string, ModelWrite> writes;     // by key; missing for items older than the replica
  std::vector<ModelDeparture> arriving;         // in order for each item, including those that change nothing
  std::vector<ModelDeparture> stored_arriving;  // the same, as read from storage; empty if it was not read

  // After a crash or a restore, the source of a restored table may be gone. Then the table is removed.
  bool may_be_removed = false;

  [[nodiscard]] bool may_be_creating() const { return awaited.has_value() || copying; }
  [[nodiscard]] bool is_creating() const;  // items are certainly missing
};

// Stands for a bound that is not known yet, because the request is in flight.
inline constexpr engine::Instant unknown = engine::last_instant;

// A backup. ModelState stores it by name; clients use each name once.
struct ModelBackup {
  std::shared_ptr<const ModelTable> table;         // as of the backup
  engine::Instant earliest = 0, latest = unknown;  // bounds of its time
  bool system = false;
  std::string arn;  // empty: not known
};

struct ModelState {
  std::map<std::string, std::shared_ptr<const ModelTable>> tables;
  std::map<std::string, std::shared_ptr<ModelBackup>> backups;
  // This is a state between two writes of one batch, which only a stale read can see.
  bool within_batch = false;

  [[nodiscard]] const ModelTable* find(const std::string& table) const;
  ModelTable& edit(const std::string& table);  // replaces the table with a copy and returns the copy
};

// Table names in the model contain the region unless it is the home region: "carts", "carts@eu-west-1".
inline constexpr std::string_view home_region = "us-east-1", away_region = "eu-west-1";
std::string model_name(const engine::Table& table);
std::string other_name(const std::string& name);  // the same table's name in the other region

// "id" or "id/at".
std::string model_key(bool sorted, const Json& item);
std::optional<engine::Instant> due_of(const Json& item);
// Whether the service removes this item in this region rather than in the other one.
bool expires_here(const ModelTable& table, const std::string& key);
// When the service removes an item automatically; nullopt if it does not.
std::optional<engine::Instant> fires(const ModelTable& table, const Json& item);
std::string print_record(const std::string& event, bool by_service, const Json& old_image,
                         const Json& new_image);
// The records of the last day. Streams forget older ones.
std::vector<const ModelRecord*> readable(const std::vector<ModelRecord>& records, engine::Instant now);
// The item as clients see it at that time; nullptr if they see no item.
const Json* visible(const ModelTable& table, const std::string& key, engine::Instant now);

// The items that a table may have shown at the end of an instant from `earliest` to `latest`.
Candidates shown_then(const ModelTable& table, engine::Instant earliest, engine::Instant latest);

// What a request intends to do to an item.
struct ItemIntent {
  struct Effect {
    bool refused = false;
    std::optional<Json> item;  // the new item; nullopt: it is removed
  };
  std::string table, key;
  std::function<Effect(const Json* old)> effect;
  bool told = false;
};

// A request in flight.
struct Request {
  std::string text;
  std::vector<ItemIntent> intents;
  bool together = true;                     // true: all intents apply or none does; false: each applies alone
  std::function<void(ModelState&)> change;  // a change to tables or backups
  std::shared_ptr<ModelBackup> backup;      // the backup to take; its table is set when it is taken
  std::string backup_of;                    // the backup's table
  std::string changes_at;  // the place at which `change` applies; empty: the first place of any kind
  // What the request removes: a table, or "recovery of " and a table. The removal may happen before the model
  // is notified of it.
  std::string removes;
  bool changed = false;   // `change` was stored
  bool differs = false;   // the stored change made a difference
  std::size_t begin = 0;  // the first state that the request may have seen
  engine::Instant begin_now = 0;
  bool rewound = false;  // a restore or a reset may have set the clock back since the request began
  // The earliest instant at which the request may have read, if it ends now.
  [[nodiscard]] engine::Instant earliest(engine::Instant now) const {
    return rewound || begin_now > now ? 0 : begin_now;
  }
  bool may_lag = false;
  std::vector<engine::Lag> lags;  // one of these was in force during the request
};

class Model {
 public:
  // Appends each change to `trace`. `id_of` returns the id of the table that currently has the given name.
  Model(std::function<void(std::string)> wrong, std::vector<std::string>& trace,
        std::function<engine::TableId(const std::string&)> id_of)
      : wrong_(std::move(wrong)), trace_(trace), id_of_(std::move(id_of)) {}

  // --- requests. `thread` is Interleaver::self().
  Request& begin(int thread, Request request, engine::Instant now);
  // Whether `right` holds for one of the states, at one of the instants, that the request may have seen.
  [[nodiscard]] bool ever(const Request& request, engine::Instant now,
                          const std::function<bool(const ModelState&, engine::Instant)>& right) const;
  enum class Ended : std::uint8_t { answered, in_doubt };  // in_doubt: it failed but may have been executed
  void end(int thread, Ended how);

  // --- stale reads. At first no read is stale. A lag may be in force from the moment at which a client
  // requests it. Once that request is answered, the previous lag is no longer in force. With a lag of zero
  // writes, no read is stale.
  using LagId = std::uint64_t;
  LagId begin_lag(const engine::Lag& lag);
  void lag_answered(LagId id);
  // The oldest state that a read of the copy (a table's or an index's) may see if it begins now.
  [[nodiscard]] std::size_t oldest_seen(const std::string& copy) const;
  // Like ever(), but also tries the states since `first` that a lag permits. From now on, reads of the copy
  // see the first state for which `right` holds, or a later one.
  [[nodiscard]] bool ever_of_late(const Request& request, engine::Instant now, const std::string& table,
                                  const std::string& copy, std::size_t first,
                                  const std::function<bool(const ModelState&, engine::Instant)>& right);
  // From now on no read sees a state from before the request began.
  void all_is_seen(const Request& request) { seen_by_all_ = std::max(seen_by_all_, request.begin); }
  [[nodiscard]] Request& request(int thread) { return requests_.at(thread); }
  // Whether a request in flight removes the table. It may already be removed.
  [[nodiscard]] bool is_going(const std::string& table) const;
  // Whether a commit has been written but not reported yet.
  [[nodiscard]] bool half_told() const { return writer_.has_value(); }
  // Adds to `shown` the changes that a commit that is not reported yet made to the table up to `latest`,
  // because other requests may already see these changes.
  void add_half_told(Candidates& shown, const std::string& table, engine::Instant latest) const;

  // --- events
  // `write` is the write in storage that a change to a global table's item comes from.
  void told(const engine::Change& change, int thread, const std::optional<ModelWrite>& write);
  // Called when the engine reports that no write is in flight. Checks that all writes have arrived and that
  // both regions agree.
  void settled();
  void reached(std::string_view place, int thread);
  // Whether no other request has added or deleted a backup since this request began, and no other request is
  // about to do so. A snapshot has the backups that existed when it was written, which is a little before the
  // model is notified.
  [[nodiscard]] bool backups_stood_still(const Request& request) const;
  // Sets the table's unknown times to `now`, which is an upper bound.
  void happened_by(const std::string& table, engine::Instant now);
  void became(ModelState state) { states_.push_back(std::move(state)); }

  // --- crashes
  // Drops all states but the last one, keeps every later state, and forgets all requests.
  void begin_life();
  // Checks the state of a reopened database and makes this state the current one. The state must be the last
  // state before the crash, possibly with one commit of the requests in doubt, or an earlier state if commits
  // may be lost.
  struct MayLose {
    bool commits = false;  // the last commits may be lost, each as a whole
    bool time = false;     // a move of the clock may be lost
  };
  void recovered(ModelState found, engine::Instant now, MayLose may_lose);
  // Whether a restore or a reset, either of which sets the clock back, may have been executed at the end of
  // this life.
  [[nodiscard]] bool may_be_rewound() const;

  [[nodiscard]] const ModelState& state() const { return states_.back(); }
  // All changes that a table ever had, by item, as print_record prints them.
  using History = std::map<std::string, std::vector<std::string>>;
  [[nodiscard]] const History& history(const std::string& table) { return histories_[table]; }
  std::uint64_t next_number() { return ++last_number_; }  // for ModelTable::number
  // Backups that may or may not exist after a crash.
  [[nodiscard]] const std::map<std::string, std::shared_ptr<ModelBackup>>& doubtful_backups() const {
    return doubtful_backups_;
  }
  [[nodiscard]] const std::optional<ModelState>& snapshot_of(int thread) { return snapshots_[thread]; }

 private:
  // Who made a change: a client, the service, another region (the change arrives here), or a request that
  // found another region's expired item before its removal arrived.
  enum class Whose : std::uint8_t { client, service, elsewhere, met };
  struct Told {
    std::string table, key;
    engine::ChangeRecord::Kind kind;
    Whose whose;
    bool by_service;
    engine::Instant at;
    Json old_image, new_image;
  };

  // `ends` contains, for each write in the commit, the number of changes up to its end.
  void apply(const std::vector<Told>& commit, const std::vector<std::size_t>& ends, int writer);
  // Assigns the commit's changes to these requests, in this order. Returns the changes that no request
  // intends, and adds the intents of the other changes to `taken`.
  std::vector<Told> taken_in(const std::vector<Request*>& order, const std::vector<Told>& commit,
                             std::vector<ItemIntent*>& taken) const;
  // The number of requests with a taken intent that also intend something that has not happened.
  [[nodiscard]] std::size_t half_done(const std::vector<Request*>& requests,
                                      const std::vector<ItemIntent*>& taken, engine::Instant at) const;
  static bool records_follow(const ModelTable& before, const ModelTable& found, engine::Instant now);
  // The instants at which the request may have read the state.
  static std::vector<engine::Instant> instants_of(const ModelState& state, const Request& request,
                                                  engine::Instant now);
  [[nodiscard]] bool was_near(std::size_t state, const std::string& name,
                              const std::function<bool(const ModelTable*)>& right) const;
  static bool is_just(const ModelState& state, const ModelState& found, engine::Instant now);
  [[nodiscard]] std::optional<ModelState> followed(std::size_t state, const ModelState& found,
                                                   engine::Instant now) const;
  [[nodiscard]] std::optional<ModelState> changed_in_doubt(std::size_t state, const ModelState& found) const;
  [[nodiscard]] bool follows(std::size_t state, const ModelState& found, engine::Instant now) const;
  void by_service(ModelState& state, const Told& change);
  [[nodiscard]] std::size_t oldest_by(const engine::Lag& lag, const Request& request,
                                      const std::string& table, std::size_t first) const;
  // --- model_replicas.cc
  static bool wins(const ModelTable& table, const ModelDeparture& departure);
  // Updates the writes in flight after a change to a global table's item.
  void replicate(ModelState& state, const std::string& name, const std::string& key, Whose whose,
                 const std::shared_ptr<const Json>& item);
  static bool is_arriving(const ModelTable& table, const std::string& key, const Json* item);
  void carry_over_replica(ModelState& found, const std::string& name, const ModelTable& was);
  // Removes from the writes in flight those that have arrived.
  static void forget_arrived(ModelState& found);
  // Whether the writes in flight in `found` are those of `before`, except those that have arrived and those
  // that one commit sends.
  static bool departures_follow(const ModelState& before, const ModelState& found);
  static bool is_awaited(ModelState& state, const Told& change);
  // Adds to `found` what a database does not store: times and earlier versions. `state` is the number of the
  // state that `found` corresponds to.
  void carry_over(const ModelState& before, std::size_t state, ModelState& found, engine::Instant now,
                  MayLose may_lose);
  // The table in the state nearest to `state` that has it; nullptr if no state has it.
  [[nodiscard]] const ModelTable* as_it_was(std::size_t state, const ModelTable& found) const;
  void note(const std::string& table, const ModelRecord& record);
  static std::string differences_of(const ModelState& before, const ModelState& found);
  // Whether the request intends this change to the item. `change` is nullptr if the item did not change.
  bool explains(const Request& request, const ItemIntent& intent, const Told* change,
                engine::Instant at) const;
  static const Told* change_of(const ItemIntent& intent, const std::vector<Told>& commit);

  std::function<void(std::string)> wrong_;
  std::vector<std::string>& trace_;
  const std::function<engine::TableId(const std::string&)> id_of_;
  std::vector<ModelState> states_{1};
  std::size_t forgotten_ = 0;  // number of earlier states, which were dropped
  std::map<int, Request> requests_;
  bool keeps_all_ = false;
  std::vector<Request> in_doubt_;
  std::map<int, std::optional<ModelState>> snapshots_;  // taken by the thread's request
  std::optional<int> writer_;
  std::vector<Told> commit_;
  std::vector<std::size_t> commit_ends_;      // see apply()
  std::map<std::string, History> histories_;  // by table
  std::uint64_t last_number_ = 0;
  struct LagAsked {
    LagId id;
    engine::Lag lag;
    bool answered = false;
    std::vector<LagId> before;  // earlier lags whose requests had been answered
  };
  std::vector<LagAsked> lags_;  // one of these is in force
  LagId last_lag_ = 0;
  std::uint64_t last_write_ = 0;
  std::map<std::string, std::size_t> seen_;  // by copy: the latest state that an answered read saw
  std::size_t seen_by_all_ = 0;
  // For each state, the state in which the request that caused it began.
  std::map<std::size_t, std::size_t> begun_;
  std::map<std::uint64_t, std::size_t>
      versions_before_;  // versions at the start of this life, by table number
  std::map<std::string, std::shared_ptr<ModelBackup>> doubtful_backups_;
};

}  // namespace mayfly::testing
