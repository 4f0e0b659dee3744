// What clients of a database ask, and whether it answers as the model does.
//
//   Clients clients(model, seed, {}, wrong, trace);
//   clients.use(&emulator);
//   clients.make_tables();
//   … Clients::act() from each thread, again and again …
//   clients.check_all();      // when nobody else asks, and nothing is left to do
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compat/emulator.h"
#include "tests/simulation/model.h"

namespace mayfly::testing {

struct ClientOptions {
  bool whole_account = true;  // snapshots, restores, resets
  bool tables = true;         // that are made, changed and dropped
  bool faults = false;        // storage may fail
  bool past = false;          // backups, recovery, restores of tables
  engine::Instant recovery_lag_ms = 0;
  bool stale_reads = false;
  bool replicas = false;                // in another region
  std::uint64_t history_bytes_max = 0;  // so few that instants are given up; 0: none is for that
};

class Clients {
 public:
  using Wrong = std::function<void(std::string)>;

  // Items are told apart by a value, which counts from `first_value` on.
  Clients(Model& model, std::uint64_t seed, std::int64_t first_value, ClientOptions options, Wrong wrong,
          std::vector<std::string>& trace);

  // Whom they ask from now on.
  void use(compat::Emulator* emulator) { emulator_ = emulator; }

  // Those that were taken may be lost, and their numbers given again.
  void forget_snapshots() { kept_.clear(); }

  void make_tables();
  // One request of the thread's client, whichever the seed chooses.
  void act();
  // From now on some reads lag behind so far; where that is no writes, none does.
  void lag_behind(const engine::Lag& lag);
  // Requests that make tables of a backup and of an instant, of those that there are.
  void restore_some();
  // Which backups there are after a crash, of those that there may be.
  void look_at_backups();
  // The table's stream has a mapping to a function since it is there, so far as this client knows.
  [[nodiscard]] bool is_mapped(const std::string& table) const { return mapped_.contains(table); }
  // From now on all that is written gets to replicas at once.
  void open_ways();
  // Everything that can be read is what the model has.
  void check_all();

 private:
  struct Answer {
    int status;
    std::string type, text;
    Json body;
  };
  // A snapshot that can be restored: its id, and what it should hold.
  struct Kept {
    std::string id;
    ModelState state;
  };

  std::uint64_t pick(std::uint64_t below) { return random_() % below; }
  [[nodiscard]] std::string pick_table();
  Json pick_key(bool sorted);
  Json new_item(bool sorted);
  [[nodiscard]] engine::Instant now() const;

  // The text, without what it says of the region that its tables are in, and that region.
  [[nodiscard]] std::pair<engine::Scope, std::string> addressed(std::string text) const;
  Answer ask(const std::string& operation, const Json& body);
  Answer control(const std::string& method, const std::string& path, const Json& body);
  // Begins the request, asks, and waits until the model knows of all that the answer can know of.
  Answer run(Request request, const std::function<Answer()>& ask);

  void put();
  void update();
  void remove();
  void batch_write();
  void transact();
  void statement();
  void get();
  void get_of(const std::string& table);
  void search();
  enum class Search : std::uint8_t { scan, whole_scan, by_user, by_id };
  void search_of(const std::string& table, Search how);
  void look_again();
  void change_some_table();
  void change_table(const std::string& table, std::uint64_t which);
  void change_replicas();
  void add_replica(const std::string& table);
  void remove_replica(const std::string& table);
  void change_way();
  void settle_replicas();
  void move_clock();
  void lag_somehow();
  void use_past();
  void switch_recovery();
  void keep_past(const std::string& table, bool on);
  [[nodiscard]] engine::Instant not_before() const;
  void take_backup();
  void drop_backup();
  void restore_backup();
  void restore_instant();
  void keep_or_restore();

  void deliver(const std::string& table);
  void drop_table(const std::string& name);
  // The request makes the table `target`, of what `candidates` says, like `source`.
  void makes_table(Request& request, const std::string& target, std::shared_ptr<const ModelTable> source,
                   std::function<Candidates(const ModelState&)> candidates);
  void judge_restore(const Answer& answer, const std::string& target,
                     const std::function<bool(const ModelState&, engine::Instant)>& refused_for_source);
  std::vector<Json> list_backups();
  void check_backups();
  void check_past(const std::string& name, const ModelTable& table);

  void judge_write(const Answer& answer);
  [[nodiscard]] Request& mine();
  void finish();
  void say_wrong(const std::string& what, const Answer& answer);

  ItemIntent put_intent(const std::string& table, Json item, bool if_absent);
  void check_table(const std::string& name, const ModelTable& table);
  void check_stream(const std::string& name, const ModelTable& table);
  std::vector<Json> read_all(const std::string& operation, Json body, const std::string& list);

  compat::Emulator* emulator_ = nullptr;
  Model& model_;
  std::mt19937_64 random_;
  const ClientOptions options_;
  const Wrong wrong_;
  std::vector<std::string>& trace_;
  const engine::Scope scope_{"000000000000", std::string(home_region)};
  bool away_ = false;  // where it asks now
  std::int64_t values_;
  int last_status_ = 0;
  std::vector<Kept> kept_;
  int backups_ = 0;  // that it has named
  std::set<std::string> mapped_;
  std::map<std::uint64_t, engine::Instant> earliest_;  // that could be gone back to, by table's number
};

}  // namespace mayfly::testing
