// GET /_mayfly/accounts: lists the accounts of the whole server, for any caller.
//
//   {"accounts":[{"account":"000000000000","tables":{"us-east-1":10,"eu-west-1":1},"snapshots":2}]}
//
// An account is listed from its first request on. The caller's own account is always listed. Only regions
// with tables are shown.
#include <map>
#include <nlohmann/json.hpp>

#include "compat/control/families.h"
#include "engine/background/snapshots.h"
#include "engine/tables/catalog.h"

namespace mayfly::compat::control {
namespace {

Result<json::Tree> list_accounts(Call& call) {
  std::map<std::string, std::map<std::string, std::int64_t>> tables;  // by account and region
  tables[call.scope.account];
  for (std::string& account : call.database().accounts().ids()) tables[std::move(account)];
  for (const auto& live : call.database().catalog().tables()) {
    const auto table = live->description();
    ++tables[table->account][table->region];
  }
  json::Tree accounts = json::Tree::array();
  for (const auto& [account, by_region] : tables) {
    json::Tree& shown = accounts.emplace_back(json::Tree{{"account", account}});
    json::Tree& counts = shown["tables"] = json::Tree::object();
    for (const auto& [region, count] : by_region) counts[region] = count;
    shown["snapshots"] = static_cast<std::int64_t>(call.database().snapshots().list(account).size());
  }
  return json::Tree{{"accounts", std::move(accounts)}};
}

}  // namespace

std::span<const ControlCall> account_calls() {
  static constexpr Member count_members[] = {{"", Kind::whole, "Tables in the region"}};
  static constexpr Member account_members[] = {
      {"account", Kind::text, "Account id", Given::always},
      Member{"tables", Kind::map, "Number of tables by region", Given::always}.with(count_members),
      {"snapshots", Kind::whole, "Number of snapshots", Given::always}};
  static constexpr Member answer[] = {
      Member{"accounts", Kind::list, "All accounts of the server", Given::always}.with(account_members)};

  static constexpr ControlCall calls[] = {
      {.method = "GET",
       .path = "/_mayfly/accounts",
       .name = "list_accounts",
       .about = "List accounts and their tables",
       .answer = answer,
       .handle = &list_accounts,
       .command = "accounts",
       .rows = "accounts",
       .when_empty = "No accounts."},
  };
  return calls;
}

}  // namespace mayfly::compat::control
