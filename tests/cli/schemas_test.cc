// Tests which requests create the tables that templates, plans and descriptions define.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/schemas/files.h"
#include "cli/schemas/yaml.h"
#include "tests/support/temporary_directory.h"

namespace mayfly::testing {

using json::Tree;
using schemas::SchemaContext;
using schemas::TableSchema;

namespace {

namespace fs = std::filesystem;

struct Files {
  const TemporaryDirectory directory;
  const fs::path path = directory.path();
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << text;
    return (path / name).string();
  }
};

Expected<std::vector<TableSchema>, std::string> read(const std::string& text,
                                                     const std::string& name = "t.yaml",
                                                     const SchemaContext& context = {}) {
  const Files files;
  TRY(auto read, schemas::read_schema_files(files.write(name, text), context));
  return std::move(read.tables);
}

// Returns one table's requests: [["CreateTable", {…}], …].
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

// Returns the error without the file's directory.
std::string schema_problem(const std::string& text, const std::string& name = "t.yaml",
                           const SchemaContext& context = {}) {
  const Files files;
  const auto tables = schemas::read_schema_files(files.write(name, text), context);
  REQUIRE_FALSE(tables);
  return tables.error().substr(files.path.string().size() + 1);
}

// The tags of the last table, such as {"stage":"dev"}, and the warnings without the file's directory.
struct Tagged {
  Tree tags = Tree::object();
  std::vector<std::string> warnings;
};
Tagged tags_of(const std::string& text, const SchemaContext& context = {}) {
  const Files files;
  const auto read = schemas::read_schema_files(files.write("t.yaml", text), context);
  if (!read) FAIL(read.error());
  Tagged tagged;
  for (const Tree& tag : read->tables.back().requests.front().body["Tags"])
    tagged.tags[tag["Key"].get<std::string>()] = tag["Value"];
  for (const std::string& warning : read->warnings)
    tagged.warnings.push_back(warning.substr(files.path.string().size() + 1));
  return tagged;
}

const std::string table_of_properties =
    "Resources:\n  Carts:\n    Type: AWS::DynamoDB::Table\n    Properties:\n";

Tree name_of(const std::string& yaml_value, const std::string& head = "") {
  return requests(head + table_of_properties + "      TableName: " + yaml_value + "\n")[0][1]["TableName"];
}

}  // namespace

TEST_CASE("a CloudFormation table is created with all its supported settings") {
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

TEST_CASE("intrinsic functions evaluate as in CloudFormation") {
  CHECK(name_of("!Ref AWS::NoValue") == "Carts");  // the table is named after the resource
  CHECK(name_of("!Join ['-', [a, !Ref 'AWS::Region']]") == "a-us-east-1");
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
  // The long form in JSON has the same meaning.
  CHECK(requests(R"({"Resources":{"T":{"Type":"AWS::DynamoDB::Table","Properties":{
                    "TableName":{"Fn::Join":["",["x",{"Ref":"AWS::Partition"}]]}}}}})",
                 "t.json")[0][1]["TableName"] == "xaws");
}

TEST_CASE("a condition that other conditions refer to twice is evaluated only once") {
  std::string conditions = "Conditions:\n  C0: !Equals [a, a]\n";
  const auto named = [](int number) { return "!Condition C" + std::to_string(number); };
  for (int number = 1; number <= 40; ++number)
    conditions +=
        "  C" + std::to_string(number) + ": !And [" + named(number - 1) + ", " + named(number - 1) + "]\n";
  CHECK(name_of("!If [C40, yes-it-is, no]", conditions) == "yes-it-is");
}

TEST_CASE("a parameter can be given a value whether or not it has a Default") {
  const std::string text = "Parameters: {A: {Type: String}, B: {Type: String, Default: b}}\n" +
                           table_of_properties + "      TableName: !Sub '${A}-${B}'\n";
  CHECK(schema_problem(text) ==
        "t.yaml: Resources.Carts.TableName: parameter A has no Default. Give it a value: --schema-parameter "
        "A=VALUE");
  CHECK(requests(text, "t.yaml", {.parameters = {{"A", "x"}, {"B", "y"}}})[0][1]["TableName"] == "x-y");
}

TEST_CASE("a resource whose condition is false creates no table") {
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

TEST_CASE("a template that creates no table because all conditions are false is an error") {
  CHECK(
      schema_problem("Parameters: {Stage: {Type: String, Default: dev}}\n"
                     "Conditions: {Prod: !Equals [!Ref Stage, prod]}\n"
                     "Resources:\n  A: {Type: AWS::DynamoDB::Table, Condition: Prod}\n"
                     "  B: {Type: AWS::DynamoDB::Table, Condition: Prod}\n") ==
      "t.yaml: no table is created, because the Condition of each table is false: A, B. Set parameters with "
      "--schema-parameter NAME=VALUE");
}

TEST_CASE(
    "a global table gets the settings of the configured region's replica and replicas in its other regions") {
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

TEST_CASE("a SAM simple table defaults to a key named id and on-demand capacity") {
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

TEST_CASE("the tables in all modules of a Terraform plan are created") {
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

TEST_CASE("the output of describe-table recreates the table with its TTL and contributor insights") {
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

TEST_CASE("vector indexes are recreated from the output of describe-table without their status") {
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

TEST_CASE("a directory's schema files are read in name order and its other files are ignored") {
  const Files files;
  files.write("b.json", R"({"TableName":"second","KeySchema":[]})");
  files.write("a.yml", table_of_properties + "      TableName: first\n");
  files.write("package.json", R"({"name":"x"})");
  files.write("notes.txt", "{");
  const auto read = schemas::read_schema_files(files.path.string(), {});
  REQUIRE(read);
  REQUIRE(read->tables.size() == 2);
  CHECK(read->tables[0].table == "first");
  CHECK(read->tables[1].table == "second");
  CHECK(read->warnings.empty());
}

TEST_CASE("an unreadable file in a directory causes an error with --schema-strict and a warning without it") {
  const Files files;
  const std::string bad = files.write("a.yml", "a: ]");
  files.write("b.yml", table_of_properties + "      TableName: second\n");
  const auto read = schemas::read_schema_files(files.path.string(), {});
  REQUIRE(read);
  REQUIRE(read->tables.size() == 1);
  CHECK(read->tables[0].table == "second");
  REQUIRE(read->warnings.size() == 1);
  CHECK(read->warnings[0] == "skipped " + bad + ": line 1: did not find expected node content");
  const auto strict = schemas::read_schema_files(files.path.string(), {.strict = true});
  REQUIRE_FALSE(strict);
  CHECK(strict.error() == bad + ": line 1: did not find expected node content");
  fs::remove(files.path / "b.yml");
  CHECK(schemas::read_schema_files(files.path.string(), {}).error() ==
        files.path.string() + " has no file that defines tables; " + read->warnings[0]);
}

TEST_CASE("a CDK assembly's templates are read including those of nested assemblies") {
  const Files files;
  const auto assembly = [&](const std::string& directory, const std::string& table) {
    fs::create_directories(files.path / directory);
    files.write(directory + "/cdk.out", R"({"version":"38.0.0"})");
    files.write(directory + "/manifest.json", R"({"version":"38.0.0","artifacts":{}})");
    files.write(directory + "/Stack.template.json",
                R"({"Resources":{"T":{"Type":"AWS::DynamoDB::Table","Properties":{"TableName":")" + table +
                    R"("}}}})");
    files.write(directory + "/tree.json", "{");
  };
  assembly(".", "outer");
  assembly("assembly-Prod", "inner");
  assembly("asset.1", "none");
  const auto read = schemas::read_schema_files(files.path.string(), {});
  REQUIRE(read);
  REQUIRE(read->tables.size() == 2);
  CHECK(read->tables[0].table == "outer");
  CHECK(read->tables[1].table == "inner");
  std::string deep = ".";
  for (int i = 0; i < 9; ++i) assembly(deep += "/assembly-x", "t" + std::to_string(i));
  CHECK(schemas::read_schema_files(files.path.string(), {})
            .error()
            .ends_with("CDK assemblies are nested more than 8 deep"));
}

TEST_CASE("files and directories that are too large are rejected") {
  const Files files;
  const std::string large = files.write("a.json", "{}");
  fs::resize_file(large, (64U << 20) + 1);
  CHECK(schemas::read_schema_files(large, {}).error() == large + " is larger than 64 MB");
  const Files many;
  for (int i = 0; i < 10'001; ++i) many.write(std::to_string(i), "");
  CHECK(schemas::read_schema_files(many.path.string(), {}).error() ==
        many.path.string() + " has more than 10,000 files");
}

TEST_CASE("an error in a schema file names the file and the resource and suggests a fix") {
  CHECK(schema_problem("a: ]", "t.yaml") == "t.yaml: line 1: did not find expected node content");
  CHECK(schema_problem("{\"a\": 1}", "t.json") ==
        "t.json defines no tables. It must be a CloudFormation template, a NoSQL Workbench model, or the "
        "output "
        "of `terraform show -json` or `aws dynamodb describe-table`");
  CHECK(schema_problem(table_of_properties + "      TableName: !Ref Nobody\n") ==
        "t.yaml: Resources.Carts.TableName: 'Nobody' is neither a parameter nor a resource of the template. "
        "Give it a value: --schema-parameter Nobody=VALUE");
  CHECK(schema_problem(table_of_properties + "      TableName: !GetAtt A.B\n") ==
        "t.yaml: Resources.Carts.TableName: A.B is not known here. Give it a value: --schema-parameter "
        "A.B=VALUE");
  CHECK(schema_problem(table_of_properties + "      TableName: !ImportValue x y\n") ==
        "t.yaml: Resources.Carts.TableName: the import x y is not known here. Give it a value: "
        "--schema-parameter 'x y=VALUE'");
  CHECK(
      schema_problem(table_of_properties + "      TableName: !Sub 'a-{{resolve:ssm:/${AWS::Region}/t}}'\n") ==
      "t.yaml: Resources.Carts.TableName: {{resolve:ssm:/us-east-1/t}} is not known here. Give it a value: "
      "--schema-parameter resolve:ssm:/us-east-1/t=VALUE");
  CHECK(schema_problem(table_of_properties + "      TableName: !Join [a]\n") ==
        "t.yaml: Resources.Carts.TableName: Fn::Join has arguments that CloudFormation does not accept");
  CHECK(schema_problem(table_of_properties + "      TableName: {'Fn::Transform': {Name: X}}\n") ==
        "t.yaml: Resources.Carts.TableName: Fn::Transform is not supported here. Write the value into the "
        "template");
  CHECK(
      schema_problem("Parameters: {P: {Type: 'AWS::SSM::Parameter::Value<String>', Default: /a}}\n" +
                     table_of_properties + "      TableName: !Ref P\n") ==
      "t.yaml: Resources.Carts.TableName: parameter P takes its value from Parameter Store. Give it a value: "
      "--schema-parameter P=VALUE");
  CHECK(schema_problem(
            R"({"values":{"root_module":{"resources":[{"address":"aws_dynamodb_table.t","mode":"managed",
                   "type":"aws_dynamodb_table","values":{"hash_key":"id"}}]}}})",
            "t.json") ==
        "t.json: aws_dynamodb_table.t has no name before the plan is applied. Name the table, or pass the "
        "state after the plan is applied");
  CHECK(schemas::read_schema_files("/nonexistent.yaml", {}).error() ==
        "/nonexistent.yaml: No such file or directory");
  const Files nothing;
  CHECK(schemas::read_schema_files(nothing.path.string(), {}).error() ==
        nothing.path.string() + " has no file that defines tables");
}

TEST_CASE("an error about a file that another program must prepare shows that program's command") {
  const std::string serverless =
      " is a Serverless Framework configuration. Run 'sls package' and pass the template that it writes: "
      "--schema .serverless/cloudformation-template-update-stack.json";
  CHECK(schema_problem("service: shop\nprovider: {name: aws}\nresources: {Resources: {}}\n", "a.yml") ==
        "a.yml" + serverless);
  CHECK(schema_problem("service: shop\nresources: [{Resources: {}}]\n", "b.yml") == "b.yml" + serverless);
  CHECK(schema_problem("service: shop\ncustom: &a {x: 1}\nprovider: *a\n", "serverless.yml") ==
        "serverless.yml" + serverless);
  CHECK(schema_problem(table_of_properties + "      TableName: ${self:service}-carts\n") ==
        "t.yaml: Resources.Carts.TableName: '${self:service}-carts' has a variable of the Serverless "
        "Framework. "
        "Run 'sls package' and pass the template that it writes: "
        "--schema .serverless/cloudformation-template-update-stack.json");
  CHECK(schema_problem("resource \"aws_dynamodb_table\" \"t\" {}", "main.tf") ==
        "main.tf is a Terraform configuration. Run 'terraform show -json > tables.json' (for a plan: "
        "'terraform show -json PLAN') and pass that file: --schema tables.json");
  CHECK(schema_problem(R"({"version":4,"terraform_version":"1.9.0","lineage":"x","resources":[]})",
                       "terraform.tfstate")
            .starts_with("terraform.tfstate is a Terraform state file. Run"));
  CHECK(schema_problem("Type: AWS::DynamoDB::Table\nProperties: {TableName: a}\n") ==
        "t.yaml is one resource of a template. Pass the whole template, which lists the resource under "
        "Resources");
}

TEST_CASE("a template whose functions expand without limit is rejected") {
  CHECK(schema_problem("Conditions: {C: !Condition C}\n" + table_of_properties +
                       "      TableName: !If [C, a, b]\n") ==
        "t.yaml: Resources.Carts.TableName: functions are nested too deeply or refer to each other in a "
        "cycle");
  CHECK(schema_problem(table_of_properties + "      TableName: !Ref Carts\n") ==
        "t.yaml: Resources.Carts.TableName: functions are nested too deeply or refer to each other in a "
        "cycle");
  const std::string too_much = "its functions and loops expand to too many values";
  // Each level doubles the value of the level inside it.
  std::string nested = "x";
  for (int i = 0; i < 45; ++i) nested = "!Sub ['${a}${a}', {a: " + nested + "}]";
  CHECK(schema_problem(table_of_properties + "      TableName: " + nested + "\n") ==
        "t.yaml: Resources.Carts.TableName: " + too_much);
  std::string values = "[a";
  for (int i = 0; i < 99; ++i) values += ",a";
  const std::string table = "T: {Type: AWS::DynamoDB::Table}";
  std::string body = "{" + table + "}";
  for (int i = 0; i < 4; ++i) {
    const std::string name = "L" + std::to_string(i);
    body = "{'Fn::ForEach::" + name + "': [" + name + ", " + values + "], " + body + "]}";
  }
  CHECK(schema_problem("Resources: " + body + "\n") == "t.yaml: Resources: more than 10,000 entries");
  const auto empty = body.find("{" + table + "}");
  body.replace(empty, table.size() + 2, "{}");
  CHECK(schema_problem("Resources: " + body + "\n") == "t.yaml: Resources: " + too_much);
  // A long string is printed again at each level.
  std::string printed = "[" + std::string(100'000, 'x') + "]";
  for (int i = 0; i < 25; ++i) printed = "{'Fn::ToJsonString': [" + printed + "]}";
  CHECK(schema_problem(table_of_properties + "      TableName: " + printed + "\n") ==
        "t.yaml: Resources.Carts.TableName: " + too_much);
  // A variable with a long value is used many times.
  std::string many;
  for (int i = 0; i < 10'000; ++i) many += "${V}";
  CHECK(schema_problem(R"({"Resources":{"Fn::ForEach::L":["V",[")" + std::string(10'000, 'x') + R"("],{")" +
                           many + R"(":{"Type":"AWS::DynamoDB::Table"}}]}})",
                       "t.json") == "t.json: Resources: " + too_much);
}

// --- how CloudFormation converts values

TEST_CASE("scalars are converted to the types of their properties") {
  const Tree made = requests(table_of_properties + R"(
      TableName: 2024
      AttributeDefinitions: [{AttributeName: 1, AttributeType: N}, {AttributeName: yes, AttributeType: S}]
      KeySchema: [{AttributeName: 1, KeyType: HASH}]
      ProvisionedThroughput: {ReadCapacityUnits: "5", WriteCapacityUnits: 6.0}
      DeletionProtectionEnabled: "false"
      StreamSpecification: {StreamViewType: NEW_IMAGE}
      TimeToLiveSpecification: {AttributeName: 7, Enabled: "True"}
      Tags:
        - {Key: CostCenter, Value: 4711}
        - {Key: Archived, Value: true}
        - {Key: Ratio, Value: 1.5}
        - {Key: 12, Value: 1.0}
)");
  CHECK(made == *json::parse_tree(R"([
    ["CreateTable", {"TableName": "2024",
      "AttributeDefinitions": [{"AttributeName": "1", "AttributeType": "N"},
                               {"AttributeName": "true", "AttributeType": "S"}],
      "KeySchema": [{"AttributeName": "1", "KeyType": "HASH"}],
      "Tags": [{"Key": "CostCenter", "Value": "4711"}, {"Key": "Archived", "Value": "true"},
               {"Key": "Ratio", "Value": "1.5"}, {"Key": "12", "Value": "1.0"}],
      "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6},
      "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_IMAGE"},
      "DeletionProtectionEnabled": false}],
    ["UpdateTimeToLive", {"TableName": "2024", "TimeToLiveSpecification": {"Enabled": true, "AttributeName": "7"}}]])"));
  CHECK(
      tags_of(
          "Resources: {T: {Type: AWS::Serverless::SimpleTable, Properties: {Tags: {Count: 0, Live: no}}}}\n")
          .tags == *json::parse_tree(R"({"Count": "0", "Live": "false"})"));
}

TEST_CASE("unknown values in tags become placeholders and cause one warning per file") {
  const std::string text = R"(
Parameters: {Owner: {Type: String}}
Resources:
  Role: {Type: AWS::IAM::Role}
  T:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: t
      SSESpecification: !If [Always, {SSEEnabled: true, KMSMasterKeyId: !GetAtt Key.Arn}, !Ref AWS::NoValue]
      ResourcePolicy: {PolicyDocument: !ImportValue policy}
      Tags:
        - {Key: role, Value: !GetAtt Role.Arn}
        - {Key: import, Value: !Sub 'x-${Owner}'}
        - {Key: secret, Value: '{{resolve:ssm:/a b}}'}
Conditions: {Always: !Equals [a, a]}
)";
  const Tagged unknown = tags_of(text);
  CHECK(unknown.tags == *json::parse_tree(R"({"role": "unknown:Role.Arn", "import": "x-unknown:Owner",
                                              "secret": "unknown:resolve:ssm:/a b"})"));
  REQUIRE(unknown.warnings.size() == 1);
  CHECK(unknown.warnings[0] ==
        "t.yaml: tags have placeholders for unknown values: Owner, Role.Arn, resolve:ssm:/a b. "
        "Set them with --schema-parameter NAME=VALUE");
  const Tagged known =
      tags_of(text, {.parameters = {{"Owner", "me"}, {"Role.Arn", "arn:x"}, {"resolve:ssm:/a b", "s"}}});
  CHECK(known.tags == *json::parse_tree(R"({"role": "arn:x", "import": "x-me", "secret": "s"})"));
  CHECK(known.warnings.empty());
}

TEST_CASE("Ref returns a table's name and GetAtt returns its ARN") {
  const Tagged tagged = tags_of(R"(
Resources:
  Base: {Type: AWS::DynamoDB::Table, Properties: {TableName: !Sub 'base-${AWS::Region}'}}
  Copy:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: copy
      Tags:
        - {Key: name, Value: !Ref Base}
        - {Key: arn, Value: !GetAtt Base.Arn}
        - {Key: sub, Value: !Sub '${Base.Arn}/index'}
        - {Key: stack, Value: !Ref 'AWS::StackId'}
)");
  CHECK(tagged.tags == *json::parse_tree(R"({"name": "base-us-east-1",
    "arn": "arn:aws:dynamodb:us-east-1:000000000000:table/base-us-east-1",
    "sub": "arn:aws:dynamodb:us-east-1:000000000000:table/base-us-east-1/index",
    "stack": "arn:aws:cloudformation:us-east-1:000000000000:stack/mayfly/00000000-0000-0000-0000-000000000000"})"));
  CHECK(tagged.warnings.empty());
}

TEST_CASE("the option --schema-parameter gives values to imports and to list parameters") {
  CHECK(requests(table_of_properties + "      TableName: !ImportValue shared-name\n", "t.yaml",
                 {.parameters = {{"shared-name", "orders"}}})[0][1]["TableName"] == "orders");
  const auto parameters = schemas::schema_parameters({"Names=a, b", "c", "Other=x=y"});
  REQUIRE(parameters);
  CHECK(*parameters == std::map<std::string, std::string>{{"Names", "a, b,c"}, {"Other", "x=y"}});
  CHECK(requests("Parameters: {Names: {Type: CommaDelimitedList}}\n" + table_of_properties +
                     "      TableName: !Join ['.', !Ref Names]\n",
                 "t.yaml", {.parameters = *parameters})[0][1]["TableName"] == "a.b.c");
  CHECK(schemas::schema_parameters({"a"}).error() == "--schema-parameter must be NAME=VALUE, got 'a'");
  CHECK(schemas::schema_parameters({"=a"}).error() == "--schema-parameter must be NAME=VALUE, got '=a'");
}

TEST_CASE("Fn::ForEach creates resources and properties and conditions") {
  const auto made = read(R"(
Transform: AWS::LanguageExtensions
Parameters: {Stages: {Type: CommaDelimitedList, Default: 'dev,prod'}}
Mappings: {Boards: {dev: {Names: [points, top-scores]}, prod: {Names: [points]}}}
Conditions:
  Fn::ForEach::Wanted: [S, !Ref Stages, {'Is${S}': !Equals [!Ref S, prod]}]
Resources:
  Fn::ForEach::Stages:
    - Stage
    - !Ref Stages
    - Fn::ForEach::Boards:
        - Board
        - !FindInMap [Boards, !Ref Stage, Names]
        - Table${Stage}&{Board}:
            Type: AWS::DynamoDB::Table
            Properties:
              TableName: !Sub '${Stage}.${Board}-${AWS::Region}'
              TableClass: !If ['Is${Stage}', STANDARD, STANDARD_INFREQUENT_ACCESS]
              Tags: [{Key: '${Board}', Value: !Ref Board}, {Key: first, Value: !Ref Tabledevpoints}]
)");
  if (!made) FAIL(made.error());
  REQUIRE(made->size() == 3);
  CHECK((*made)[0].table == "dev.points-us-east-1");
  CHECK((*made)[1].where.ends_with("Resources.Tabledevtopscores"));
  CHECK((*made)[1].requests[0].body == *json::parse_tree(R"({"TableName": "dev.top-scores-us-east-1",
    "TableClass": "STANDARD_INFREQUENT_ACCESS",
    "Tags": [{"Key": "top-scores", "Value": "top-scores"}, {"Key": "first", "Value": "dev.points-us-east-1"}]})"));
  CHECK((*made)[2].requests[0].body["TableClass"] == "STANDARD");
  CHECK(schema_problem("Resources: {'Fn::ForEach::X': [A, b, {}]}\n") ==
        "t.yaml: Resources: Fn::ForEach::X: Fn::ForEach has arguments that CloudFormation does not accept");
}

TEST_CASE("the functions of AWS::LanguageExtensions are evaluated") {
  const Tagged tagged = tags_of(R"(
Mappings: {M: {a: {b: c}}}
Resources:
  T:
    Type: AWS::DynamoDB::Table
    Properties:
      Tags:
        - {Key: json, Value: {'Fn::ToJsonString': {a: 1, b: !Ref AWS::NoValue, c: [!Ref AWS::Region, true]}}}
        - {Key: length, Value: {'Fn::Length': [a, b, c]}}
        - {Key: found, Value: {'Fn::FindInMap': [M, a, b, {DefaultValue: d}]}}
        - {Key: default, Value: {'Fn::FindInMap': [M, x, b, {DefaultValue: !Ref AWS::Region}]}}
        - {Key: base64, Value: {'Fn::Base64': abc}}
)");
  CHECK(tagged.tags == *json::parse_tree(R"({"json": "{\"a\":1,\"c\":[\"us-east-1\",true]}", "length": "3",
                                             "found": "c", "default": "us-east-1", "base64": "YWJj"})"));
}

TEST_CASE("an auto-scaled global table and its indexes are created with their minimum capacity") {
  const Tree made = requests(R"({"Resources":{"Music":{"Type":"AWS::DynamoDB::GlobalTable","Properties":{
    "TableName":"music","BillingMode":"PROVISIONED",
    "WriteProvisionedThroughputSettings":{"WriteCapacityAutoScalingSettings":{"MinCapacity":"6","MaxCapacity":50}},
    "GlobalSecondaryIndexes":[{"IndexName":"by_g",
      "WriteProvisionedThroughputSettings":{"WriteCapacityAutoScalingSettings":{"MinCapacity":2}}}],
    "Replicas":[
      {"Region":"us-east-1","ReadProvisionedThroughputSettings":{"ReadCapacityUnits":7},
       "GlobalSecondaryIndexes":[{"IndexName":"by_g","ReadProvisionedThroughputSettings":
         {"ReadCapacityAutoScalingSettings":{"MinCapacity":3}}}]},
      {"Region":"eu-west-1"}]}}}})",
                             "t.json");
  CHECK(made[0][1]["ProvisionedThroughput"] ==
        *json::parse_tree(R"({"ReadCapacityUnits": 7, "WriteCapacityUnits": 6})"));
  CHECK(made[0][1]["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"] ==
        *json::parse_tree(R"({"ReadCapacityUnits": 3, "WriteCapacityUnits": 2})"));
  const Tree on_demand = requests(R"({"Resources":{"T":{"Type":"AWS::DynamoDB::GlobalTable","Properties":{
    "BillingMode":"PAY_PER_REQUEST","WriteOnDemandThroughputSettings":{"MaxWriteRequestUnits":9},
    "MultiRegionConsistency":"STRONG","GlobalTableWitnesses":[{"Region":"us-west-2"}],
    "Replicas":[{"Region":"us-east-1","ReadOnDemandThroughputSettings":{"MaxReadRequestUnits":8}},
                {"Region":"us-east-2"}]}}}})",
                                  "t.json");
  CHECK(on_demand[0][1]["OnDemandThroughput"] ==
        *json::parse_tree(R"({"MaxWriteRequestUnits": 9, "MaxReadRequestUnits": 8})"));
  CHECK(on_demand[1] ==
        *json::parse_tree(R"(["UpdateTable", {"TableName": "T", "MultiRegionConsistency": "STRONG",
    "ReplicaUpdates": [{"Create": {"RegionName": "us-east-2"}}],
    "GlobalTableWitnessUpdates": [{"Create": {"RegionName": "us-west-2"}}]}])"));
}

TEST_CASE("a NoSQL Workbench model creates its tables with their items") {
  CHECK(requests(R"({"ModelName":"Desk","DataModel":[{"TableName":"Tickets",
    "KeyAttributes":{"PartitionKey":{"AttributeName":"id","AttributeType":"S"},
                     "SortKey":{"AttributeName":"at","AttributeType":"N"}},
    "NonKeyAttributes":[{"AttributeName":"owner","AttributeType":"S"}],
    "GlobalSecondaryIndexes":[{"IndexName":"by_owner",
      "KeyAttributes":{"PartitionKey":{"AttributeName":"owner","AttributeType":"S"},
                       "SortKey":{"AttributeName":"at","AttributeType":"N"}},
      "Projection":{"ProjectionType":"ALL"}}],
    "TableData":[{"id":{"S":"t-1"},"at":{"N":"1"}},{"id":{"S":"t-2"},"at":{"N":"2"}}],
    "DataAccess":{"MySql":{}},"BillingMode":"PROVISIONED",
    "ProvisionedCapacitySettings":{"ProvisionedThroughput":{"ReadCapacityUnits":6,"WriteCapacityUnits":7}}}]})",
                 "m.json") == *json::parse_tree(R"([
    ["CreateTable", {"TableName": "Tickets",
      "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}, {"AttributeName": "at", "KeyType": "RANGE"}],
      "BillingMode": "PROVISIONED", "ProvisionedThroughput": {"ReadCapacityUnits": 6, "WriteCapacityUnits": 7},
      "GlobalSecondaryIndexes": [{"IndexName": "by_owner", "Projection": {"ProjectionType": "ALL"},
        "KeySchema": [{"AttributeName": "owner", "KeyType": "HASH"}, {"AttributeName": "at", "KeyType": "RANGE"}],
        "ProvisionedThroughput": {"ReadCapacityUnits": 6, "WriteCapacityUnits": 7}}],
      "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"},
        {"AttributeName": "at", "AttributeType": "N"}, {"AttributeName": "owner", "AttributeType": "S"}]}],
    ["PutItem", {"TableName": "Tickets", "Item": {"id": {"S": "t-1"}, "at": {"N": "1"}}}],
    ["PutItem", {"TableName": "Tickets", "Item": {"id": {"S": "t-2"}, "at": {"N": "2"}}}]])"));
  CHECK(requests(R"({"DataModel":[{"TableName":"T"}]})", "m.json")[0][1]["BillingMode"] == "PAY_PER_REQUEST");
  CHECK(schema_problem(R"({"DataModel":[{}]})", "m.json") == "m.json: a table of DataModel has no TableName");
}

// --- YAML

TEST_CASE("plain scalars follow YAML 1.1 and quoted or tagged scalars are text") {
  const auto tree = schemas::parse_yaml(R"(
true: [true, True, TRUE, yes, Yes, YES, on, On, ON]
false: [false, no, No, off, OFF]
nothing: [~, null, Null, NULL, ]
int: [0, 7, -3, +12, 017, 0x1F, 0b101, 1_000, 1:30, -1:30:05, 9223372036854775807]
float: [1.5, -.5, 2., 1_0.5, 6.25e+2]
text: [y, n, N, 1e3, 08, 0o7, 9223372036854775808, 1:75, .inf, .NaN, 2010-09-09, 1.2.3, "5", 'yes', '', 5e1, ., -, +, 0x, 0b]
tagged: [!!str 5, !!int "5", !!float 5, !!bool "yes", !!null "", ! 5, !Ref 5]
)");
  if (!tree) FAIL(tree.error());
  CHECK(*tree == *json::parse_tree(R"({
    "true": [true, true, true, true, true, true, true, true, true], "false": [false, false, false, false, false],
    "nothing": [null, null, null, null],
    "int": [0, 7, -3, 12, 15, 31, 5, 1000, 90, -5405, 9223372036854775807],
    "float": [1.5, -0.5, 2.0, 10.5, 625.0],
    "text": ["y", "n", "N", "1e3", "08", "0o7", "9223372036854775808", "1:75", ".inf", ".NaN", "2010-09-09", "1.2.3",
             "5", "yes", "", "5e1", ".", "-", "+", "0x", "0b"],
    "tagged": ["5", 5, 5.0, true, null, "5", {"Ref": "5"}]})"));
}

TEST_CASE("tagged and anchored block scalars in lists and the short function forms are parsed") {
  const auto tree = schemas::parse_yaml(R"(
- !Sub |
  echo "region: ${AWS::Region}"
- &again |-
  key: value
- !Sub >
  folded
  text
- !GetAtt Carts.Stream.Arn
- !Select [0, !Split [',', 'a,b']]
- !Condition Dev
)");
  if (!tree) FAIL(tree.error());
  CHECK(*tree == *json::parse_tree(R"([{"Fn::Sub": "echo \"region: ${AWS::Region}\"\n"}, "key: value",
    {"Fn::Sub": "folded text\n"}, {"Fn::GetAtt": ["Carts", "Stream.Arn"]},
    {"Fn::Select": [0, {"Fn::Split": [",", "a,b"]}]}, {"Condition": "Dev"}])"));
}

TEST_CASE("an error about YAML that CloudFormation rejects names the line") {
  CHECK(schemas::parse_yaml("a: &x 1\nb: *x\n").error() ==
        "line 2: the alias *x is not supported by CloudFormation. Write the value out");
  CHECK(schemas::parse_yaml("a: 1\n<<: {b: 2}\n").error() ==
        "line 2: the merge key << is not supported by CloudFormation. Write its members out");
  CHECK(*schemas::parse_yaml("'<<': 1\n") == *json::parse_tree(R"({"<<": 1})"));
  CHECK(schemas::parse_yaml("a: !!binary aGk=\n").error() ==
        "line 1: the tag !!binary is not supported by CloudFormation");
  CHECK(schemas::parse_yaml("a: !!set {x}\n").error() ==
        "line 1: the tag !!set is not supported by CloudFormation");
  CHECK(schemas::parse_yaml("a: !!int b\n").error() == "line 1: 'b' is not a valid !!int");
  CHECK(schemas::parse_yaml("? [a]\n: b\n").error() == "line 1: a mapping key must be a scalar");
  CHECK(schemas::parse_yaml("a: \"\xff\"\n").error() == "byte 4: invalid leading UTF-8 octet");
}

TEST_CASE("the last value of a repeated YAML key counts and only the first YAML document is read") {
  CHECK(*schemas::parse_yaml("a: 1\nb: 2\na: 3\n") == *json::parse_tree(R"({"a": 3, "b": 2})"));
  CHECK(*schemas::parse_yaml("a: 1\n---\nb: 2\n") == *json::parse_tree(R"({"a": 1})"));
  CHECK(schemas::parse_yaml("")->is_null());
  CHECK(schemas::parse_yaml("# nothing\n")->is_null());
}

TEST_CASE("YAML is limited in depth and number of values") {
  const auto nested = [](int levels) {
    return "a: " + std::string(static_cast<std::size_t>(levels), '[') +
           std::string(static_cast<std::size_t>(levels), ']');
  };
  CHECK(schemas::parse_yaml(nested(100)));
  CHECK(schemas::parse_yaml(nested(101)).error() == "line 1: nested deeper than 100 levels");
  CHECK(schemas::parse_yaml(nested(100'000)).error().starts_with("line 1: "));
  std::string directives = "# a comment\n";
  for (int i = 0; i < 10; ++i) directives += "%TAG !e" + std::to_string(i) + "! tag:x\n";
  CHECK(schemas::parse_yaml(directives + "---\na: 1\n"));
  CHECK(schemas::parse_yaml(directives + "\n%TAG !x! tag:x\n---\na: 1\n").error() ==
        "more than 10 directives");
  std::string many = "[";
  for (int i = 0; i < 1'000'000; ++i) many += "a,";
  CHECK(schemas::parse_yaml(many + "]").error() == "line 1: more than 1,000,000 values");
}

}  // namespace mayfly::testing
