#include "tests/simulation/clients.h"

#include "compat/calls/times.h"
#include "compat/control/control.h"
#include "engine/base/clock.h"
#include "engine/base/interleaving.h"
#include "tests/simulation/interleaver.h"
#include "tests/simulation/shop.h"

namespace mayfly::testing {

Clients::Clients(Model& model, std::uint64_t seed, std::int64_t first_value, ClientOptions options,
                 Wrong wrong, std::vector<std::string>& trace)
    : model_(model),
      random_(seed),
      options_(options),
      wrong_(std::move(wrong)),
      trace_(trace),
      values_(first_value) {}

// --- requests

engine::Instant Clients::now() const { return emulator_->database().accounts().of(scope_.account).now(); }

std::pair<engine::Scope, std::string> Clients::addressed(std::string text) const {
  const std::string suffix = "@" + std::string(away_region);
  engine::Scope scope = scope_;
  for (auto at = text.find(suffix); at != std::string::npos; at = text.find(suffix, at)) {
    text.erase(at, suffix.size());
    scope.region = away_region;
  }
  return {std::move(scope), std::move(text)};
}

Clients::Answer Clients::ask(const std::string& operation, const Json& body) {
  const bool streams = operation == "DescribeStream" || operation == "GetShardIterator" ||
                       operation == "GetRecords" || operation == "ListStreams";
  const std::string target =
      std::string(streams ? compat::dynamodb_streams : compat::dynamodb) + "." + operation;
  const auto [scope, text] = addressed(body.dump());
  const compat::Answer answer = emulator_->execute(scope, target, text);
  Answer result{answer.status, {}, answer.body, Json::parse(answer.body, nullptr, false)};
  if (answer.status != 200) {
    result.type = result.body.value("__type", "");
    result.type = result.type.substr(result.type.find('#') + 1);
  }
  return result;
}

Clients::Answer Clients::control(const std::string& method, const std::string& path, const Json& body) {
  const auto [scope, named] = addressed("/_mayfly/" + path);
  const auto answer = compat::control::answer(*emulator_, {.method = method,
                                                           .path = named,
                                                           .query = {},
                                                           .body = body.is_null() ? "" : body.dump(),
                                                           .scope = scope});
  return {static_cast<int>(answer.status), "control", answer.body, Json::parse(answer.body, nullptr, false)};
}

Clients::Answer Clients::run(Request request, const std::function<Answer()>& ask) {
  const int self = Interleaver::self();
  const std::string text = request.text;
  trace_.push_back("[" + std::to_string(self) + "] " + text);
  const engine::Instant begin_now = now();
  model_.begin(self, std::move(request), begin_now);
  Answer answer = ask();
  last_status_ = answer.status;
  while (model_.half_told() && engine::Interleaving::used()->blocked()) {}
  trace_.push_back("[" + std::to_string(self) + "]   " + text.substr(0, text.find(' ')) + " -> " +
                   std::to_string(answer.status) + " " + answer.text);
  return answer;
}

Request& Clients::mine() { return model_.request(Interleaver::self()); }

void Clients::finish() {
  model_.end(Interleaver::self(), last_status_ >= 500 ? Model::Ended::in_doubt : Model::Ended::answered);
}

void Clients::say_wrong(const std::string& what, const Answer& answer) {
  wrong_(what + "\n  " + mine().text + "\n  -> " + std::to_string(answer.status) + " " + answer.text);
}

// --- choosing

std::string Clients::pick_table() {
  const std::string name(table_names[pick(2)]);
  if (away_) return other_name(name);
  if (pick(8) != 0) return name;
  return std::string(table_names[options_.past ? 2 + pick(3) : 2]);
}

Json Clients::pick_key(bool sorted) {
  Json key{{"id", text(std::string(1, static_cast<char>('a' + pick(sorted ? 2 : 6))))}};
  if (sorted) key["at"] = number(static_cast<std::int64_t>(pick(4)));
  return key;
}

Json Clients::new_item(bool sorted) {
  Json item = pick_key(sorted);
  item["v"] = number(++values_);
  if (pick(3) != 0) item["user"] = text(std::string(1, static_cast<char>('p' + pick(3))));
  if (sorted && pick(2) != 0) item["n"] = number(static_cast<std::int64_t>(pick(3)));
  if (pick(2) != 0) item["ttl"] = number(now() / 1000 + static_cast<std::int64_t>(pick(40)) - 3);
  return item;
}

void Clients::act() {
  struct Choice {
    unsigned weight;
    void (Clients::*act)();
  };
  static constexpr Choice choices[] = {
      {10, &Clients::put},        {8, &Clients::update},          {5, &Clients::remove},
      {3, &Clients::batch_write}, {4, &Clients::transact},        {4, &Clients::statement},
      {5, &Clients::get},         {5, &Clients::search},          {4, &Clients::change_some_table},
      {4, &Clients::move_clock},  {2, &Clients::keep_or_restore}, {6, &Clients::use_past},
      {2, &Clients::lag_somehow}, {6, &Clients::look_again},      {4, &Clients::change_replicas}};
  away_ = options_.replicas && pick(3) == 0;
  unsigned sum = 0;
  for (const Choice& choice : choices) sum += choice.weight;
  auto drawn = pick(sum);
  for (const Choice& choice : choices) {
    if (drawn < choice.weight) return (this->*choice.act)();
    drawn -= choice.weight;
  }
}

// --- time, and the whole account

void Clients::move_clock() {
  Json body;
  switch (pick(4)) {
    case 0: body = {{"to", "next-expiry"}, {"age_streams", true}}; break;
    // The model has no separate time for streams. If the clock can jump by days (options_.past), streams
    // therefore age with it.
    default: body = {{"seconds", pick(12)}, {"age_streams", options_.past}};
  }
  // A longer jump creates instants to restore and old data to delete.
  if (options_.past && pick(6) == 0) {
    const std::uint64_t seconds = pick(4) == 0 ? 3600 * (1 + pick(100)) : 200 + pick(400);
    body = {{"seconds", seconds}, {"age_streams", true}};
  }
  const Answer answer =
      run({.text = "advance " + body.dump()}, [&] { return control("POST", "clock/advance", body); });
  if (answer.status != 200 && !options_.faults) say_wrong("the clock did not move", answer);
  finish();
}

void Clients::keep_or_restore() {
  if (!options_.whole_account) return;
  const auto how = pick(8);
  if (how == 7) {
    Request request{.text = "reset"};
    request.changes_at = "account replaced";
    request.change = [](ModelState& state) { state = {}; };
    const Answer answer = run(std::move(request), [&] { return control("POST", "reset", nullptr); });
    if (answer.status == 200) kept_.clear();
    if (answer.status != 200 && !options_.faults) say_wrong("the reset failed", answer);
    finish();
    make_tables();
  } else if (how < 4 || kept_.empty()) {
    const Answer answer = run({.text = "snapshot"}, [&] { return control("POST", "snapshots", nullptr); });
    if (answer.status == 200) {
      if (const auto& state = model_.snapshot_of(Interleaver::self())) {
        if (model_.backups_stood_still(mine()))
          kept_.push_back({answer.body.at("id").get<std::string>(), *state});
      } else {
        say_wrong("acknowledged, but no snapshot was taken", answer);
      }
    } else if (!options_.faults) {
      say_wrong("the snapshot failed", answer);
    }
    finish();
  } else if (how == 4) {
    const Kept kept = kept_[pick(kept_.size())];
    static_cast<void>(run({.text = "drop snapshot " + kept.id},
                          [&] { return control("DELETE", "snapshots/" + kept.id, nullptr); }));
    std::erase_if(kept_, [&](const Kept& other) { return other.id == kept.id; });
    finish();
  } else {
    const Kept kept = kept_[pick(kept_.size())];
    Request request{.text = "restore " + kept.id};
    request.changes_at = "account replaced";
    request.change = [kept](ModelState& state) {
      state = kept.state;
      for (const auto& [name, table] : kept.state.tables)
        if (table->awaited) state.edit(name).may_be_removed = true;
    };
    const Answer answer = run(std::move(request),
                              [&] { return control("POST", "snapshots/" + kept.id + "/restore", nullptr); });
    // The snapshot may have been dropped, or deleted by a reset, in the meantime, so a restore that fails is
    // not an error.
    if (answer.status == 200 && !mine().changed) say_wrong("restored, but nothing was replaced", answer);
    // After the account is replaced, the deletion of mappings whose stream no longer exists can still fail,
    // and the response is then a 5xx.
    if (answer.status < 500 && answer.status != 200 && mine().changed)
      say_wrong("not restored, but replaced", answer);
    if (answer.status >= 500 && !options_.faults) say_wrong("unexpected response", answer);
    finish();
  }
}

}  // namespace mayfly::testing
