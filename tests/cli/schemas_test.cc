// Tables as templates, plans and descriptions have them: which requests make them.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "cli/schemas/files.h"
#include "cli/schemas/yaml.h"

namespace mayfly::testing {

using json::Tree;
using schemas::SchemaContext;
using schemas::TableSchema;

namespace {

namespace fs = std::filesystem;

struct Files {
  fs::path path;
  Files() {
    std::string pattern = (fs::temp_directory_path() / "mayfly-schemas-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path = pattern;
  }
  ~Files() { fs::remove_all(path); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << text;
    return (path / name).string();
  }
};

auto read(const std::string& text, const std::string& name = "t.yaml", const SchemaContext& context = {}) {
  const Files files;
  return schemas::read_schema_files(files.write(name, text), context);
}

// One table's requests: [["CreateTable", {…}], …]
Tree requests(const std::string& text, const std::string& name = "t.yaml",
              const SchemaContext& context = {}) {
  const auto tables = read(text, name, context);
  if (!tables) FAIL(tables.error());
  REQUIRE(tables->size() == 1);
  Tree all = Tree::array();
  for (const auto& request : tables->front().requests)
    all.push_back(Tree::array({request.operation, request.body}));
  return all;
}

// What is wrong, without the file's directory.
std::string problem(const std::string& text, const std::string& name = "t.yaml") {
  const Files files;
  const auto tables = schemas::read_schema_files(files.write(name, text), {});
  REQUIRE_FALSE(tables);
  return tables.error().substr(files.path.string().size() + 1);
}

const std::string table_of_properties =
    "Resources:\n  Carts:\n    Type: AWS::DynamoDB::Table\n    Properties:\n";

Tree name_of(const std::string& yaml_value, const std::string& head = "") {
  return requests(head + table_of_properties + "      TableName: " + yaml_value + "\n")[0][1]["TableName"];
}

}  // namespace

TEST_CASE("a CloudFormation table has its keys, indexes, stream, capacity, TTL and recovery") {
  CHECK(requests(R"(
AWSTemplateFormatVersion: "2010-09-09"
Parameters:
  Stage: {Type: String, Default: dev}
Resources:
  Function: {Type: AWS::Lambda::Function, Properties: {Handler: !GetAtt Nobody.Knows}}
  Carts:
    Type: AWS::DynamoDB::Table
    DeletionPolicy: Retain
    Properties:
      TableName: !Sub "${Stage}-carts"
      AttributeDefinitions:
        - {AttributeName: id, AttributeType: S}
        - {AttributeName: day, AttributeType: N}
      KeySchema:
        - {AttributeName: id, KeyType: HASH}
      ProvisionedThroughput: {ReadCapacityUnits: "5", WriteCapacityUnits: 6}
      GlobalSecondaryIndexes:
        - IndexName: by_day
          KeySchema: [{AttributeName: day, KeyType: HASH}]
          Projection: {ProjectionType: KEYS_ONLY}
          ProvisionedThroughput: {ReadCapacityUnits: 1, WriteCapacityUnits: 1}
          ContributorInsightsSpecification: {Enabled: true}
      StreamSpecification: {StreamViewType: NEW_AND_OLD_IMAGES}
      SSESpecification: {SSEEnabled: true, SSEType: KMS, KMSMasterKeyId: !GetAtt Key.Arn}
      TimeToLiveSpecification: {AttributeName: ttl, Enabled: true}
      PointInTimeRecoverySpecification: {PointInTimeRecoveryEnabled: "true", RecoveryPeriodInDays: 7}
      DeletionProtectionEnabled: true
      ResourcePolicy: {PolicyDocument: {}}
      Tags: [{Key: stage, Value: !Ref Stage}]
)") == *json::parse_tree(R"([
    ["CreateTable", {"TableName": "dev-carts",
      "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}, {"AttributeName": "day", "AttributeType": "N"}],
      "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
      "Tags": [{"Key": "stage", "Value": "dev"}],
      "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6},
      "GlobalSecondaryIndexes": [{"IndexName": "by_day", "KeySchema": [{"AttributeName": "day", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "KEYS_ONLY"},
        "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}}],
      "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"},
      "SSESpecification": {"Enabled": true}, "DeletionProtectionEnabled": true}],
    ["UpdateTimeToLive", {"TableName": "dev-carts", "TimeToLiveSpecification": {"Enabled": true, "AttributeName": "ttl"}}],
    ["UpdateContinuousBackups", {"TableName": "dev-carts",
      "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": true, "RecoveryPeriodInDays": 7}}]])"));
}

TEST_CASE("CloudFormation's functions come to what they come to there") {
  CHECK(name_of("!Ref AWS::NoValue") == "Carts");  // as its resource is called
  CHECK(name_of("!Join ['-', [a, !Ref 'AWS::Region', !Ref Carts]]") == "a-us-east-1-Carts");
  CHECK(name_of("!Sub ['${AWS::AccountId}.${x}.${!y}', {x: !Select [1, !Split [',', 'a,b']]}]") ==
        "000000000000.b.${y}");
  CHECK(name_of("!FindInMap [Stages, !Ref 'AWS::Region', Name]",
                "Mappings: {Stages: {us-east-1: {Name: east}}}\n") == "east");
  CHECK(name_of("!Select [1, !Ref Names]",
                "Parameters: {Names: {Type: CommaDelimitedList, Default: 'a,b'}}\n") == "b");
  const std::string conditions =
      "Conditions:\n"
      "  Dev: !Equals [!Ref Stage, dev]\n"
      "  Both: !And [!Condition Dev, !Not [!Equals [a, b]]]\n"
      "  Neither: !Or [!Not [!Condition Both], !Equals [a, b]]\n"
      "Parameters: {Stage: {Type: String, Default: dev}}\n";
  CHECK(name_of("!If [Both, yes-it-is, no]", conditions) == "yes-it-is");
  CHECK(name_of("!If [Neither, yes, no-it-is-not]", conditions) == "no-it-is-not");
  // The long form, and JSON.
  CHECK(requests(R"({"Resources":{"T":{"Type":"AWS::DynamoDB::Table","Properties":{
                    "TableName":{"Fn::Join":["",["x",{"Ref":"AWS::Partition"}]]}}}}})",
                 "t.json")[0][1]["TableName"] == "xaws");
}

TEST_CASE("a parameter without Default is given a value, and one with Default another") {
  const std::string text = "Parameters: {A: {Type: String}, B: {Type: String, Default: b}}\n" +
                           table_of_properties + "      TableName: !Sub '${A}-${B}'\n";
  CHECK(
      problem(text) ==
      "t.yaml: Resources.Carts: the parameter A has no Default: --schema-parameter A=VALUE gives it a value");
  CHECK(requests(text, "t.yaml", {.parameters = {{"A", "x"}, {"B", "y"}}})[0][1]["TableName"] == "x-y");
}

TEST_CASE("a resource whose condition does not hold makes no table") {
  const auto tables = read(R"(
Conditions: {Never: !Equals [a, b], Ever: !Equals [a, a]}
Resources:
  A: {Type: AWS::DynamoDB::Table, Condition: Never, Properties: {TableName: a}}
  B: {Type: AWS::DynamoDB::Table, Condition: Ever, Properties: {TableName: b}}
)");
  REQUIRE(tables);
  REQUIRE(tables->size() == 1);
  CHECK(tables->front().table == "b");
}

TEST_CASE("a global table has replicas in the other regions, and of its own replica the settings") {
  CHECK(requests(R"(
Resources:
  T:
    Type: AWS::DynamoDB::GlobalTable
    Properties:
      TableName: t
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions: [{AttributeName: id, AttributeType: S}]
      KeySchema: [{AttributeName: id, KeyType: HASH}]
      StreamSpecification: {StreamViewType: NEW_AND_OLD_IMAGES}
      TimeToLiveSpecification: {AttributeName: ttl, Enabled: true}
      Replicas:
        - {Region: us-east-1, PointInTimeRecoverySpecification: {PointInTimeRecoveryEnabled: true}}
        - {Region: eu-west-1, SSESpecification: {KMSMasterKeyId: !GetAtt Key.Arn}}
)") == *json::parse_tree(R"([
    ["CreateTable", {"TableName": "t", "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
      "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}], "BillingMode": "PAY_PER_REQUEST",
      "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"}}],
    ["UpdateTimeToLive", {"TableName": "t", "TimeToLiveSpecification": {"Enabled": true, "AttributeName": "ttl"}}],
    ["UpdateContinuousBackups", {"TableName": "t", "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": true}}],
    ["UpdateTable", {"TableName": "t", "ReplicaUpdates": [{"Create": {"RegionName": "eu-west-1"}}]}]])"));
}

TEST_CASE("SAM's simple table is keyed by an id, on demand, unless it says otherwise") {
  CHECK(
      requests(
          "Transform: AWS::Serverless-2016-10-31\nResources: {T: {Type: AWS::Serverless::SimpleTable}}\n") ==
      *json::parse_tree(R"([["CreateTable", {"TableName": "T",
          "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
          "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}], "BillingMode": "PAY_PER_REQUEST"}]])"));
  const Tree given = requests(
      "Resources: {T: {Type: AWS::Serverless::SimpleTable, Properties: {PrimaryKey: {Name: n, Type: Number}, "
      "ProvisionedThroughput: {ReadCapacityUnits: 2, WriteCapacityUnits: 3}, Tags: {a: b}}}}\n");
  CHECK(given[0][1]["AttributeDefinitions"][0]["AttributeType"] == "N");
  CHECK(given[0][1]["ProvisionedThroughput"]["WriteCapacityUnits"] == 3);
  CHECK(given[0][1]["Tags"] == *json::parse_tree(R"([{"Key":"a","Value":"b"}])"));
}

TEST_CASE("a Terraform plan's tables are those of all its modules") {
  const auto tables = read(R"({"format_version":"1.2","planned_values":{"root_module":{
    "resources":[
      {"address":"aws_sqs_queue.q","mode":"managed","type":"aws_sqs_queue","values":{"name":"q"}},
      {"address":"data.aws_dynamodb_table.old","mode":"data","type":"aws_dynamodb_table","values":{"name":"old"}},
      {"address":"aws_dynamodb_table.carts","mode":"managed","type":"aws_dynamodb_table","values":{
        "name":"carts","billing_mode":"PAY_PER_REQUEST","hash_key":"id","range_key":null,"read_capacity":null,
        "attribute":[{"name":"id","type":"S"},{"name":"day","type":"N"}],
        "global_secondary_index":[{"name":"by_day","hash_key":"day","range_key":"","projection_type":"INCLUDE",
                                   "non_key_attributes":["a"],"read_capacity":null,"write_capacity":null}],
        "local_secondary_index":[],"stream_enabled":true,"stream_view_type":"NEW_IMAGE",
        "ttl":[{"attribute_name":"ttl","enabled":true}],"point_in_time_recovery":[{"enabled":true}],
        "server_side_encryption":[],"tags":{"a":"b"},"tags_all":{"a":"b"},"replica":[{"region_name":"eu-west-1"}]}}],
    "child_modules":[{"resources":[
      {"address":"module.m.aws_dynamodb_table.t","mode":"managed","type":"aws_dynamodb_table","values":{
        "name":"t","hash_key":"p","range_key":"s","read_capacity":2,"write_capacity":3,
        "attribute":[{"name":"p","type":"S"},{"name":"s","type":"B"},{"name":"o","type":"S"}],
        "local_secondary_index":[{"name":"l","range_key":"o","projection_type":"ALL","non_key_attributes":null}],
        "stream_enabled":false,"ttl":[{"attribute_name":"","enabled":false}]}}]}]}}})",
                           "plan.json");
  REQUIRE(tables);
  REQUIRE(tables->size() == 2);
  const TableSchema& carts = (*tables)[0];
  REQUIRE(carts.requests.size() == 4);
  CHECK(carts.requests[0].body == *json::parse_tree(R"({"TableName":"carts",
    "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
    "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"},{"AttributeName":"day","AttributeType":"N"}],
    "BillingMode":"PAY_PER_REQUEST",
    "GlobalSecondaryIndexes":[{"IndexName":"by_day","KeySchema":[{"AttributeName":"day","KeyType":"HASH"}],
      "Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["a"]}}],
    "StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"},"Tags":[{"Key":"a","Value":"b"}]})"));
  CHECK(carts.requests[1].operation == "UpdateTimeToLive");
  CHECK(carts.requests[2].operation == "UpdateContinuousBackups");
  CHECK(carts.requests[3].body["ReplicaUpdates"][0]["Create"]["RegionName"] == "eu-west-1");
  const TableSchema& other = (*tables)[1];
  REQUIRE(other.requests.size() == 1);
  CHECK(other.requests[0].body["ProvisionedThroughput"]["WriteCapacityUnits"] == 3);
  CHECK(other.requests[0].body["LocalSecondaryIndexes"][0]["KeySchema"] ==
        *json::parse_tree(
            R"([{"AttributeName":"p","KeyType":"HASH"},{"AttributeName":"o","KeyType":"RANGE"}])"));
}

TEST_CASE("what describe-table prints makes the same table, with what stands beside it") {
  CHECK(
      requests(
          R"({"Table":{"TableName":"t","TableStatus":"ACTIVE","ItemCount":3,"TableArn":"arn:…","TableId":"x",
    "CreationDateTime":1.5,"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
    "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
    "ProvisionedThroughput":{"NumberOfDecreasesToday":0,"ReadCapacityUnits":0,"WriteCapacityUnits":0},
    "BillingModeSummary":{"BillingMode":"PAY_PER_REQUEST","LastUpdateToPayPerRequestDateTime":1.5},
    "GlobalSecondaryIndexes":[{"IndexName":"i","IndexStatus":"ACTIVE","ItemCount":0,
      "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"},
      "ProvisionedThroughput":{"ReadCapacityUnits":0,"WriteCapacityUnits":0}}],
    "SSEDescription":{"Status":"ENABLED","SSEType":"KMS"},"TableClassSummary":{"TableClass":"STANDARD"}},
    "TimeToLiveDescription":{"TimeToLiveStatus":"ENABLED","AttributeName":"ttl"},
    "ContributorInsightsSummaries":[
      {"TableName":"t","ContributorInsightsStatus":"ENABLED","ContributorInsightsMode":"THROTTLED_KEYS"},
      {"TableName":"t","IndexName":"i","ContributorInsightsStatus":"ENABLING"},
      {"TableName":"t","IndexName":"j","ContributorInsightsStatus":"DISABLING"}]})",
          "t.json") == *json::parse_tree(R"([
    ["CreateTable",{"TableName":"t","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
      "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST",
      "GlobalSecondaryIndexes":[{"IndexName":"i","KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
        "Projection":{"ProjectionType":"ALL"}}],"TableClass":"STANDARD","SSESpecification":{"Enabled":true}}],
    ["UpdateTimeToLive",{"TableName":"t","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"ttl"}}],
    ["UpdateContributorInsights",{"TableName":"t","ContributorInsightsAction":"ENABLE",
      "ContributorInsightsMode":"THROTTLED_KEYS"}],
    ["UpdateContributorInsights",{"TableName":"t","ContributorInsightsAction":"ENABLE","IndexName":"i"}]])"));
  const std::string plain = R"({"TableName":"a","KeySchema":[]})";
  CHECK(read("[" + plain + "," + plain + "]", "t.json")->size() == 2);
  CHECK(read(R"({"Tables":[)" + plain + "]}", "t.json")->size() == 1);
}

TEST_CASE("vector indexes are made as describe-table prints them, without what they have come to") {
  CHECK(requests(R"({"Table":{"TableName":"t","KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
    "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
    "BillingModeSummary":{"BillingMode":"PAY_PER_REQUEST"},
    "VectorIndexes":[{"IndexName":"v","IndexStatus":"ACTIVE","IndexSizeBytes":9,"ItemCount":1,"IndexArn":"arn:…",
      "VectorAttribute":{"AttributeName":"v"},"Projection":{"ProjectionType":"ALL"},"Dimensions":3,
      "SearchSchema":[{"AttributeName":"id","SearchSchemaElementType":"INLINE_FILTER"}],
      "DistanceFunction":"COSINE"}]}})",
                 "t.json") == *json::parse_tree(R"([
    ["CreateTable",{"TableName":"t","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
      "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST",
      "VectorIndexes":[{"IndexName":"v","VectorAttribute":{"AttributeName":"v"},
        "SearchSchema":[{"AttributeName":"id","SearchSchemaElementType":"INLINE_FILTER"}],
        "Projection":{"ProjectionType":"ALL"},"Dimensions":3,"DistanceFunction":"COSINE"}]}]])"));
}

TEST_CASE("a directory's files are read by name, and those of other kinds are passed by") {
  const Files files;
  files.write("b.json", R"({"TableName":"second","KeySchema":[]})");
  files.write("a.yml", table_of_properties + "      TableName: first\n");
  files.write("package.json", R"({"name":"x"})");
  files.write("notes.txt", "{");
  const auto tables = schemas::read_schema_files(files.path.string(), {});
  REQUIRE(tables);
  REQUIRE(tables->size() == 2);
  CHECK((*tables)[0].table == "first");
  CHECK((*tables)[1].table == "second");
}

TEST_CASE("what is wrong with a file is said, with its name") {
  CHECK(problem("a: [", "t.yaml") == "t.yaml: line 1: end of sequence flow not found");
  CHECK(problem("{\"a\": 1}", "t.json") ==
        "t.json defines no tables: it should be a CloudFormation template, `terraform show -json`, or what "
        "describe-table prints");
  CHECK(problem(table_of_properties + "      TableName: !Ref Nobody\n") ==
        "t.yaml: Resources.Carts: it refers to Nobody, which the template does not have");
  CHECK(problem(table_of_properties + "      TableName: !GetAtt A.B\n") ==
        "t.yaml: Resources.Carts: it takes [\"A\",\"B\"] of another resource, which there is none of here: "
        "give the "
        "value itself");
  CHECK(problem(table_of_properties + "      TableName: !ImportValue x\n") ==
        "t.yaml: Resources.Carts: Fn::ImportValue is none of the functions that are known here");
  CHECK(problem(R"({"values":{"root_module":{"resources":[{"address":"aws_dynamodb_table.t","mode":"managed",
                   "type":"aws_dynamodb_table","values":{"hash_key":"id"}}]}}})",
                "t.json") ==
        "t.json: aws_dynamodb_table.t has no name before it is applied: show the state after it, or give it "
        "a name");
  CHECK(schemas::read_schema_files("/nonexistent.yaml", {}).error() ==
        "/nonexistent.yaml: No such file or directory");
  const Files nothing;
  CHECK(schemas::read_schema_files(nothing.path.string(), {}).error() ==
        nothing.path.string() + " has no file that defines tables");
}

TEST_CASE("what refers to itself, is nested without end, or stands for too much is refused") {
  CHECK(
      problem("Conditions: {C: !Condition C}\n" + table_of_properties + "      TableName: !If [C, a, b]\n") ==
      "t.yaml: Resources.Carts: its functions are nested too deeply, or refer to themselves");
  std::string deep = "a: ";
  for (int i = 0; i < 200; ++i) deep += "[";
  for (int i = 0; i < 200; ++i) deep += "]";
  CHECK(schemas::parse_yaml(deep).error() == "it is nested too deeply");
  std::string laughs = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int k = 0; k < 9; ++k) laughs += "," + before;
    laughs += "]\n";
  }
  CHECK(schemas::parse_yaml(laughs).error() == "its aliases stand for too much");
}

}  // namespace mayfly::testing
