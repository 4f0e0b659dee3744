#include "compat/settings/settings.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "compat/json/json.h"
#include "compat/wire/attribute_value_json.h"
#include "engine/storage/key_space.h"
#include "engine/storage/storage.h"
#include "engine/values/item_codec.h"
#include "tests/support/engine_world.h"
#include "tests/support/test_emulator.h"

namespace mayfly::testing {

namespace {

using namespace compat;
using nlohmann::json;

std::string text_of(const engine::Item& item) {
  std::string text;
  mayfly::json::Writer out(text);
  write_item_object(out, item);
  return text;
}

std::string stored_bytes(std::string_view text) {
  const auto document = mayfly::json::parse(text);
  REQUIRE(document);
  const auto item = read_item(document->root());
  REQUIRE(item);
  std::string bytes;
  engine::encode_item(*item, bytes);
  return bytes;
}

// Sets each member to a value that is not its default. A new member causes a compile error until it is added
// here.
TableSettings every_table_setting() {
  TableSettings settings;
  auto& [on_demand, on_demand_since, throughput, on_demand_limits, warm, ttl_changed, recovery_since,
         recovery_days, restored_from, deletion_protection, table_class, table_class_changed, kms_key_arn,
         insights, policy, settings_replication, replica_source, replica_since, disassociation_allowed,
         witness, vector_indexes, tags] = settings;
  on_demand = true;
  on_demand_since = TableSettings::since_creation;
  throughput = {1, 2, 3, 4, 5};
  on_demand_limits = {6, 7};
  warm = {8, 9};
  ttl_changed = 10;
  recovery_since = 11;
  recovery_days = 12;
  restored_from = {"backup", "table", 16, 17, 18, 19};
  deletion_protection = true;
  table_class = "STANDARD";
  table_class_changed = 13;
  kms_key_arn = "arn";
  insights = {true, "THROTTLED_KEYS", 14};
  policy = {"{}", "15"};
  settings_replication = "ENABLED";
  replica_source = "us-west-2";
  replica_since = 16;
  disassociation_allowed = true;
  witness = "us-east-2";
  vector_indexes = {{"near", "v", 16, "COSINE", {{"shop", true}}, "INCLUDE", {"title"}}};
  tags = {{"team", "blue"}, {"none", ""}};
  return settings;
}

IndexSettings every_index_setting() {
  IndexSettings settings;
  auto& [throughput, on_demand_limits, warm, insights] = settings;
  throughput = {1, 2, 3, 4, 5};
  on_demand_limits = {6, 7};
  warm = {8, 9};
  insights = {true, "THROTTLED_KEYS", 10};
  return settings;
}

StreamSettings every_stream_setting() {
  StreamSettings settings;
  auto& [policy] = settings;
  policy = {"{}", "1"};
  return settings;
}

// Checks the stored form of `every`. Also checks that if one of the stored settings is missing, that setting
// has its default and the other settings are unchanged.
template <class Description, class Settings>
void check_stored(const Settings& every, std::string_view stored) {
  Description description;
  keep_settings(description, every);
  CHECK(text_of(description.settings) == stored);
  CHECK(settings_of(description) == every);
  for (const engine::Attribute& setting : engine::Item(description.settings)) {
    INFO(setting.name);
    Description before;
    before.settings = description.settings;
    before.settings.erase(setting.name);
    const engine::Item others = before.settings;
    CHECK_FALSE(settings_of(before) == every);
    keep_settings(before, settings_of(before));
    CHECK(before.settings == others);
  }
  keep_settings(description, Settings());
  CHECK(description.settings.empty());
  CHECK(settings_of(description) == Settings());
}

TEST_CASE("every setting is unchanged after it is stored and a missing setting has its default") {
  check_stored<engine::Table>(
      every_table_setting(),
      R"({"deletion_protection":{"BOOL":true},"disassociation_allowed":{"BOOL":true},)"
      R"("insights":{"M":{"changed":{"N":"14"},"enabled":{"BOOL":true},"mode":{"S":"THROTTLED_KEYS"}}},)"
      R"("kms_key_arn":{"S":"arn"},"on_demand":{"BOOL":true},)"
      R"("on_demand_limits":{"M":{"read_units_max":{"N":"6"},"write_units_max":{"N":"7"}}},)"
      R"("on_demand_since":{"N":"0"},"policy":{"M":{"document":{"S":"{}"},"revision":{"S":"15"}}},)"
      R"("recovery_days":{"N":"12"},"recovery_since":{"N":"11"},"replica_since":{"N":"16"},)"
      R"("replica_source":{"S":"us-west-2"},"restored_from":{"M":{"at":{"N":"16"},)"
      R"("backup_arn":{"S":"backup"},"held":{"N":"19"},"point":{"N":"17"},"source_table":{"N":"18"},"table_arn":{"S":"table"}}},)"
      R"("settings_replication":{"S":"ENABLED"},)"
      R"("table_class":{"S":"STANDARD"},"table_class_changed":{"N":"13"},)"
      R"("tags":{"M":{"none":{"S":""},"team":{"S":"blue"}}},)"
      R"("throughput":{"M":{"decreases_today":{"N":"5"},"last_decrease":{"N":"4"},"last_increase":{"N":"3"},)"
      R"("read_units":{"N":"1"},"write_units":{"N":"2"}}},"ttl_changed":{"N":"10"},)"
      R"("vector_indexes":{"L":[{"M":{"attribute":{"S":"v"},"dimensions":{"N":"16"},"distance":{"S":"COSINE"},)"
      R"("included":{"L":[{"S":"title"}]},"name":{"S":"near"},"projection":{"S":"INCLUDE"},)"
      R"("search_schema":{"L":[{"M":{"hash":{"BOOL":true},"name":{"S":"shop"}}}]}}}]},)"
      R"("warm":{"M":{"read_units":{"N":"8"},"write_units":{"N":"9"}}},"witness":{"S":"us-east-2"}})");
  check_stored<engine::Index>(
      every_index_setting(),
      R"({"insights":{"M":{"changed":{"N":"10"},"enabled":{"BOOL":true},"mode":{"S":"THROTTLED_KEYS"}}},)"
      R"("on_demand":{"M":{"read_units_max":{"N":"6"},"write_units_max":{"N":"7"}}},)"
      R"("throughput":{"M":{"decreases_today":{"N":"5"},"last_decrease":{"N":"4"},"last_increase":{"N":"3"},)"
      R"("read_units":{"N":"1"},"write_units":{"N":"2"}}},)"
      R"("warm":{"M":{"read_units":{"N":"8"},"write_units":{"N":"9"}}}})");
  check_stored<engine::Stream>(every_stream_setting(),
                               R"({"policy":{"M":{"document":{"S":"{}"},"revision":{"S":"1"}}}})");
}

TEST_CASE("an empty setting differs from one that was never set") {
  engine::Table table;
  keep_settings(table, {.warm = WarmThroughput(), .kms_key_arn = "", .policy = ResourcePolicy()});
  const TableSettings settings = settings_of(table);
  CHECK(settings.warm == WarmThroughput());
  CHECK(settings.kms_key_arn == "");
  CHECK(settings.policy == ResourcePolicy());
  CHECK_FALSE(settings.insights);
}

TEST_CASE("is_on_demand agrees with the stored settings of a table") {
  engine::Table table;
  CHECK_FALSE(is_on_demand(table));
  keep_settings(table, every_table_setting());
  CHECK(is_on_demand(table));
}

TEST_CASE("an index that is recreated with the same name starts with default settings") {
  TestEmulator emulator;
  const json by_user = {{"IndexName", "by_user"},
                        {"KeySchema", {{{"AttributeName", "user"}, {"KeyType", "HASH"}}}},
                        {"Projection", {{"ProjectionType", "ALL"}}}};
  json limited = by_user;
  limited["OnDemandThroughput"] = {{"MaxReadRequestUnits", 6}};
  const json definitions = {{{"AttributeName", "id"}, {"AttributeType", "S"}},
                            {{"AttributeName", "user"}, {"AttributeType", "S"}}};
  emulator.ok("CreateTable", {{"TableName", "carts"},
                              {"BillingMode", "PAY_PER_REQUEST"},
                              {"AttributeDefinitions", definitions},
                              {"KeySchema", {{{"AttributeName", "id"}, {"KeyType", "HASH"}}}},
                              {"GlobalSecondaryIndexes", json::array({limited})}});
  const json index = {{"TableName", "carts"}, {"IndexName", "by_user"}};
  json enable = index;
  enable["ContributorInsightsAction"] = "ENABLE";
  emulator.ok("UpdateContributorInsights", enable);
  CHECK(emulator.ok("DescribeContributorInsights", index)["ContributorInsightsStatus"] == "ENABLED");

  emulator.ok("UpdateTable", {{"TableName", "carts"},
                              {"GlobalSecondaryIndexUpdates", {{{"Delete", {{"IndexName", "by_user"}}}}}}});
  emulator.ok("UpdateTable", {{"TableName", "carts"},
                              {"AttributeDefinitions", definitions},
                              {"GlobalSecondaryIndexUpdates", {{{"Create", by_user}}}}});
  CHECK(emulator.ok("DescribeContributorInsights", index) ==
        json{{"TableName", "carts"}, {"IndexName", "by_user"}, {"ContributorInsightsStatus", "DISABLED"}});
  CHECK_FALSE(
      emulator.ok("DescribeTable", {{"TableName", "carts"}})["Table"]["GlobalSecondaryIndexes"][0].contains(
          "OnDemandThroughput"));
}

// An earlier version of Mayfly wrote this data. That version's engine stored the settings as members of the
// descriptions.
constexpr std::string_view old_stream =
    R"({"account":{"S":"000000000000"},"created":{"N":"1700000000384"},"id":{"N":"1"},)"
    R"("keys":{"M":{"partition":{"L":[{"M":{"name":{"S":"a"},"type":{"N":"0"}}}]},"sort":{"L":[]}}},)"
    R"("label":{"S":"2023-11-14T22:13:20.384"},"name":{"N":"1"},)"
    R"("policy":{"M":{"document":{"S":"{\"Version\":\"2008-10-17\"}"},"revision":{"S":"1700000000385"}}},)"
    R"("region":{"S":"us-east-1"},"shards":{"L":[{"M":{"created":{"N":"1700000000384"},)"
    R"("first_hash":{"N":"0"},"first_sequence":{"N":"1"},"last_hash":{"N":"-1"},"number":{"N":"0"},)"
    R"("oldest_sequence":{"N":"1"}}}]},"table":{"N":"1"},"table_name":{"S":"music"},)"
    R"("undone":{"L":[]},"view":{"N":"2"}})";
const std::string old_table =
    R"({"account":{"S":"000000000000"},)"
    R"("attribute_definitions":{"L":[{"M":{"name":{"S":"a"},"type":{"N":"0"}}},)"
    R"({"M":{"name":{"S":"u"},"type":{"N":"0"}}}]},)"
    R"("created":{"N":"1700000000384"},"deletion_protection":{"BOOL":true},"encrypted":{"BOOL":true},)"
    R"("expiry":{"N":"0"},"expiry_delay_ms_max":{"N":"1680000"},"expiry_delay_ms_min":{"N":"600000"},)"
    R"("expiry_seed":{"N":"1"},"id":{"N":"1"},"indexes":{"L":[{"M":{"id":{"N":"1"},)"
    R"("insights":{"M":{"changed":{"N":"1700000000386"},"enabled":{"BOOL":true},"mode":{"S":"THROTTLED_KEYS"}}},)"
    R"("keys":{"M":{"partition":{"L":[{"M":{"name":{"S":"u"},"type":{"N":"0"}}}]},"sort":{"L":[]}}},)"
    R"("kind":{"N":"1"},"name":{"S":"by_u"},"on_demand":{"M":{"read_units_max":{"N":"6"}}},)"
    R"("projected":{"L":[]},"projection":{"N":"1"},"state":{"N":"1"},)"
    R"("throughput":{"M":{"decreases_today":{"N":"0"},"last_decrease":{"N":"0"},"last_increase":{"N":"0"},)"
    R"("read_units":{"N":"0"},"write_units":{"N":"0"}}},)"
    R"("warm":{"M":{"read_units":{"N":"13000"},"write_units":{"N":"5000"}}}}}]},)"
    R"("insights":{"M":{"changed":{"N":"1700000000387"},"enabled":{"BOOL":true},)"
    R"("mode":{"S":"ACCESSED_AND_THROTTLED_KEYS"}}},)"
    R"("keys":{"M":{"partition":{"L":[{"M":{"name":{"S":"a"},"type":{"N":"0"}}}]},"sort":{"L":[]}}},)"
    R"("kms_key_arn":{"S":"arn:aws:kms:us-east-1:000000000000:alias/mine"},)"
    R"("latest_stream_label":{"S":"2023-11-14T22:13:20.384"},"name":{"S":"music"},)"
    R"("next_index_id":{"N":"2"},"next_ttl_number":{"N":"2"},"on_demand":{"BOOL":true},)"
    R"("on_demand_limits":{"M":{"write_units_max":{"N":"11"}}},"on_demand_since":{"N":"1700000000384"},)"
    R"("policy":{"M":{"document":{"S":"{\"Version\":\"2012-10-17\"}"},"revision":{"S":"1700000000388"}}},)"
    R"("recovery_days":{"N":"7"},"recovery_since":{"N":"1700000000389"},"region":{"S":"us-east-1"},)"
    R"("settings_replication":{"S":"ENABLED"},"stream":{"M":)" +
    std::string(old_stream) +
    R"(},"table_class":{"S":"STANDARD_INFREQUENT_ACCESS"},"table_class_changed":{"N":"1700000000390"},)"
    R"("tags":{"M":{"empty":{"S":""},"team":{"S":"blue"}}},)"
    R"("throughput":{"M":{"decreases_today":{"N":"1"},"last_decrease":{"N":"1700000000383"},)"
    R"("last_increase":{"N":"1700000000382"},"read_units":{"N":"0"},"write_units":{"N":"0"}}},)"
    R"("ttl":{"S":"ttl"},"ttl_changed":{"N":"1700000000391"},"ttl_number":{"N":"1"},)"
    R"("uuid":{"S":"26e56b60-e571-4eb4-9d37-78342bb07db4"},)"
    R"("warm":{"M":{"read_units":{"N":"14000"},"write_units":{"N":"4000"}}}})";

const std::string table_arn = "arn:aws:dynamodb:us-east-1:000000000000:table/music";
const std::string described =
    R"({"Table":{"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"},)"
    R"({"AttributeName":"u","AttributeType":"S"}],"KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],)"
    R"("GlobalSecondaryIndexes":[{"IndexName":"by_u","KeySchema":[{"AttributeName":"u","KeyType":"HASH"}],)"
    R"("Projection":{"ProjectionType":"KEYS_ONLY"},"IndexStatus":"ACTIVE","ProvisionedThroughput":)"
    R"({"NumberOfDecreasesToday":0,"ReadCapacityUnits":0,"WriteCapacityUnits":0},)"
    R"("OnDemandThroughput":{"MaxReadRequestUnits":6},)"
    R"("WarmThroughput":{"ReadUnitsPerSecond":13000,"WriteUnitsPerSecond":5000,"Status":"ACTIVE"},)"
    R"("IndexSizeBytes":0,"ItemCount":0,"IndexArn":")" +
    table_arn +
    R"(/index/by_u"}],"TableName":"music","TableStatus":"ACTIVE","CreationDateTime":1700000000.384,)"
    R"("ProvisionedThroughput":{"LastIncreaseDateTime":1700000000.382,"LastDecreaseDateTime":1700000000.383,)"
    R"("NumberOfDecreasesToday":1,"ReadCapacityUnits":0,"WriteCapacityUnits":0},"TableSizeBytes":0,)"
    R"("ItemCount":0,"TableArn":")" +
    table_arn +
    R"(","TableId":"26e56b60-e571-4eb4-9d37-78342bb07db4","BillingModeSummary":{"BillingMode":)"
    R"("PAY_PER_REQUEST","LastUpdateToPayPerRequestDateTime":1700000000.384},"TableThroughputModeSummary":)"
    R"({"TableThroughputMode":"PAY_PER_REQUEST","LastUpdateToPayPerRequestDateTime":1700000000.384},)"
    R"("OnDemandThroughput":{"MaxWriteRequestUnits":11},"StreamSpecification":{"StreamEnabled":true,)"
    R"("StreamViewType":"OLD_IMAGE"},"LatestStreamLabel":"2023-11-14T22:13:20.384","LatestStreamArn":")" +
    table_arn +
    R"(/stream/2023-11-14T22:13:20.384","SSEDescription":{"Status":"ENABLED","SSEType":"KMS",)"
    R"("KMSMasterKeyArn":"arn:aws:kms:us-east-1:000000000000:alias/mine"},"TableClassSummary":)"
    R"({"TableClass":"STANDARD_INFREQUENT_ACCESS","LastUpdateDateTime":1700000000.390},)"
    R"("GlobalTableSettingsReplicationMode":"ENABLED","DeletionProtectionEnabled":true,)"
    R"("WarmThroughput":{"ReadUnitsPerSecond":14000,"WriteUnitsPerSecond":4000,"Status":"ACTIVE"}}})";

TEST_CASE("a data directory that stores settings in the old format opens with all of its settings") {
  const TemporaryDirectory directory;
  {
    const auto storage = engine::Storage::open({.directory = directory.path()});
    REQUIRE(storage);
    engine::Batch batch;
    batch.put(engine::table_prefix('T', 1), stored_bytes(old_table));
    batch.put(engine::table_prefix('R', 1), stored_bytes(old_stream));
    (*storage)->write(batch);
  }
  const auto open = [&] {
    return TestEmulator(compat::EmulatorOptions{.database = {.directory = directory.path()}});
  };
  const auto check = [](TestEmulator& emulator) {
    const json music = {{"TableName", "music"}};
    CHECK(emulator.ok("DescribeTable", music) == json::parse(described));
    CHECK(emulator.ok("DescribeContributorInsights", music)["LastUpdateDateTime"] == 1700000000.387);
    CHECK(emulator.ok("DescribeContributorInsights",
                      {{"TableName", "music"}, {"IndexName", "by_u"}})["ContributorInsightsMode"] ==
          "THROTTLED_KEYS");
    CHECK(emulator.ok("DescribeContinuousBackups",
                      music)["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
                            ["RecoveryPeriodInDays"] == 7);
    CHECK(emulator.ok("GetResourcePolicy", {{"ResourceArn", table_arn}}) ==
          json{{"Policy", R"({"Version":"2012-10-17"})"}, {"RevisionId", "1700000000388"}});
    CHECK(
        emulator.ok("GetResourcePolicy", {{"ResourceArn", table_arn + "/stream/2023-11-14T22:13:20.384"}}) ==
        json{{"Policy", R"({"Version":"2008-10-17"})"}, {"RevisionId", "1700000000385"}});
    CHECK(emulator.ok("Scan", {{"TableName", "music"},
                               {"ReturnConsumedCapacity", "TOTAL"}})["ConsumedCapacity"]["CapacityUnits"] ==
          2.0);
  };
  {
    TestEmulator emulator = open();
    check(emulator);
    CHECK(emulator.ok("ListTagsOfResource", {{"ResourceArn", table_arn}})["Tags"] ==
          json{{{"Key", "empty"}, {"Value", ""}}, {{"Key", "team"}, {"Value", "blue"}}});
    // This call stores the table in the new format.
    CHECK(emulator.run("UntagResource", R"({"ResourceArn":")" + table_arn + R"(","TagKeys":["empty"]})") ==
          "200 ");
  }
  TestEmulator emulator = open();
  check(emulator);
  CHECK(emulator.ok("ListTagsOfResource", {{"ResourceArn", table_arn}})["Tags"] ==
        json::array({{{"Key", "team"}, {"Value", "blue"}}}));
}

}  // namespace

}  // namespace mayfly::testing
