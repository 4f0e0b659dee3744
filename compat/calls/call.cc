#include "compat/calls/call.h"

#include <nlohmann/json.hpp>

#include "compat/items/keys.h"
#include "compat/tables/lookup.h"
#include "compat/wire/attribute_value_json.h"

namespace mayfly::compat::control {

Result<std::shared_ptr<engine::LiveTable>> Call::table(std::string_view name) const {
  auto table = database().catalog().find(scope, name);
  if (table == nullptr) return no_such_table(name);
  return table;
}

Unexpected<Error> Call::no_such_table(std::string_view name) const {
  return not_found("There is no table '" + std::string(name) + "' in account " + scope.account + ", region " +
                   scope.region + ".");
}

Result<engine::Item> Call::key() const {
  const auto document = json::parse(body_text);
  const json::Value* key = document == nullptr ? nullptr : document->root().member("key");
  if (key == nullptr || !key->is(json::Value::Kind::object)) {
    return error::validation("'key' is required and must be an object, for example {\"id\":{\"S\":\"1\"}}.");
  }
  return read_item(*key);
}

Result<std::string> Call::item_key(const engine::Table& table) const {
  TRY(const engine::Item item, key());
  return request_key(table, item);
}

Unexpected<Error> not_found(std::string message) {
  return Unexpected{Error{.kind = Error::Kind::not_found, .message = std::move(message)}};
}

Unexpected<Error> conflict(std::string message) {
  return Unexpected{Error{.kind = Error::Kind::conflict, .message = std::move(message)}};
}

Unexpected<Error> stopped() {
  return Unexpected{Error{.kind = Error::Kind::stopped,
                          .message = "Canceled: the server is shutting down or the client disconnected."}};
}

json::Tree item_tree(const engine::Item& item) {
  std::string text;
  json::Writer out(text);
  write_item_object(out, item);
  return json::raw(text);
}

}  // namespace mayfly::compat::control
