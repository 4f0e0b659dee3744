// What a database should be: tables as maps, and every state that there was while somebody was asking.
//
// The model hears of each commit when it happens (the change feed, and the places that the catalog and the
// snapshots name), applies to its own state what the requests under way say, and compares. So the order of
// the commits is the engine's; what they do is the model's. An answer must be right in one of the states
// between its request and itself.
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

#include "engine/change_feed.h"
#include "engine/clock.h"
#include "engine/sight.h"
#include "engine/table.h"

namespace mayfly::testing {

using Json = nlohmann::json;

struct ModelRecord {
  std::string event, key;  // "INSERT"
  bool by_service;
  Json old_image, new_image;  // null: none
  engine::Instant at = 0;
  friend bool operator==(const ModelRecord&, const ModelRecord&) = default;
};

// What an item became by a commit. Which instant that was, and where a crash may have taken it back whether
// it was, is known in bounds.
struct ModelVersion {
  std::string key;
  engine::Instant earliest = 0, latest = 0;
  std::shared_ptr<const Json> item;  // nullptr: none
  bool certain = true;
};

// Since when a table can be gone back to, within bounds as well.
struct ModelRecovery {
  engine::Instant since_earliest = 0, since_latest = 0;
  engine::Instant given_up = 0;  // at the latest, for a shorter period than this
  std::int64_t days = 35;
};

// Of a global table's item: which write it is from. The later of two has the higher number; what removes an
// item because it expired has that of the item, plus one.
struct ModelWrite {
  std::uint64_t number = 0;
  bool here = true;  // not in the other region
};

// A write on its way to a table.
struct ModelDeparture {
  std::string key;
  std::shared_ptr<const Json> item;  // nullptr: it was removed
  std::uint64_t number = 0;
  bool copying = false;  // from when the table's items were being copied: a later one may have come with them
};

// What a restore may bring back, by key: one of these each, nullptr being none.
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
  std::vector<ModelRecord> records;                          // of the enabled stream

  std::uint64_t number = 0;            // no other table has it, whatever it is called
  engine::TableId id = 0;              // in storage; 0: not known
  std::vector<ModelVersion> versions;  // all that its items ever were, in order
  engine::Instant expiry_changed = 0;  // the latest that TTL or its mode was
  std::optional<ModelRecovery> recovery;
  // It is being made of these, or was once: those that are not there yet. Until the last one is, nobody reads
  // or writes it, and then perhaps.
  std::optional<Candidates> awaited;
  // --- of a global table, of two regions
  std::string replica;  // the name of the other one; empty: it is a table alone
  // Perhaps not all of the other one's items are here yet: until they are nobody reads or writes it, and what
  // comes is no record of its stream.
  bool copying = false;
  std::map<std::string, ModelWrite> writes;     // by key; none: from before there was a replica
  std::vector<ModelDeparture> arriving;         // each item's in order, those that change nothing among them
  std::vector<ModelDeparture> stored_arriving;  // of what was found in storage: what it says of that

  // A crash or a restore came between, and what it is made of may be gone: then it is removed.
  bool may_be_removed = false;

  [[nodiscard]] bool may_be_creating() const { return awaited.has_value() || copying; }
  [[nodiscard]] bool is_creating() const;  // something has to come yet
};

// Not yet: a bound of what happens while a request is under way.
inline constexpr engine::Instant unknown = engine::last_instant;

// A backup, by its name in ModelState: none of the clients' gives one twice.
struct ModelBackup {
  std::shared_ptr<const ModelTable> table;         // as it was
  engine::Instant earliest = 0, latest = unknown;  // when
  bool system = false;
  std::string arn;  // empty: not known
};

struct ModelState {
  std::map<std::string, std::shared_ptr<const ModelTable>> tables;
  std::map<std::string, std::shared_ptr<ModelBackup>> backups;
  // Between two writes that one batch brought to the disk: only a read that lags behind sees it.
  bool within_batch = false;

  [[nodiscard]] const ModelTable* find(const std::string& table) const;
  ModelTable& edit(const std::string& table);  // a copy of its own
};

// Names of tables in a model say where they are, unless that is home: "carts", "carts@eu-west-1".
inline constexpr std::string_view home_region = "us-east-1", away_region = "eu-west-1";
std::string model_name(const engine::Table& table);
std::string other_name(const std::string& name);  // of the same table in the other region

// "id", or "id/at".
std::string model_key(bool sorted, const Json& item);
std::optional<engine::Instant> due_of(const Json& item);
// Whether the service removes this item here; else in the other region.
bool expires_here(const ModelTable& table, const std::string& key);
// When the service removes an item by itself; nothing: it does not.
std::optional<engine::Instant> fires(const ModelTable& table, const Json& item);
std::string print_record(const std::string& event, bool by_service, const Json& old_image,
                         const Json& new_image);
// Those of the last day: streams forget the rest.
std::vector<const ModelRecord*> readable(const std::vector<ModelRecord>& records, engine::Instant now);
// As somebody sees it at that time; nullptr: there is none.
const Json* visible(const ModelTable& table, const std::string& key, engine::Instant now);

// What a table showed of each key at the end of some instant from `earliest` to `latest`.
Candidates shown_then(const ModelTable& table, engine::Instant earliest, engine::Instant latest);

// What a request wants of an item.
struct ItemIntent {
  struct Effect {
    bool refused = false;
    std::optional<Json> item;  // that is to be there; nothing: none
  };
  std::string table, key;
  std::function<Effect(const Json* old)> effect;
  bool told = false;
};

// A request under way.
struct Request {
  std::string text;
  std::vector<ItemIntent> intents;
  bool together = true;                     // all of them or none; else each for itself
  std::function<void(ModelState&)> change;  // of tables, or backups
  std::shared_ptr<ModelBackup> backup;      // that it takes, of this table: as it is when it does
  std::string backup_of;
  std::string changes_at;  // the place where that is; empty: the first of all that there are
  std::string removes;     // what may be gone before we hear of it: a table, or "recovery of" one
  bool changed = false;    // it was stored,
  bool differs = false;    // and is not what was there
  std::size_t begin = 0;   // the first state that it may have seen
  engine::Instant begin_now = 0;
  bool rewound = false;  // a restore or a reset may have taken the clock back since it began
  // The earliest instant at which it may have read, if it ends now.
  [[nodiscard]] engine::Instant earliest(engine::Instant now) const {
    return rewound || begin_now > now ? 0 : begin_now;
  }
  bool may_lag = false;
  std::vector<engine::Lag> lags;  // of which one was in force while it was under way
};

class Model {
 public:
  // `trace`: where each change is noted. `id_of`: of the table that has the name now.
  Model(std::function<void(std::string)> wrong, std::vector<std::string>& trace,
        std::function<engine::TableId(const std::string&)> id_of)
      : wrong_(std::move(wrong)), trace_(trace), id_of_(std::move(id_of)) {}

  // --- of requests. `thread`: Interleaver::self().
  Request& begin(int thread, Request request, engine::Instant now);
  // Whether `right` says so of one of the states, at one of the instants, that the request may have seen.
  [[nodiscard]] bool ever(const Request& request, engine::Instant now,
                          const std::function<bool(const ModelState&, engine::Instant)>& right) const;
  enum class Ended : std::uint8_t { answered, in_doubt };  // the answer was a failure: perhaps it was done
  void end(int thread, Ended how);

  // --- of reads that may see an older state: none, before somebody asks for a lag. From then on it may be in
  // force, and once that is answered what was in force before is not; a lag of no writes is none.
  using LagId = std::uint64_t;
  LagId begin_lag(const engine::Lag& lag);
  void lag_answered(LagId id);
  // The oldest state that a read of the copy (a table's, or an index's) may see that begins now.
  [[nodiscard]] std::size_t oldest_seen(const std::string& copy) const;
  // As ever(), of states since `first` that a lag lets it see, too. What right says so of first is what
  // readers of the copy see from now on, or more.
  [[nodiscard]] bool ever_of_late(const Request& request, engine::Instant now, const std::string& table,
                                  const std::string& copy, std::size_t first,
                                  const std::function<bool(const ModelState&, engine::Instant)>& right);
  // Nobody sees any more what was before the request began.
  void all_is_seen(const Request& request) { seen_by_all_ = std::max(seen_by_all_, request.begin); }
  [[nodiscard]] Request& request(int thread) { return requests_.at(thread); }
  // Somebody is removing the table, and may have.
  [[nodiscard]] bool is_going(const std::string& table) const;
  // A commit has been written and was not told yet.
  [[nodiscard]] bool half_told() const { return writer_.has_value(); }
  // What that does to the table, up to the instant: others may see it already.
  void add_half_told(Candidates& shown, const std::string& table, engine::Instant latest) const;

  // --- of what happens
  // `write`: which one it is from, as storage has it, of a global table.
  void told(const engine::Change& change, int thread, const std::optional<ModelWrite>& write);
  // All that was on its way has arrived, says the engine: whether that is so, and both regions agree.
  void settled();
  void reached(std::string_view place, int thread);
  // Nobody has changed which backups there are since the request began, or is about to: a snapshot has those
  // that there were when it was written, which is a little before we hear of it.
  [[nodiscard]] bool backups_stood_still(const Request& request) const;
  // What was unknown of the table's times was not later than that.
  void happened_by(const std::string& table, engine::Instant now);
  void became(ModelState state) { states_.push_back(std::move(state)); }

  // --- of crashes
  // From now on every state is kept, the last one first, and no request is in doubt.
  void begin_life();
  // What a database holds that was opened again. It must be the last state, and perhaps one commit of what
  // was in doubt; or, where commits may be lost, an earlier one. Then it is the state.
  struct MayLose {
    bool commits = false;  // the latest, whole ones
    bool time = false;     // the clock was moved, and is not any more
  };
  void recovered(ModelState found, engine::Instant now, MayLose may_lose);
  // Whoever restores or resets takes the clock back, and nobody knows whether one did at the end of this
  // life.
  [[nodiscard]] bool may_be_rewound() const;

  [[nodiscard]] const ModelState& state() const { return states_.back(); }
  // All changes that there ever were of the table, by item, as print_record has them.
  using History = std::map<std::string, std::vector<std::string>>;
  [[nodiscard]] const History& history(const std::string& table) { return histories_[table]; }
  std::uint64_t next_number() { return ++last_number_; }  // ModelTable's
  // Backups of which nobody knows, after a crash, whether they are there.
  [[nodiscard]] const std::map<std::string, std::shared_ptr<ModelBackup>>& doubtful_backups() const {
    return doubtful_backups_;
  }
  [[nodiscard]] const std::optional<ModelState>& snapshot_of(int thread) { return snapshots_[thread]; }

 private:
  // Whose a change is: a client's, the service's, another region's that arrives here, or that of whoever met
  // an item of another region's that has expired, before its removal arrived.
  enum class Whose : std::uint8_t { client, service, elsewhere, met };
  struct Told {
    std::string table, key;
    engine::ChangeRecord::Kind kind;
    Whose whose;
    bool by_service;
    engine::Instant at;
    Json old_image, new_image;
  };

  // `ends`: behind each write of the batch.
  void apply(const std::vector<Told>& commit, const std::vector<std::size_t>& ends, int writer);
  // What of the commit these requests do not want, each asked in its turn, and in `taken` what they do want.
  std::vector<Told> taken_in(const std::vector<Request*>& order, const std::vector<Told>& commit,
                             std::vector<ItemIntent*>& taken) const;
  // Of the requests of which something is taken: how many want something else as well.
  [[nodiscard]] std::size_t half_done(const std::vector<Request*>& requests,
                                      const std::vector<ItemIntent*>& taken, engine::Instant at) const;
  static bool records_follow(const ModelTable& before, const ModelTable& found, engine::Instant now);
  // When somebody may have looked at the state while the request was under way.
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
  // Where the change of a global table's item comes from, or goes to.
  void replicate(ModelState& state, const std::string& name, const std::string& key, Whose whose,
                 const std::shared_ptr<const Json>& item);
  static bool is_arriving(const ModelTable& table, const std::string& key, const Json* item);
  void carry_over_replica(ModelState& found, const std::string& name, const ModelTable& was);
  // What is on its way in `found` is what was in `before`, but for what has arrived, and for what one commit
  // sends.
  static void forget_arrived(ModelState& found);
  static bool departures_follow(const ModelState& before, const ModelState& found);
  static bool is_awaited(ModelState& state, const Told& change);
  // What a database does not say of what was found: since when, and what it was before.
  // `state`: where it was found.
  void carry_over(const ModelState& before, std::size_t state, ModelState& found, engine::Instant now,
                  MayLose may_lose);
  // The table as it was, or was last or first, near the state; nullptr: there never was one.
  [[nodiscard]] const ModelTable* as_it_was(std::size_t state, const ModelTable& found) const;
  void note(const std::string& table, const ModelRecord& record);
  static std::string differences_of(const ModelState& before, const ModelState& found);
  // Whether the request wants this change of the item; nullptr: none.
  bool explains(const Request& request, const ItemIntent& intent, const Told* change,
                engine::Instant at) const;
  static const Told* change_of(const ItemIntent& intent, const std::vector<Told>& commit);

  std::function<void(std::string)> wrong_;
  std::vector<std::string>& trace_;
  const std::function<engine::TableId(const std::string&)> id_of_;
  std::vector<ModelState> states_{1};
  std::size_t forgotten_ = 0;  // states before these
  std::map<int, Request> requests_;
  bool keeps_all_ = false;
  std::vector<Request> in_doubt_;
  std::map<int, std::optional<ModelState>> snapshots_;  // taken by the thread's request
  std::optional<int> writer_;
  std::vector<Told> commit_;
  std::vector<std::size_t> commit_ends_;      // of its writes
  std::map<std::string, History> histories_;  // by table
  std::uint64_t last_number_ = 0;
  struct LagAsked {
    LagId id;
    engine::Lag lag;
    bool answered = false;
    std::vector<LagId> before;  // that had been answered
  };
  std::vector<LagAsked> lags_;  // of which one is in force
  LagId last_lag_ = 0;
  std::uint64_t last_write_ = 0;
  std::map<std::string, std::size_t> seen_;  // by copy: of reads that were answered
  std::size_t seen_by_all_ = 0;
  std::map<std::size_t, std::size_t>
      begun_;  // of the change that led to a state: the one its request began in
  std::map<std::uint64_t, std::size_t> versions_before_;  // this life, by table's number
  std::map<std::string, std::shared_ptr<ModelBackup>> doubtful_backups_;
};

}  // namespace mayfly::testing
