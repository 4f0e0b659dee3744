// A simulated client: sends random requests and compares the responses with the model.
//
//   Clients clients(model, seed, {}, wrong, trace);
//   clients.use(&emulator);
//   clients.make_tables();
//   … the client's thread calls Clients::act() repeatedly …
//   clients.check_all();      // when no request is in flight and no background work is pending
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
  bool tables = true;         // creates, changes and drops tables
  bool faults = false;        // storage can fail
  bool past = false;          // backups, recovery, restores of tables
  engine::Instant recovery_lag_ms = 0;
  bool stale_reads = false;
  bool replicas = false;                // some tables have a replica in another region
  std::uint64_t history_bytes_max = 0;  // low enough that instants are given up; 0: the default limit
};

class Clients {
 public:
  using Wrong = std::function<void(std::string)>;

  // Each item gets a unique value. The client's values count up from `first_value`.
  Clients(Model& model, std::uint64_t seed, std::int64_t first_value, ClientOptions options, Wrong wrong,
          std::vector<std::string>& trace);

  // Sets the emulator that later requests go to.
  void use(compat::Emulator* emulator) { emulator_ = emulator; }

  // Call if snapshots may be lost and their numbers reused.
  void forget_snapshots() { kept_.clear(); }

  void make_tables();
  // Sends one request, chosen by the seed.
  void act();
  // Makes some later reads lag this far behind. With a lag of zero writes, no read lags.
  void lag_behind(const engine::Lag& lag);
  // Restores some tables from a backup and from recoverable instants.
  void restore_some();
  // After a crash, tells the model which of the doubtful backups exist.
  void look_at_backups();
  // Whether, as far as this client knows, the table's stream has had a mapping to a function from the start.
  [[nodiscard]] bool is_mapped(const std::string& table) const { return mapped_.contains(table); }
  // Makes later writes arrive at replicas immediately.
  void open_ways();
  // Checks that all readable data matches the model.
  void check_all();

 private:
  struct Answer {
    int status;
    std::string type, text;
    Json body;
  };
  // A snapshot that can be restored: its id and its expected contents.
  struct Kept {
    std::string id;
    ModelState state;
  };

  std::uint64_t pick(std::uint64_t below) { return random_() % below; }
  [[nodiscard]] std::string pick_table();
  Json pick_key(bool sorted);
  Json new_item(bool sorted);
  [[nodiscard]] engine::Instant now() const;

  // Removes the region from the table names in the text. Returns the region and the text.
  [[nodiscard]] std::pair<engine::Scope, std::string> addressed(std::string text) const;
  Answer ask(const std::string& operation, const Json& body);
  Answer control(const std::string& method, const std::string& path, const Json& body);
  // Begins the request in the model, sends it, and waits until the model has been notified of every commit
  // that the response can depend on.
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
  // Makes the request create the table `target` with the schema of `source` and with items from `candidates`.
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
  bool away_ = false;  // whether requests go to the other region
  std::int64_t values_;
  int last_status_ = 0;
  std::vector<Kept> kept_;
  int backups_ = 0;  // number of backup names used so far
  std::set<std::string> mapped_;
  // By table number: the latest value that has been seen of the table's earliest restorable instant.
  std::map<std::uint64_t, engine::Instant> earliest_;
};

}  // namespace mayfly::testing
