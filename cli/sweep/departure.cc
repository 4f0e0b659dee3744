#include "cli/sweep/departure.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/sweep/request_text.h"
#include "engine/time/expiry_index.h"

namespace mayfly::sweep {

namespace {

// If an item changes during each attempt, it is left for the next round.
constexpr int tries_max = 6;

double units_of(const Tree& answer) {
  const Tree* const consumed = json::member(answer, "ConsumedCapacity");
  const Tree* const units = consumed == nullptr ? nullptr : json::member(*consumed, "CapacityUnits");
  return units != nullptr && units->is_number() ? units->get<double>() : 1;
}

// Returns the item in an answer or in a failure's body, or nullptr.
std::shared_ptr<const Tree> item_in(const Tree* tree) {
  const Tree* const item = tree == nullptr ? nullptr : json::member(*tree, "Item");
  return item == nullptr ? nullptr : std::make_shared<const Tree>(*item);
}

std::string mark_of(std::int64_t generation) { return std::string(mark_prefix) + std::to_string(generation); }

}  // namespace

Departures::Departures(aws::Client& client, const Layout& layout, std::vector<std::string> key_attributes,
                       Pace& pace, DepartureOptions options)
    : client_(client),
      layout_(layout),
      key_attributes_(std::move(key_attributes)),
      pace_(pace),
      options_(std::move(options)) {}

std::string Departures::key_of(const Tree& item) const {
  Tree key = Tree::object();
  for (const std::string& name : key_attributes_) {
    const Tree* const value = json::member(item, name);
    if (value == nullptr) return {};
    json::add_member(key, name, *value);
  }
  return json::print(key);
}

// #k is the partition key, which every item has. #t, #w and #a are the TTL, the window and the sort key.
std::string Departures::names(bool with_place) const {
  std::string text = R"(,"ExpressionAttributeNames":{"#k":)" + json_text(key_attributes_.front()) +
                     R"(,"#t":)" + json_text(layout_.ttl_attribute);
  if (with_place) {
    text += R"(,"#w":)" + json_text(layout_.window_attribute);
    if (!layout_.looks_by_ttl()) text += R"(,"#a":)" + json_text(layout_.at_attribute);
  }
  if (!options_.mark_attribute.empty()) text += R"(,"#m":)" + json_text(options_.mark_attribute);
  return text + "}";
}

Departures::Obstacle Departures::read(const std::string& key) {
  auto answer = client_.call("GetItem", "{\"TableName\":" + json_text(layout_.table) + ",\"Key\":" + key +
                                            ",\"ConsistentRead\":true}");
  if (!answer) return {.failure = std::move(answer.error())};
  return {.item = item_in(&*answer)};
}

Departures::Write Departures::write(std::string_view operation, const std::string& body,
                                    const std::string& key, Settled& settled) {
  if (!pace_.before_write())
    return Obstacle{.failure = aws::Failure{.name = "Ended", .message = "the process is shutting down"}};
  const auto answer = client_.call(
      operation, "{\"TableName\":" + json_text(layout_.table) + ",\"Key\":" + key + body +
                     R"(,"ReturnConsumedCapacity":"TOTAL","ReturnValuesOnConditionCheckFailure":"ALL_OLD"})");
  if (answer) {
    pace_.after_write(units_of(*answer));
    return std::nullopt;
  }
  const aws::Failure& failure = answer.error();
  if (failure.throttled) {
    pace_.throttled();
    ++settled.throttles;
  }
  if (failure.name != "ConditionalCheckFailedException") return Obstacle{.failure = failure};
  pace_.after_write(1);  // a write whose condition fails also costs a unit
  // Not every endpoint can return the item with the failure.
  if (auto item = item_in(failure.body.get())) return Obstacle{.item = std::move(item)};
  return read(key);
}

Departures::Write Departures::remove(const Entry& entry, std::string_view ttl, engine::Instant now,
                                     std::int64_t generation, Settled& settled) {
  const bool marks = !options_.mark_attribute.empty();
  const std::string mark = mark_of(generation);
  const auto values = [&](bool with_mark) {
    return R"(,"ExpressionAttributeValues":{":t":)" + number_value(ttl) +
           ",\":now\":" + number_value(seconds_text(now)) +
           ",\":old\":" + number_value(seconds_text(now - engine::expiry_age_ms_max)) +
           (with_mark ? ",\":m\":" + string_value(mark) : "") + "}";
  };
  const std::string condition = "attribute_exists(#k) AND #t = :t AND #t < :now AND #t > :old";
  if (marks) {
    if (Write obstacle = write("UpdateItem",
                               R"(,"UpdateExpression":"SET #m = :m","ConditionExpression":")" + condition +
                                   "\"" + names(false) + values(true),
                               entry.key, settled))
      return obstacle;
  }
  return write("DeleteItem",
               R"(,"ConditionExpression":")" + condition + (marks ? " AND #m = :m" : "") + "\"" +
                   names(false) + values(marks),
               entry.key, settled);
}

// Removes the mark, so that no later removal of this item is attributed to the sweep.
void Departures::unmark(const std::string& key, const Tree& item, Settled& settled) {
  if (options_.mark_attribute.empty() || options_.dry_run) return;
  const auto mark = attribute(item, options_.mark_attribute, "S");
  if (!mark || !mark->starts_with(mark_prefix)) return;
  static_cast<void>(write("UpdateItem",
                          R"(,"UpdateExpression":"REMOVE #m","ConditionExpression":"#m = :m",)"
                          R"("ExpressionAttributeNames":{"#m":)" +
                              json_text(options_.mark_attribute) + R"(},"ExpressionAttributeValues":{":m":)" +
                              string_value(*mark) + "}",
                          key, settled)
                        .has_value());
}

Departures::Write Departures::rearm(const Entry& entry, std::string_view ttl, const Place& place,
                                    Settled& settled) {
  const bool both = !layout_.looks_by_ttl();
  std::string update = both ? "SET #w = :w, #a = :t" : "SET #w = :w";
  if (!options_.mark_attribute.empty()) update += " REMOVE #m";
  return write("UpdateItem",
               R"(,"UpdateExpression":")" + update +
                   R"(","ConditionExpression":"attribute_exists(#k) AND #t = :t AND #w = :v)" +
                   (both ? " AND #a = :a" : "") + "\"" + names(true) +
                   R"(,"ExpressionAttributeValues":{":t":)" + number_value(ttl) +
                   ",\":w\":" + string_value(place_text(place)) + ",\":v\":" + string_value(entry.window) +
                   (both ? ",\":a\":" + number_value(entry.at) : "") + "}",
               entry.key, settled);
}

Departures::Write Departures::release(const Entry& entry, const Tree& item, Settled& settled) {
  const bool both = !layout_.looks_by_ttl();
  const Tree* const ttl = json::member(item, layout_.ttl_attribute);
  std::string update = both ? "REMOVE #w, #a" : "REMOVE #w";
  if (!options_.mark_attribute.empty()) update += ", #m";
  return write(
      "UpdateItem",
      R"(,"UpdateExpression":")" + update + R"(","ConditionExpression":"attribute_exists(#k) AND #w = :v)" +
          (both ? " AND #a = :a" : "") + (ttl == nullptr ? " AND attribute_not_exists(#t)" : " AND #t = :t") +
          "\"" + names(true) + R"(,"ExpressionAttributeValues":{":v":)" + string_value(entry.window) +
          (both ? ",\":a\":" + number_value(entry.at) : "") +
          (ttl == nullptr ? "" : ",\":t\":" + json::print(*ttl)) + "}",
      entry.key, settled);
}

Settled Departures::settle(const Entry& entry, engine::Instant now, std::int64_t generation) {
  Settled settled;
  const auto place = parse_place(entry.window);
  const int shard = place ? place->shard : 0;
  const auto end = [&](Outcome outcome) {
    settled.outcome = outcome;
    return settled;
  };
  // Most items still have the TTL that the index shows. If an item has another TTL, the item's conditional
  // write fails and returns the item. Reading each item first would cost half a read unit more per item.
  std::shared_ptr<const Tree> item;
  std::string ttl = entry.ttl.value_or(entry.at);
  for (int tries = 0; tries < tries_max; ++tries) {
    const auto due = due_of(ttl);
    Write obstacle;
    if (options_.dry_run && !item) {
      obstacle = read(entry.key);
    } else if (due && engine::is_expired(*due, now)) {
      if (options_.dry_run) return end(Outcome::deleted);
      obstacle = remove(entry, ttl, now, generation, settled);
      settled.due = *due;
      if (!obstacle) return end(Outcome::deleted);
    } else if (!item) {
      // Only the index says that the item has not expired, and the index may lag behind.
      obstacle = read(entry.key);
    } else if (due && *due > now) {
      if (options_.dry_run) return end(Outcome::rearmed);
      obstacle = rearm(entry, ttl, place_of(*due, now, shard, layout_), settled);
      if (!obstacle) return end(Outcome::rearmed);
    } else {
      if (options_.dry_run) return end(Outcome::released);
      obstacle = release(entry, *item, settled);
      if (!obstacle) return end(Outcome::released);
    }
    if (obstacle->failure) {
      settled.why = std::move(obstacle->failure);
      return end(Outcome::failed);
    }
    if (!obstacle->item) return end(Outcome::lost);  // the item no longer exists
    item = std::move(obstacle->item);
    // A writer has moved or removed the item's index entry. Remove the mark here, because neither
    // rearm() nor release() will do so.
    const auto at = attribute(*item, layout_.at_attribute, "N");
    if (attribute(*item, layout_.window_attribute, "S") != entry.window ||
        (!layout_.looks_by_ttl() && (!at || !same_number(*at, entry.at)))) {
      unmark(entry.key, *item, settled);
      return end(Outcome::lost);
    }
    ttl = attribute(*item, layout_.ttl_attribute, "N").value_or("");
  }
  settled.why = aws::Failure{.name = "Busy", .message = "the item keeps changing"};
  return end(Outcome::failed);
}

Settled Departures::arm(const Tree& item, std::string_view ttl, const Place& place) {
  Settled settled;
  const bool both = !layout_.looks_by_ttl();
  std::string condition = "attribute_exists(#k) AND #t = :t", values;
  const auto as_read = [&](const std::string& name, const char* alias, const char* value) {
    const Tree* const read = json::member(item, name);
    condition += read == nullptr ? std::string(" AND attribute_not_exists(") + alias + ")"
                                 : std::string(" AND ") + alias + " = " + value;
    if (read != nullptr) values += std::string(",\"") + value + "\":" + json::print(*read);
  };
  as_read(layout_.window_attribute, "#w", ":v");
  if (both) as_read(layout_.at_attribute, "#a", ":a");
  const std::string key = key_of(item);
  std::string update = both ? "SET #w = :w, #a = :t" : "SET #w = :w";
  if (!options_.mark_attribute.empty()) update += " REMOVE #m";
  const Write obstacle =
      write("UpdateItem",
            R"(,"UpdateExpression":")" + update + R"(","ConditionExpression":")" + condition + "\"" +
                names(true) + R"(,"ExpressionAttributeValues":{":t":)" + number_value(ttl) +
                ",\":w\":" + string_value(place_text(place)) + values + "}",
            key, settled);
  settled.outcome = !obstacle ? Outcome::rearmed : obstacle->failure ? Outcome::failed : Outcome::lost;
  if (obstacle) settled.why = obstacle->failure;
  return settled;
}

}  // namespace mayfly::sweep
