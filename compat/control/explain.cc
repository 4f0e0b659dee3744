// POST /_mayfly/ttl/{table}/explain: why an item is still there, and until when; or why it is not.
//
// {"key":{"id":{"S":"1"}}} -> {"expires_at":"2031-01-01T00:00:00.001Z","reason":"not_due","message":"ttl is
// 1924992000; the item will be …"}
#include <nlohmann/json.hpp>

#include "compat/control/handlers.h"
#include "compat/items/keys.h"
#include "engine/expiry_index.h"
#include "engine/expiry_mode.h"

namespace mayfly::compat::control {
namespace {

struct Explanation {
  std::string_view reason;
  std::optional<engine::Instant> expires_at;
  std::string message;
};

std::string_view type_word(engine::Type type) {
  switch (type) {
    case engine::Type::string: return "a string";
    case engine::Type::number: return "a number";
    case engine::Type::binary: return "binary";
    case engine::Type::boolean: return "a boolean";
    case engine::Type::null: return "null";
    case engine::Type::string_set: return "a string set";
    case engine::Type::number_set: return "a number set";
    case engine::Type::binary_set: return "a binary set";
    case engine::Type::list: return "a list";
    case engine::Type::map: return "a map";
  }
  return {};
}

Explanation explain_number(const engine::Table& table, const engine::Item& item, const engine::Number& value,
                           engine::Instant now) {
  const std::string& attribute = table.ttl->attribute;
  const std::string text = attribute + " is " + value.to_string();
  const std::optional<engine::Instant> due = engine::due_of(table, item);
  if (value.negative() || (due && engine::is_too_old(*due, now))) {
    return {"too_old", std::nullopt,
            text + ", more than five years ago: so old a time is taken for a mistake, and the item stays."};
  }
  if (!due) {
    const auto seconds = value.floor_scaled(0);
    std::string message = text + ", which as epoch seconds is after the year 9999.";
    if (seconds && *seconds < engine::last_instant) {
      message += " It looks like milliseconds: " + engine::iso8601(*seconds) + ". TTL wants seconds.";
    }
    return {"milliseconds", std::nullopt, std::move(message)};
  }
  const engine::Instant fires = engine::fires_at(table, *due);
  if (*due > now) {
    if (fires == engine::never) {
      return {"not_due", std::nullopt,
              text + "; from " + engine::iso8601(*due) + " on a sweep will delete the item (mode manual)."};
    }
    return {"not_due", fires,
            text + "; the item will be deleted at " + engine::iso8601(fires) + ". It is " + print_time(now) +
                "."};
  }
  if (fires == engine::never) {
    return {"due", *due, text + ", which has passed; the item waits for a sweep (mode manual)."};
  }
  if (fires > now) {
    return {"delayed", fires,
            text + ", which has passed; as on AWS the item can be read until it is deleted, at " +
                engine::iso8601(fires) + "."};
  }
  return {"due", *due, text + ", which has passed; the item is about to be deleted."};
}

// "49h", "1m 30s": the largest two units.
std::string span(engine::Instant ms) {
  const std::pair<std::int64_t, const char*> units[] = {
      {86'400'000, "d"}, {3'600'000, "h"}, {60'000, "m"}, {1000, "s"}, {1, "ms"}};
  std::string text;
  int shown = 0;
  for (const auto& [size, name] : units) {
    if (ms < size || shown == 2) continue;
    text += (shown++ > 0 ? " " : "") + std::to_string(ms / size) + name;
    ms %= size;
  }
  return shown > 0 ? text : "0s";
}

// Of an item that is not there.
Explanation explain_absence(const std::string& attribute,
                            const std::optional<engine::ExpiryStats::Deletion>& last) {
  if (!last)
    return {"no_item", std::nullopt, "There is no item with this key: it never was, or is deleted already."};
  const std::string due = engine::iso8601(last->due), at = engine::iso8601(last->at);
  if (!last->born_due)
    return {"expired", last->due,
            "The item was due at " + due + " by its " + attribute + ", and deleted at " + at + "."};
  return {"born_expired", last->due,
          "The item was written at " + at + " with a " + attribute + " that had passed by " +
              span(last->at - last->due) +
              ", and so was gone at once. Does its writer go by another clock than the account?"};
}

Explanation explain(const engine::Table& table, const std::optional<engine::StoredItem>& stored,
                    const std::optional<engine::ExpiryStats::Deletion>& last, engine::Instant now) {
  if (!table.ttl) {
    return {"ttl_disabled", std::nullopt,
            "Time to live is not enabled on the table: UpdateTimeToLive names the attribute."};
  }
  const std::string& attribute = table.ttl->attribute;
  if (!stored) return explain_absence(attribute, last);
  const engine::AttributeValue* value = stored->item().find(attribute);
  if (value == nullptr) {
    return {"no_attribute", std::nullopt,
            "The item has no attribute " + attribute + ", and so never expires."};
  }
  const engine::Number* number = value->get_if<engine::Number>();
  if (number == nullptr) {
    return {"not_a_number", std::nullopt,
            attribute + " is " + std::string(type_word(value->type())) +
                "; only a number of epoch seconds makes an item expire."};
  }
  return explain_number(table, stored->item(), *number, now);
}

}  // namespace

Result<json::Tree> explain_item(Call& call) {
  call.body.any("key");
  CHECK_OK(call.body.nothing_else());
  TRY(const auto table, call.table(call.parameters[0]));
  const auto description = table->description();
  TRY(const std::string item_key, call.item_key(*description));
  const Explanation explanation =
      explain(*description, call.database().get(*table, item_key), table->expiry_stats().last_of(item_key),
              call.database().now(call.scope.account));
  return json::Tree{{"expires_at", time_or_null(explanation.expires_at)},
                    {"reason", explanation.reason},
                    {"message", explanation.message}};
}

}  // namespace mayfly::compat::control
