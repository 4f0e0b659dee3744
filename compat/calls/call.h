// A control API call as its handler sees it.
//
//   Result<json::Tree> sweep_table(Call& call) {
//     TRY(const auto table, call.table(call.parameters[0]));
//     return json::Tree{{"expired", call.database().reaper().sweep(table, call.stop)}};
//   }
//
// The body and the query have been checked against the call's description.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compat/calls/body.h"
#include "compat/calls/description.h"
#include "compat/calls/times.h"
#include "compat/emulator.h"
#include "compat/json/json_tree.h"
#include "compat/wire/answer.h"

namespace mayfly::compat::control {

struct Call {
  Emulator& emulator;
  const engine::Scope& scope;
  const std::vector<std::string>& parameters;  // the path segments that matched {…}
  Body query, body;
  std::string_view body_text;
  const std::stop_token& stop;
  bool in_pieces;  // Request::in_pieces
  Answer& answer;  // the handler's result becomes its body

  [[nodiscard]] engine::Database& database() const { return emulator.database(); }
  // Finds a table. If it does not exist, the error is 404 "There is no table 'carts' in account 000000000000,
  // region us-east-1."
  [[nodiscard]] Result<std::shared_ptr<engine::LiveTable>> table(std::string_view name) const;
  [[nodiscard]] Unexpected<Error> no_such_table(std::string_view name) const;
  // Returns the body's member "key", {"id":{"S":"1"}}: an item that has the key's attributes. The member is
  // parsed like a key in a DynamoDB request, so errors have DynamoDB's wording.
  [[nodiscard]] Result<engine::Item> key() const;
  // Returns the same key, encoded by key_codec.
  [[nodiscard]] Result<std::string> item_key(const engine::Table& table) const;
};

// Return errors that DynamoDB does not have, with the status 404 or 409.
Unexpected<Error> not_found(std::string message);
Unexpected<Error> conflict(std::string message);
// Returns the 503 error of a call that was told to stop while it waited.
Unexpected<Error> stopped();

json::Tree item_tree(const engine::Item& item);

}  // namespace mayfly::compat::control
