#include "cli/sweep/state.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "cli/sweep/request_text.h"
#include "compat/outbound/page_keys.h"
#include "engine/base/whole_number.h"

namespace mayfly::sweep {

namespace {

constexpr std::string_view shard_prefix = "shard#", sweeper_prefix = "sweeper#";
constexpr int creation_looks_max = 300;

std::string shard_part(int shard) {
  char text[32];
  std::snprintf(text, sizeof text, "shard#%05d", shard);
  return text;
}

std::string progress_part(int segment, int segments) {
  return "backfill#" + std::to_string(segment) + "/" + std::to_string(segments);
}

std::int64_t number_in(const Tree& item, std::string_view name) {
  return engine::whole_number<std::int64_t>(attribute(item, name, "N").value_or("")).value_or(0);
}

std::string text_in(const Tree& item, std::string_view name) {
  return std::string(attribute(item, name, "S").value_or(""));
}

std::string sweeper_part(const std::string& sweeper) { return std::string(sweeper_prefix) + sweeper; }

}  // namespace

State::State(aws::Client& client, const Layout& layout, std::string table)
    : client_(client), layout_(layout), table_(std::move(table)), id_(layout.table + "/" + layout.index) {}

std::string State::head(const std::string& part) const {
  return "{\"TableName\":" + json_text(table_) + ",\"Key\":{\"id\":" + string_value(id_) +
         ",\"part\":" + string_value(part) + "}";
}

Written State::update(const std::string& part, const std::string& more) {
  const auto answer = client_.call("UpdateItem", head(part) + more + "}");
  if (answer) return true;
  if (answer.error().name == "ConditionalCheckFailedException") return false;
  return Unexpected{answer.error()};
}

Expected<void, aws::Failure> State::create() {
  const std::string named = "{\"TableName\":" + json_text(table_);
  const auto created = client_.call(
      "CreateTable",
      named +
          R"(,"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"},)"
          R"({"AttributeName":"part","AttributeType":"S"}],"KeySchema":[{"AttributeName":"id","KeyType":"HASH"},)"
          R"({"AttributeName":"part","KeyType":"RANGE"}],"BillingMode":"PAY_PER_REQUEST"})");
  if (!created && created.error().name != "ResourceInUseException") return Unexpected{created.error()};
  for (int look = 0;; ++look) {
    TRY(const auto described, client_.call("DescribeTable", named + "}"));
    const Tree* const table = json::member(described, "Table");
    if (table != nullptr && json::string_member(*table, "TableStatus") == "ACTIVE") return {};
    if (look == creation_looks_max)
      return Unexpected{aws::Failure{.name = "TimedOut", .message = table_ + " is not ACTIVE yet"}};
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

Expected<void, std::string> State::agree_on_settings() {
  const auto fail = [&](const std::string& why) {
    return Unexpected{"the sweep of " + layout_.table + " by index " + layout_.index + " " + why};
  };
  const std::string values =
      ",\"ExpressionAttributeValues\":{\":w\":" + number_value(layout_.window_seconds) +
      ",\":s\":" + number_value(layout_.shards) + ",\":a\":" + string_value(layout_.window_attribute) +
      ",\":b\":" + string_value(layout_.at_attribute) + ",\":t\":" + string_value(layout_.ttl_attribute) +
      "}";
  const auto written = update(
      "settings",
      R"(,"UpdateExpression":"SET window_seconds = :w, shards = :s, window_attribute = :a, at_attribute = :b, )"
      R"(ttl_attribute = :t","ConditionExpression":"attribute_not_exists(id) OR (window_seconds = :w AND )"
      R"x(shards <= :s AND window_attribute = :a AND at_attribute = :b AND ttl_attribute = :t)")x" +
          values);
  if (!written) return fail("cannot be recorded in " + table_ + ": " + written.error().sentence());
  if (*written) return {};
  const auto answer = client_.call("GetItem", head("settings") + ",\"ConsistentRead\":true}");
  const Tree* const item = answer ? json::member(*answer, "Item") : nullptr;
  if (item == nullptr) return fail("was changed by another process in the meantime");
  return fail(
      "already has other settings: --window-seconds " + std::to_string(number_in(*item, "window_seconds")) +
      " --shards " + std::to_string(number_in(*item, "shards")) + " (or more) --window-attribute " +
      text_in(*item, "window_attribute") + " --at-attribute " + text_in(*item, "at_attribute") +
      " --ttl-attribute " + text_in(*item, "ttl_attribute") + "; to change them, use a new index name");
}

Expected<StateRows, aws::Failure> State::read() {
  StateRows rows;
  std::string start;
  compat::outbound::PageKeys keys;
  do {
    TRY(const auto answer,
        client_.call("Query",
                     "{\"TableName\":" + json_text(table_) +
                         R"(,"ConsistentRead":true,"KeyConditionExpression":"id = :i AND part > :p",)"
                         R"("ExpressionAttributeValues":{":i":)" +
                         string_value(id_) + ",\":p\":" + string_value("settings") + "}" + start + "}"));
    if (const Tree* const items = json::member(answer, "Items"); items != nullptr && items->is_array()) {
      for (const Tree& item : *items) {
        const std::string part = text_in(item, "part");
        if (part.starts_with(sweeper_prefix)) {
          rows.beats[part.substr(sweeper_prefix.size())] = number_in(item, "beat");
        } else if (part.starts_with(shard_prefix)) {
          const auto shard = engine::whole_number<int>(std::string_view(part).substr(shard_prefix.size()));
          if (shard)
            rows.shards[*shard] = {number_in(item, "watermark"), number_in(item, "generation"),
                                   text_in(item, "owner")};
        }
      }
    }
    const Tree* const last = json::member(answer, "LastEvaluatedKey");
    start = last == nullptr ? "" : ",\"ExclusiveStartKey\":" + json::print(*last);
    if (!start.empty() && !keys.advance(start))
      return Unexpected{
          aws::Failure{.name = "NotAnAnswer", .message = std::string(compat::outbound::PageKeys::repeated)}};
  } while (!start.empty());
  return rows;
}

Written State::take(int shard, const ShardRow& row, const std::string& owner, std::int64_t first_watermark) {
  const bool is_new = row.generation == 0;
  return update(
      shard_part(shard),
      std::string(R"(,"UpdateExpression":"SET #o = :o, generation = :n)") +
          (is_new ? ", watermark = :w" : "") + R"(","ConditionExpression":")" +
          (is_new ? "attribute_not_exists(id)" : "generation = :g") +
          R"(","ExpressionAttributeNames":{"#o":"owner"},"ExpressionAttributeValues":{":o":)" +
          string_value(owner) + ",\":n\":" + number_value(row.generation + 1) +
          (is_new ? ",\":w\":" + number_value(first_watermark) : ",\":g\":" + number_value(row.generation)) +
          "}");
}

Written State::release(int shard, std::int64_t generation, const std::string& owner) {
  return update(shard_part(shard),
                R"(,"UpdateExpression":"REMOVE #o","ConditionExpression":"generation = :g AND #o = :o",)"
                R"("ExpressionAttributeNames":{"#o":"owner"},"ExpressionAttributeValues":{":g":)" +
                    number_value(generation) + ",\":o\":" + string_value(owner) + "}");
}

Written State::advance(int shard, std::int64_t generation, std::int64_t watermark) {
  return update(shard_part(shard),
                R"(,"UpdateExpression":"SET watermark = :w","ConditionExpression":"generation = :g AND )"
                R"(watermark < :w","ExpressionAttributeValues":{":g":)" +
                    number_value(generation) + ",\":w\":" + number_value(watermark) + "}");
}

Expected<void, aws::Failure> State::beat(const std::string& sweeper, std::int64_t count) {
  TRY(const bool written, update(sweeper_part(sweeper),
                                 R"(,"UpdateExpression":"SET beat = :b","ExpressionAttributeValues":{":b":)" +
                                     number_value(count) + "}"));
  static_cast<void>(written);
  return {};
}

Written State::forget(const std::string& sweeper, std::int64_t beat) {
  const auto answer = client_.call("DeleteItem", head(sweeper_part(sweeper)) +
                                                     R"(,"ConditionExpression":"beat = :b",)"
                                                     R"("ExpressionAttributeValues":{":b":)" +
                                                     number_value(beat) + "}}");
  if (answer) return true;
  if (answer.error().name == "ConditionalCheckFailedException") return false;
  return Unexpected{answer.error()};
}

Expected<std::optional<State::ScanProgress>, aws::Failure> State::read_progress(int segment, int segments) {
  TRY(const auto answer,
      client_.call("GetItem", head(progress_part(segment, segments)) + ",\"ConsistentRead\":true}"));
  const Tree* const item = json::member(answer, "Item");
  if (item == nullptr) return std::optional<ScanProgress>();
  return std::optional<ScanProgress>({number_in(*item, "scanned"), number_in(*item, "armed"),
                                      text_in(*item, "start_key"), number_in(*item, "done") != 0});
}

Expected<void, aws::Failure> State::write_progress(int segment, int segments, const ScanProgress& progress) {
  TRY(const bool written,
      update(progress_part(segment, segments),
             R"(,"UpdateExpression":"SET scanned = :s, armed = :a, done = :d, start_key = :k",)"
             R"("ExpressionAttributeValues":{":s":)" +
                 number_value(progress.scanned) + ",\":a\":" + number_value(progress.armed) + ",\":d\":" +
                 number_value(progress.done ? 1 : 0) + ",\":k\":" + string_value(progress.start_key) + "}"));
  static_cast<void>(written);
  return {};
}

Expected<void, aws::Failure> State::drop_progress(int segment, int segments) {
  TRY(const auto answer, client_.call("DeleteItem", head(progress_part(segment, segments)) + "}"));
  static_cast<void>(answer);
  return {};
}

}  // namespace mayfly::sweep
