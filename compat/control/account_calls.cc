// GET /_mayfly/accounts: the worlds there are, of the whole server, whoever asks.
//
//   {"accounts":[{"account":"000000000000","tables":{"us-east-1":10,"eu-west-1":1},"snapshots":2}]}
//
// An account is there from the first request on that asks for something in it, and whose this call is, is
// there; with the tables of each region that has some.
#include <map>
#include <nlohmann/json.hpp>

#include "compat/control/handlers.h"
#include "engine/census.h"

namespace mayfly::compat::control {

Result<json::Tree> list_accounts(Call& call) {
  std::map<std::string, std::map<std::string, std::int64_t>> tables;  // by account and region
  tables[call.scope.account];
  for (std::string& account : engine::every_account(call.database())) tables[std::move(account)];
  for (const auto& live : engine::every_table(call.database())) {
    const auto table = live->description();
    ++tables[table->account][table->region];
  }
  json::Tree accounts = json::Tree::array();
  for (const auto& [account, by_region] : tables) {
    json::Tree& shown = accounts.emplace_back(json::Tree{{"account", account}});
    json::Tree& counts = shown["tables"] = json::Tree::object();
    for (const auto& [region, count] : by_region) counts[region] = count;
    shown["snapshots"] = static_cast<std::int64_t>(call.database().list_snapshots(account).size());
  }
  return json::Tree{{"accounts", std::move(accounts)}};
}

}  // namespace mayfly::compat::control
