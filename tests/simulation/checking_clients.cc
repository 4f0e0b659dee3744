// Compares everything that can be read with the model.
#include <algorithm>
#include <map>
#include <set>

#include "engine/background/history.h"
#include "engine/background/history_size.h"
#include "tests/simulation/clients.h"
#include "tests/simulation/shop.h"

namespace mayfly::testing {

std::vector<Json> Clients::read_all(const std::string& operation, Json body, const std::string& list) {
  std::vector<Json> all;
  for (;;) {
    const Answer answer = ask(operation, body);
    if (answer.status != 200) {
      wrong_(operation + " " + body.dump() + " -> " + answer.text);
      return all;
    }
    for (const Json& one : answer.body.at(list)) all.push_back(one);
    if (!answer.body.contains("LastEvaluatedKey")) return all;
    body["ExclusiveStartKey"] = answer.body["LastEvaluatedKey"];
  }
}

void Clients::check_all() {
  if (options_.stale_reads) lag_behind({.writes = 0, .milliseconds = {}});
  const Answer listed = ask("ListTables", Json::object());
  const auto is_listed = [&](const std::string& name) {
    const auto all = listed.body.value("TableNames", std::set<std::string>());
    return all.contains(name);
  };
  // No write is in flight any longer.
  if (options_.replicas) model_.settled();
  ModelState settled = model_.state();
  for (const auto& [name, table] : model_.state().tables) {
    if (table->is_creating() && !(table->may_be_removed && !is_listed(name)))
      wrong_("a restored table is incomplete: " + name);
    if (table->may_be_removed && !is_listed(name)) {
      settled.tables.erase(name);
    } else if (table->awaited) {
      settled.edit(name).awaited.reset();
    }
  }
  model_.became(std::move(settled));
  std::set<std::string> names;
  for (const auto& [name, table] : model_.state().tables) names.insert(name);
  std::set<std::string> found;
  for (const std::string_view region : {home_region, away_region}) {
    if (region == away_region && !options_.replicas) continue;
    const compat::Answer in_region = emulator_->execute({scope_.account, std::string(region)},
                                                        std::string(compat::dynamodb) + ".ListTables", "{}");
    const Json body = Json::parse(in_region.body);
    for (const std::string name : body.at("TableNames"))
      found.insert(region == home_region ? name : other_name(name));
  }
  if (found != names) wrong_("unexpected list of tables:" + print({found.begin(), found.end()}));
  for (const auto& [name, table] : model_.state().tables) {
    check_table(name, *table);
    if (table->streamed) check_stream(name, *table);
    check_past(name, *table);
  }
  check_backups();
}

void Clients::check_table(const std::string& name, const ModelTable& table) {
  const engine::Instant now = this->now();
  for (const auto& [key, item] : table.items)
    if (visible(table, key, now) == nullptr && expires_here(table, key))
      wrong_("a due item was not deleted: " + name + " " + key);
  const auto compare = [&](const std::string& what, const std::vector<Json>& found,
                           const std::multiset<std::string>& expected) {
    if (as_set(found) != expected)
      wrong_(name + ": " + what + " shows" + print(as_set(found)) + "\n  instead of" + print(expected));
  };
  compare("a Scan", read_all("Scan", {{"TableName", name}}, "Items"), shown(table, now));
  const Answer described = ask("DescribeTable", {{"TableName", name}});
  const auto count = described.body["Table"].value("ItemCount", std::size_t{0});
  if (count != table.items.size())
    wrong_(name + ": ItemCount is " + std::to_string(count) + " of " + std::to_string(table.items.size()));
  const auto check_index = [&](const std::string& list, const std::string& index,
                               const std::string& attribute, bool there) {
    Json description;
    for (const Json& one : described.body["Table"].value(list, Json::array()))
      if (one.at("IndexName") == index) description = one;
    if (description.is_null() == there)
      return wrong_(name + ": the index " + index + " is missing or should not exist");
    if (!there) return;
    std::multiset<std::string> expected;
    std::size_t entries = 0;
    for (const auto& [key, item] : table.items) {
      if (!item->contains(attribute)) continue;
      ++entries;
      if (visible(table, key, now) != nullptr) expected.insert(item->dump());
    }
    compare(index, read_all("Scan", {{"TableName", name}, {"IndexName", index}}, "Items"), expected);
    if (description.value("ItemCount", std::size_t{0}) != entries)
      wrong_(name + ": ItemCount of " + index + " is " + description.dump());
  };
  check_index("GlobalSecondaryIndexes", "by_user", "user", table.by_user);
  check_index("LocalSecondaryIndexes", "by_n", "n", table.by_n);

  const Answer pending = control("GET", "ttl/" + name, nullptr);
  std::size_t expiring = 0;
  for (const auto& [key, item] : table.items)
    if (table.expires && due_of(*item) && expires_here(table, key)) ++expiring;
  if (pending.body.value("pending", std::size_t{0}) != expiring)
    wrong_(name + ": " + pending.text + " instead of " + std::to_string(expiring) + " pending items");
}

// Reads every shard from its beginning. Each record must occur once, and each item's records must be in
// order.
void Clients::check_stream(const std::string& name, const ModelTable& table) {
  const Answer described = ask("DescribeTable", {{"TableName", name}});
  // ask() removes the region from the name.
  const std::string region = name.substr(std::min(name.find('@'), name.size()));
  const std::string arn = described.body["Table"].value("LatestStreamArn", "") + region;
  const Answer stream = ask("DescribeStream", {{"StreamArn", arn}});
  if (stream.status != 200) return wrong_(name + " has no stream: " + stream.text);
  std::map<std::string, std::vector<std::string>> found, expected;  // by key
  std::vector<std::pair<std::string, Json>> records;                // by sequence number
  for (const Json& shard : stream.body["StreamDescription"]["Shards"]) {
    const Answer at =
        ask("GetShardIterator",
            {{"StreamArn", arn}, {"ShardId", shard.at("ShardId")}, {"ShardIteratorType", "TRIM_HORIZON"}});
    Json iterator = at.body.value("ShardIterator", Json());
    while (!iterator.is_null()) {
      const Answer page = ask("GetRecords", {{"ShardIterator", iterator.get<std::string>() + region}});
      if (page.status != 200) return wrong_(name + ": GetRecords -> " + page.text);
      for (const Json& record : page.body["Records"])
        records.emplace_back(record.at("dynamodb").at("SequenceNumber").get<std::string>(), record);
      iterator = page.body["Records"].empty() ? Json() : page.body.value("NextShardIterator", Json());
    }
  }
  std::sort(records.begin(), records.end(), [](const auto& one, const auto& other) {
    return one.first.size() != other.first.size() ? one.first.size() < other.first.size()
                                                  : one.first < other.first;
  });
  for (const auto& [sequence, record] : records) {
    const Json& data = record.at("dynamodb");
    found[model_key(table.sorted, data.at("Keys"))].push_back(
        print_record(record.at("eventName").get<std::string>(), record.contains("userIdentity"),
                     data.value("OldImage", Json()), data.value("NewImage", Json())));
  }
  const auto expect_as_of = [&](engine::Instant instant) {
    expected.clear();
    for (const ModelRecord* record : readable(table.records, instant))
      expected[record->key].push_back(
          print_record(record->event, record->by_service, record->old_image, record->new_image));
    return found == expected;
  };
  if (expect_as_of(now())) return;
  // Records are trimmed in batches, so records that expired up to a minute ago can still be there.
  constexpr engine::Instant lot_ms = 60'000;
  const auto old = readable(table.records, now() - lot_ms);
  for (const ModelRecord* record : old) {
    if (record->at >= now() - engine::day_ms) break;
    if (expect_as_of(record->at + engine::day_ms)) return;
  }
  expect_as_of(now());
  std::string difference;
  for (const auto& [key, list] : expected) {
    if (found[key] == list) continue;
    difference += "\n  " + key + " has";
    for (const std::string& one : found[key]) difference += "\n    " + one;
    difference += "\n   instead of";
    for (const std::string& one : list) difference += "\n    " + one;
  }
  wrong_(name + ": the stream does not match the changes" + difference);
}

}  // namespace mayfly::testing
