// POST /_mayfly/ttl/{table}/explain: explains why an item still exists and when it expires, or why it does
// not exist.
//
//   {"key":{"id":{"S":"1"}}}
//   -> {"expires_at":"2031-01-01T00:00:00.001Z","reason":"not_due",
//       "message":"ttl is 1924992000; the item will be …"}
#include <nlohmann/json.hpp>

#include "compat/control/explanation.h"
#include "compat/control/families.h"
#include "compat/items/keys.h"
#include "compat/tables/ttl_mistakes.h"
#include "engine/items/item_reader.h"
#include "engine/schema/expiry_mode.h"
#include "engine/time/expiry_index.h"

namespace mayfly::compat::control {
namespace {

Explanation explain_number(const engine::Table& table, const engine::Number& value, engine::Instant due,
                           engine::Instant now, std::string_view ttl) {
  const std::string text = std::string(ttl) + " is " + value.to_string();
  const engine::Instant fires = engine::fires_at(table, due);
  if (due > now) {
    if (fires == engine::never) {
      return {"not_due", std::nullopt,
              text + "; the item expires at " + engine::iso8601(due) +
                  " and is deleted by the next sweep after that (mode manual)."};
    }
    return {"not_due", fires,
            text + "; the item will be deleted at " + engine::iso8601(fires) + ". It is now " +
                print_time(now) + "."};
  }
  if (fires == engine::never) {
    return {"due", due, text + ", which has passed; the item is deleted by the next sweep (mode manual)."};
  }
  if (fires > now) {
    return {"delayed", fires,
            text + ", which has passed; as on AWS, the item can be read until it is deleted at " +
                engine::iso8601(fires) + "."};
  }
  return {"due", due, text + ", which has passed; the item is about to be deleted."};
}

// Formats a duration in its two largest units: "2d 1h", "1m 30s".
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

// Explains why an item does not exist.
Explanation explain_absence(const std::string& attribute,
                            const std::optional<engine::ExpiryStats::Deletion>& last) {
  if (!last)
    return {"no_item", std::nullopt, "There is no item with this key: it never existed or was deleted."};
  const std::string due = engine::iso8601(last->due), at = engine::iso8601(last->at);
  if (!last->born_due)
    return {"expired", last->due,
            "By its " + attribute + ", the item expired at " + due + ". It was deleted at " + at + "."};
  return {"born_expired", last->due,
          "The item was written at " + at + " with a " + attribute + " that was " +
              span(last->at - last->due) +
              " in the past, so it was deleted immediately. Does its writer use a different clock than the "
              "account?"};
}

std::string_view never_reason(engine::NeverReason reason) {
  switch (reason) {
    case engine::NeverReason::milliseconds: return "milliseconds";
    case engine::NeverReason::string:
    case engine::NeverReason::wrong_type: return "not_a_number";
    case engine::NeverReason::too_old: return "too_old";
  }
  return {};
}

}  // namespace

Explanation explain(const engine::Table& table, const std::optional<engine::StoredItem>& stored,
                    const std::optional<engine::ExpiryStats::Deletion>& last, engine::Instant now,
                    std::string_view ttl) {
  if (!table.ttl) {
    return {"ttl_disabled", std::nullopt,
            "TTL is not enabled on the table; enable it with UpdateTimeToLive."};
  }
  const std::string& attribute = table.ttl->attribute;
  if (!stored) return explain_absence(attribute, last);
  const engine::AttributeValue* value = stored->item().find(attribute);
  if (value == nullptr) {
    return {"no_attribute", std::nullopt,
            "The item has no attribute '" + attribute + "', so it never expires."};
  }
  const engine::TtlValue says = engine::ttl_of(table, stored->item());
  if (const auto never = says.never_at(now))
    return {never_reason(*never), std::nullopt, std::string(ttl) + " " + why_never(*value, *never)};
  return explain_number(table, *value->get_if<engine::Number>(), *says.due, now, ttl);
}

namespace {

Result<json::Tree> explain_item(Call& call) {
  TRY(const auto table, call.table(call.parameters[0]));
  const auto description = table->description();
  TRY(const std::string item_key, call.item_key(*description));
  const Explanation explanation = explain(*description, call.database().reader().get(*table, item_key),
                                          table->expiry_stats().last_of(item_key),
                                          call.database().accounts().of(call.scope.account).now(),
                                          description->ttl ? description->ttl->attribute : std::string());
  return json::Tree{{"expires_at", time_or_null(explanation.expires_at)},
                    {"reason", explanation.reason},
                    {"message", explanation.message}};
}

}  // namespace

std::span<const ControlCall> explain_calls() {
  static constexpr std::string_view reasons[] = {"due",          "not_due", "delayed",      "expired",
                                                 "born_expired", "no_item", "no_attribute", "not_a_number",
                                                 "milliseconds", "too_old", "ttl_disabled"};
  static constexpr Member body[] = {key_member};
  static constexpr Member answer[] = {
      {"expires_at", Kind::time, "When the item expires or has expired", Given::or_null},
      Member{"reason", Kind::text, "Why it has or has not expired", Given::always}.of(reasons),
      {"message", Kind::text, "The reason, as readable text", Given::always}};
  static constexpr ControlCall calls[] = {
      {.method = "POST",
       .path = "/_mayfly/ttl/{table}/explain",
       .name = "explain_expiry",
       .about = "Explain when and why an item expires, or why it does not",
       .place = table_place,
       .body = body,
       .answer = answer,
       .handle = &explain_item,
       .command = "ttl explain"},
  };
  return calls;
}

}  // namespace mayfly::compat::control
