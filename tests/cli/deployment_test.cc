// Tests which functions and event source mappings deployment descriptions define, and which programs run
// them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli/deployment/code_directories.h"
#include "cli/deployment/programs.h"
#include "cli/deployment/unzip.h"
#include "cli/schemas/files.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/zip_file.h"

namespace mayfly::testing {

using json::Tree;
using schemas::SchemaFiles;

namespace {

namespace fs = std::filesystem;

// A directory in which a build tool has left its files.
struct Project {
  const TemporaryDirectory directory;
  const fs::path path = directory.path();

  std::string write(const std::string& name, const std::string& text) const {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary) << text;
    return (path / name).string();
  }
  // Messages and paths without the project's directory, and with slashes even on Windows.
  std::string shortened(std::string text) const {
    std::replace(text.begin(), text.end(), fs::path::preferred_separator == '/' ? '/' : '\\', '/');
    const std::string begin = path.generic_string() + "/";
    for (auto at = text.find(begin); at != std::string::npos; at = text.find(begin))
      text.erase(at, begin.size());
    return text;
  }
  SchemaFiles read(const std::string& name, const std::map<std::string, std::string>& parameters = {}) const {
    const auto files =
        schemas::read_schema_files((path / name).string(), {.parameters = parameters, .functions = true});
    if (!files) FAIL(files.error());
    return *files;
  }
  std::string problem(const std::string& name) const {
    const auto files = schemas::read_schema_files((path / name).string(), {.functions = true});
    REQUIRE_FALSE(files);
    return shortened(files.error());
  }
};

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

const std::string carts_table = R"(
  Carts:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: carts
      AttributeDefinitions: [{AttributeName: id, AttributeType: S}]
      KeySchema: [{AttributeName: id, KeyType: HASH}]
      BillingMode: PAY_PER_REQUEST
      StreamSpecification: {StreamViewType: NEW_AND_OLD_IMAGES}
)";

// What `sam build` leaves.
const std::string sam_template = R"(
AWSTemplateFormatVersion: "2010-09-09"
Transform: AWS::Serverless-2016-10-31
Globals:
  Function:
    Runtime: python3.12
    Timeout: 5
    MemorySize: 512
    Environment: {Variables: {TABLE: !Ref Carts, STAGE: dev, ROLE: !GetAtt Role.Arn}}
Resources:
  Failed: {Type: AWS::SQS::Queue, Properties: {QueueName: failed-carts}}
  Reminder:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: Reminder
      Handler: app.handler
      Environment: {Variables: {STAGE: prod}}
      Events:
        Expired:
          Type: DynamoDB
          Properties:
            Stream: !GetAtt Carts.StreamArn
            StartingPosition: TRIM_HORIZON
            BatchSize: "10"
            BisectBatchOnFunctionError: true
            MaximumRetryAttempts: 2
            FunctionResponseTypes: [ReportBatchItemFailures]
            FilterCriteria: {Filters: [{Pattern: '{"eventName":["REMOVE"]}'}]}
            DestinationConfig: {OnFailure: {Type: SQS, Destination: !GetAtt Failed.Arn}}
        Web: {Type: HttpApi, Properties: {Path: /, Method: get}}
)" + carts_table;

}  // namespace

TEST_CASE("a SAM template defines functions with the template's globals, and mappings for DynamoDB events") {
  const Project project;
  project.write("built/Reminder/app.py", "");
  project.write("built/template.yaml", sam_template);
  const SchemaFiles files = project.read("built/template.yaml");
  REQUIRE(files.functions.size() == 1);
  const auto& function = files.functions.front();
  CHECK(function.name == "Reminder");
  CHECK(function.runtime == "python3.12");
  CHECK(function.handler == "app.handler");
  CHECK(project.shortened(function.code.path) == "built/Reminder");
  CHECK(function.seconds_max == 5);
  CHECK(function.memory_mb == 512);
  CHECK(function.variables == std::map<std::string, std::string>{
                                  {"TABLE", "carts"}, {"STAGE", "prod"}, {"ROLE", "unknown:Role.Arn"}});
  REQUIRE(files.mappings.size() == 1);
  CHECK(schemas::table_of_stream(files.mappings.front().stream) == "carts");
  CHECK(files.mappings.front().request == *json::parse_tree(R"({
    "StartingPosition":"TRIM_HORIZON","BatchSize":10,"MaximumRetryAttempts":2,"BisectBatchOnFunctionError":true,
    "FunctionResponseTypes":["ReportBatchItemFailures"],
    "FilterCriteria":{"Filters":[{"Pattern":"{\"eventName\":[\"REMOVE\"]}"}]},
    "DestinationConfig":{"OnFailure":{"Destination":"arn:aws:sqs:us-east-1:000000000000:failed-carts"}},
    "FunctionName":"Reminder"})"));
  REQUIRE(files.warnings.size() == 1);
  CHECK(project.shortened(files.warnings.front()) ==
        "built/template.yaml: tags and environments have placeholders for unknown values: Role.Arn. Set them "
        "with "
        "--schema-parameter NAME=VALUE");
}

TEST_CASE("without --functions, a template's functions are not read") {
  const Project project;
  project.write("template.yaml", sam_template);
  const auto files = schemas::read_schema_files((project.path / "template.yaml").string(), {});
  REQUIRE(files);
  CHECK(files->functions.empty());
  CHECK(files->mappings.empty());
  CHECK(files->warnings.empty());
}

TEST_CASE("CDK's functions take their code from the assets in cdk.out") {
  const Project project;
  project.write("cdk.out/cdk.out", "{}");
  project.write("cdk.out/asset.1a2b/index.js", "");
  project.write("cdk.out/Stack.template.json", R"({"Resources":{
    "Table":{"Type":"AWS::DynamoDB::Table","Properties":{
      "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]}},
    "Fn":{"Type":"AWS::Lambda::Function","Metadata":{"aws:asset:path":"asset.1a2b"},"Properties":{
      "Code":{"S3Bucket":{"Fn::Sub":"cdk-${AWS::AccountId}"},"S3Key":"1a2b.zip"},"Handler":"index.handler","Runtime":"nodejs20.x",
      "Role":{"Fn::GetAtt":["Role","Arn"]},"Environment":{"Variables":{"TABLE":{"Ref":"Table"}}}}},
    "Old":{"Type":"AWS::Lambda::Function","Properties":{
      "Code":{"S3Bucket":"b","S3Key":"1a2b.zip"},"Handler":"index.handler","Runtime":"nodejs20.x","FunctionName":"old"}},
    "Source":{"Type":"AWS::Lambda::EventSourceMapping","Properties":{
      "EventSourceArn":{"Fn::GetAtt":["Table","StreamArn"]},"FunctionName":{"Ref":"Fn"},"StartingPosition":"LATEST"}},
    "Alias":{"Type":"AWS::Lambda::Alias","Properties":{"FunctionName":{"Ref":"Old"},"Name":"live"}},
    "Other":{"Type":"AWS::Lambda::EventSourceMapping","Properties":{
      "EventSourceArn":{"Fn::GetAtt":["Table","StreamArn"]},"FunctionName":{"Ref":"Alias"},"StartingPosition":"LATEST"}},
    "Queued":{"Type":"AWS::Lambda::EventSourceMapping","Properties":{
      "EventSourceArn":{"Fn::GetAtt":["Queue","Arn"]},"FunctionName":{"Ref":"Fn"}}}}})");
  const SchemaFiles files = project.read("cdk.out");
  REQUIRE(files.functions.size() == 2);
  for (const auto& function : files.functions)
    CHECK(project.shortened(function.code.path) == "cdk.out/asset.1a2b");
  CHECK(files.functions.front().variables.at("TABLE") == "Table");
  REQUIRE(files.mappings.size() == 2);  // not that of the queue
  CHECK(schemas::table_of_stream(files.mappings[0].stream) == "Table");
  CHECK(files.mappings[0].request["FunctionName"] == "Fn");
  CHECK(files.mappings[1].request["FunctionName"] == "old");
}

TEST_CASE("the Serverless Framework's functions take their code from the package next to the template") {
  const Project project;
  project.write(".serverless/shop.zip", zip_file({{"src/handler.js", "exports.main = 1"}}));
  project.write(".serverless/update.json", R"({"Resources":{
    "RemindLambdaFunction":{"Type":"AWS::Lambda::Function","Properties":{
      "Code":{"S3Bucket":{"Ref":"ServerlessDeploymentBucket"},"S3Key":"serverless/shop/dev/1700000000000-2023-11-14T22:13:20.000Z/shop.zip"},
      "Handler":"src/handler.main","Runtime":"nodejs20.x","FunctionName":"shop-dev-remind"}}}})");
  const SchemaFiles files = project.read(".serverless/update.json");
  REQUIRE(files.functions.size() == 1);
  CHECK(project.shortened(files.functions[0].code.path) == ".serverless/shop.zip");
  deployment::CodeDirectories directories;
  const auto program = deployment::program_of(files.functions[0], directories);
  CHECK(program.problem.empty());
  CHECK(program.name == "shop-dev-remind");
  CHECK(program.command.front() == "node");
  CHECK(program.command.back() == "src/handler.main");
  CHECK(content_of(fs::path(program.directory) / "src/handler.js") == "exports.main = 1");
}

TEST_CASE(
    "a Terraform plan defines functions, and mappings whose streams and functions are only known by "
    "reference") {
  const Project project;
  project.write("app.jar", "");
  const std::string values =
      R"("maximum_retry_attempts":1,"bisect_batch_on_function_error":true,"enabled":true,
    "starting_position":"TRIM_HORIZON","batch_size":100,"function_response_types":null,"destination_config":[],
    "filter_criteria":[{"filter":[{"pattern":"{\"eventName\":[\"REMOVE\"]}"}]}])";
  project.write("plan.json", R"({"format_version":"1.2",
    "variables":{"table":{"value":"carts"}},
    "planned_values":{"root_module":{
      "resources":[
        {"address":"aws_lambda_function.reminder","mode":"managed","type":"aws_lambda_function","name":"reminder","values":{
          "function_name":"reminder","runtime":"java21","handler":"com.example.Handler","filename":"app.jar","timeout":30,
          "memory_size":512,"environment":[{"variables":{"STAGE":"dev"}}],"layers":null}},
        {"address":"aws_lambda_event_source_mapping.own","mode":"managed","type":"aws_lambda_event_source_mapping",
         "name":"own","values":{)" +
                                 values + R"(}},
        {"address":"aws_lambda_event_source_mapping.other","mode":"managed","type":"aws_lambda_event_source_mapping",
         "name":"other","values":{"function_name":"reminder",)" +
                                 values + R"(}},
        {"address":"aws_lambda_event_source_mapping.lost","mode":"managed","type":"aws_lambda_event_source_mapping",
         "name":"lost","values":{"function_name":"reminder",)" +
                                 values + R"(}},
        {"address":"aws_lambda_event_source_mapping.queued","mode":"managed","type":"aws_lambda_event_source_mapping",
         "name":"queued","values":{"function_name":"reminder","batch_size":10}},
        {"address":"aws_sqs_queue.q","mode":"managed","type":"aws_sqs_queue","name":"q","values":{"name":"q"}}],
      "child_modules":[{"address":"module.db[\"a.b\"]","resources":[
        {"address":"module.db[\"a.b\"].aws_dynamodb_table.this[0]","mode":"managed","type":"aws_dynamodb_table","name":"this",
         "index":0,"values":{"name":"sessions","hash_key":"id","attribute":[{"name":"id","type":"S"}],
         "billing_mode":"PAY_PER_REQUEST","stream_enabled":true,"stream_view_type":"KEYS_ONLY"}}]}]}},
    "resource_changes":[{"address":"aws_lambda_function.reminder","change":{"after_unknown":{
      "arn":true,"environment":[{"variables":{"TABLE_ARN":true}}]}}}],
    "prior_state":{"values":{"root_module":{"resources":[
      {"address":"data.aws_dynamodb_table.carts","mode":"data","type":"aws_dynamodb_table","name":"carts","values":{"name":"carts"}}]}}},
    "configuration":{"root_module":{
      "resources":[
        {"address":"aws_lambda_event_source_mapping.own","mode":"managed","type":"aws_lambda_event_source_mapping","name":"own",
         "expressions":{"event_source_arn":{"references":["module.db[\"a.b\"].stream","module.db"]},
                        "function_name":{"references":["aws_lambda_function.reminder.arn","aws_lambda_function.reminder"]}}},
        {"address":"aws_lambda_event_source_mapping.other","mode":"managed","type":"aws_lambda_event_source_mapping",
         "name":"other","expressions":{"event_source_arn":{"references":["data.aws_dynamodb_table.carts.stream_arn",
                                                                        "data.aws_dynamodb_table.carts"]}}},
        {"address":"aws_lambda_event_source_mapping.lost","mode":"managed","type":"aws_lambda_event_source_mapping",
         "name":"lost","expressions":{"event_source_arn":{"references":["local.stream"]}}},
        {"address":"aws_lambda_event_source_mapping.queued","mode":"managed","type":"aws_lambda_event_source_mapping",
         "name":"queued","expressions":{"event_source_arn":{"references":["aws_sqs_queue.q.arn","aws_sqs_queue.q"]}}}],
      "module_calls":{"db":{"module":{"outputs":{"stream":{"expression":{"references":["aws_dynamodb_table.this[0].stream_arn",
        "aws_dynamodb_table.this[0]","aws_dynamodb_table.this"]}}}}}}}}})");
  const SchemaFiles files = project.read("plan.json");
  REQUIRE(files.tables.size() == 1);
  REQUIRE(files.functions.size() == 1);
  CHECK(files.functions[0].name == "reminder");
  CHECK(project.shortened(files.functions[0].code.path) == "app.jar");
  CHECK(files.functions[0].seconds_max == 30);
  CHECK(files.functions[0].variables ==
        std::map<std::string, std::string>{{"STAGE", "dev"}, {"TABLE_ARN", "unknown:TABLE_ARN"}});
  REQUIRE(files.mappings.size() == 2);
  CHECK(schemas::table_of_stream(files.mappings[0].stream) == "sessions");
  CHECK(schemas::table_of_stream(files.mappings[1].stream) == "carts");
  CHECK(files.mappings[0].request == *json::parse_tree(R"({
    "StartingPosition":"TRIM_HORIZON","BatchSize":100,"MaximumRetryAttempts":1,"Enabled":true,"BisectBatchOnFunctionError":true,
    "FilterCriteria":{"Filters":[{"Pattern":"{\"eventName\":[\"REMOVE\"]}"}]},"FunctionName":"reminder"})"));
  REQUIRE(files.warnings.size() == 2);
  CHECK(project.shortened(files.warnings[0]) ==
        "plan.json: aws_lambda_function.reminder has placeholders for variables that the plan does not know: "
        "TABLE_ARN. Set "
        "them with --function-env NAME=VALUE");
  CHECK(project.shortened(files.warnings[1]) ==
        "plan.json: aws_lambda_event_source_mapping.lost is left out, because the plan does not tell which "
        "stream it reads. "
        "Pass the state after the plan is applied");
}

TEST_CASE("each instance of a Terraform module maps its own table to its own function") {
  const Project project;
  const auto instance = [](const std::string& key) {
    const std::string address = R"(module.svc[\")" + key + R"(\"])";
    return R"({"address":")" + address + R"(","resources":[
      {"address":")" +
           address +
           R"(.aws_dynamodb_table.t","mode":"managed","type":"aws_dynamodb_table","name":"t","values":{
        "name":"table-)" +
           key + R"(","hash_key":"id","attribute":[{"name":"id","type":"S"}],"billing_mode":"PAY_PER_REQUEST",
        "stream_enabled":true}},
      {"address":")" +
           address +
           R"(.aws_lambda_function.f","mode":"managed","type":"aws_lambda_function","name":"f","values":{
        "function_name":"function-)" +
           key + R"("}},
      {"address":")" +
           address +
           R"(.aws_lambda_event_source_mapping.m","mode":"managed","type":"aws_lambda_event_source_mapping",
        "name":"m","values":{"starting_position":"LATEST"}}]})";
  };
  const auto mapping = [](const std::string& name) {
    return R"({"address":"aws_lambda_event_source_mapping.)" + name +
           R"(","mode":"managed","type":"aws_lambda_event_source_mapping","name":")" + name +
           R"(","values":{"starting_position":"LATEST","function_name":"root"}})";
  };
  project.write("plan.json", R"({"planned_values":{"root_module":{"resources":[)" + mapping("one") + "," +
                                 mapping("any") + R"(],"child_modules":[)" + instance("a") + "," +
                                 instance("b") + R"(]}},
    "configuration":{"root_module":{
      "resources":[
        {"mode":"managed","type":"aws_lambda_event_source_mapping","name":"one","expressions":{
          "event_source_arn":{"references":["module.svc[\"b\"].stream","module.svc"]}}},
        {"mode":"managed","type":"aws_lambda_event_source_mapping","name":"any","expressions":{
          "event_source_arn":{"references":["module.svc"]}}}],
      "module_calls":{"svc":{"module":{
        "outputs":{"stream":{"expression":{"references":["aws_dynamodb_table.t.stream_arn","aws_dynamodb_table.t"]}}},
        "resources":[{"mode":"managed","type":"aws_lambda_event_source_mapping","name":"m","expressions":{
          "event_source_arn":{"references":["aws_dynamodb_table.t.stream_arn","aws_dynamodb_table.t"]},
          "function_name":{"references":["aws_lambda_function.f.arn","aws_lambda_function.f"]}}}]}}}}}})");
  const SchemaFiles files = project.read("plan.json");
  std::vector<std::pair<std::string, std::string>> mapped;
  for (const auto& one : files.mappings)
    mapped.emplace_back(*schemas::table_of_stream(one.stream),
                        one.request["FunctionName"].get<std::string>());
  CHECK(mapped == std::vector<std::pair<std::string, std::string>>{
                      {"table-b", "root"}, {"table-a", "function-a"}, {"table-b", "function-b"}});
  REQUIRE(files.warnings.size() == 1);  // it could be either
  CHECK(project.shortened(files.warnings[0])
            .starts_with("plan.json: aws_lambda_event_source_mapping.any is left out"));
}

TEST_CASE("variables of functions whose values only AWS knows are placeholders") {
  const Project project;
  project.write("t.yaml", R"(
Resources:
  Jobs: {Type: AWS::SQS::Queue}
  Pool: {Type: AWS::Cognito::UserPool}
  Version: {Type: AWS::Lambda::Version, Properties: {FunctionName: !Ref F}}
  F:
    Type: AWS::Lambda::Function
    Properties:
      FunctionName: f
      Environment: {Variables: {QUEUE: !Ref Jobs, QUEUE_ARN: !GetAtt Jobs.Arn, POOL: !Ref Pool, SELF: !Ref Version}}
)");
  const SchemaFiles files = project.read("t.yaml");
  CHECK(files.functions.at(0).variables ==
        std::map<std::string, std::string>{{"QUEUE", "unknown:Jobs"},
                                           {"QUEUE_ARN", "arn:aws:sqs:us-east-1:000000000000:Jobs"},
                                           {"POOL", "unknown:Pool"},
                                           {"SELF", "f"}});
  CHECK(files.warnings.size() == 1);
}

TEST_CASE("references of a Terraform plan that lead in circles end") {
  const Project project;
  project.write("plan.json", R"({"planned_values":{"root_module":{"resources":[
      {"address":"aws_lambda_function.f","mode":"managed","type":"aws_lambda_function","name":"f","values":{"function_name":"f"}}],
    "child_modules":[{"address":"module.a","resources":[
      {"address":"module.a.aws_lambda_event_source_mapping.m","mode":"managed","type":"aws_lambda_event_source_mapping","name":"m",
       "values":{"function_name":"f","starting_position":"LATEST"}}]}]}},
    "configuration":{"root_module":{"module_calls":{"a":{
      "expressions":{"x":{"references":["module.a.y","module.a.y"]}},
      "module":{"outputs":{"y":{"expression":{"references":["var.x","var.x"]}}},
        "resources":[{"mode":"managed","type":"aws_lambda_event_source_mapping","name":"m",
          "expressions":{"event_source_arn":{"references":["var.x"]}}}]}}}}}})");
  const SchemaFiles files = project.read("plan.json");
  CHECK(files.mappings.empty());
  CHECK(files.warnings.size() == 1);
}

TEST_CASE("a function whose code is missing or not built has a problem that says what to do") {
  const Project project;
  const auto problem = [&](const std::string& properties,
                           const std::string& type = "AWS::Serverless::Function") {
    project.write("t.yaml",
                  "Resources:\n  F:\n    Type: " + type + "\n    Properties: {" + properties + "}\n");
    const SchemaFiles files = project.read("t.yaml");
    REQUIRE(files.functions.size() == 1);
    deployment::CodeDirectories directories;
    return project.shortened(deployment::program_of(files.functions[0], directories).problem);
  };
  project.write("source/Handler.java", "");
  project.write("source/app.ts", "");
  project.write("source/broken.zip", "PK");
  const std::string begin = "t.yaml: Resources.F: function F cannot be run: ";
  CHECK(problem("Runtime: java21, Handler: 'com.a.Handler::run', CodeUri: gone") ==
        begin +
            "its code gone does not exist. Run 'sam build' and pass --schema .aws-sam/build/template.yaml");
  CHECK(problem("Runtime: java21, Handler: 'com.a.Handler::run', CodeUri: source") ==
        begin + "source has no com/a/Handler.class. Is it built?");
  CHECK(problem("Runtime: nodejs20.x, Handler: app.handler, CodeUri: source") ==
        begin + "source has no app.js. Is it built?");
  CHECK(problem("Runtime: provided.al2023, Handler: x, CodeUri: source") ==
        begin + "source has no program bootstrap. Is it built?");
  CHECK(problem("Runtime: python3.12, Handler: pkg.app.handler, CodeUri: source") ==
        begin + "source has no pkg/app.py");
  CHECK(problem("Runtime: ruby3.3, Handler: app.handler, CodeUri: source") ==
        begin + "its runtime ruby3.3 is not supported. Give its program: --function NAME=exec:COMMAND");
  CHECK(problem("Runtime: python3.12, Handler: app.handler, CodeUri: source, Timeout: -5") ==
        begin + "its Timeout must be between 1 and 900, and its MemorySize between 128 and 10240");
  CHECK(problem("Runtime: !Ref Unknown, Handler: app.handler, CodeUri: source") ==
        begin +
            "its Runtime is not known: 'Unknown' is neither a parameter nor a resource of the template. Give "
            "it a "
            "value: --schema-parameter Unknown=VALUE");
  CHECK(problem("PackageType: Image, ImageUri: x") ==
        begin +
            "it is a container image. Give the program in the image: --function NAME=exec:COMMAND (or "
            "python:, node:, "
            "java:)");
  CHECK(problem("Runtime: python3.12, Handler: app.handler, CodeUri: source/broken.zip") ==
        begin + "source/broken.zip is not a complete ZIP file");
  CHECK(problem("Runtime: python3.12, Handler: app.handler, Code: {S3Bucket: b, S3Key: ../../x.zip}",
                "AWS::Lambda::Function") ==
        begin + "its code is in S3 (../../x.zip), and " + project.path.generic_string() +
            " has no file x.zip. Pass the description that the build tool leaves next to the code: "
            ".aws-sam/build/template.yaml, cdk.out, .serverless/cloudformation-template-update-stack.json");
}

TEST_CASE("code that is written into a template is run from a file, which is removed at the end") {
  const Project project;
  project.write("t.yaml", R"(
Resources:
  F:
    Type: AWS::Lambda::Function
    Properties: {Runtime: python3.12, Handler: index.handler, Code: {ZipFile: "def handler(event, context): pass"}}
)");
  const SchemaFiles files = project.read("t.yaml");
  std::string directory;
  {
    deployment::CodeDirectories directories;
    const auto program = deployment::program_of(files.functions[0], directories);
    CHECK(program.problem.empty());
    directory = program.directory;
    CHECK(content_of(fs::path(directory) / "index.py") == "def handler(event, context): pass");
  }
  CHECK_FALSE(fs::exists(directory));
}

TEST_CASE("a ZIP file is unpacked with its directories and executable files") {
  const Project project;
  const std::string large(100'000, 'x');
  const std::string archive = project.write("a.zip", zip_file({{"bootstrap", "#!/bin/sh\n", 0100755},
                                                               {"lib/", "", 0040755},
                                                               {"lib/deep/large.txt", large},
                                                               {"stored", "as it is", 0100644, 0, false},
                                                               {"twice", "first"},
                                                               {"twice", "second"}}));
  fs::create_directory(project.path / "out");
  const auto unpacked = deployment::unzip(archive, (project.path / "out").string());
  if (!unpacked) FAIL(unpacked.error());
  CHECK(content_of(project.path / "out/lib/deep/large.txt") == large);
  CHECK(content_of(project.path / "out/stored") == "as it is");
  CHECK(content_of(project.path / "out/twice") == "second");
  const auto is_executable = [&](const char* name) {
    return (fs::status(project.path / "out" / name).permissions() & fs::perms::owner_exec) != fs::perms::none;
  };
  CHECK(is_executable("bootstrap"));
  if (fs::path::preferred_separator == '/')
    CHECK_FALSE(is_executable("stored"));  // on Windows, all files are
}

TEST_CASE("a hostile ZIP file is rejected and writes nothing outside of its directory") {
  const Project project;
  fs::create_directory(project.path / "out");
  const auto problem = [&](const std::string& text) {
    const auto unpacked = deployment::unzip(project.write("a.zip", text), (project.path / "out").string());
    REQUIRE_FALSE(unpacked);
    return project.shortened(unpacked.error());
  };
  for (const char* name : {"../evil", "/evil", "a/../../evil", "a//b", "."})
    CHECK(problem(zip_file({{name, "x"}})) ==
          "a.zip has a file with the name " + std::string(name) + ", which cannot be a file of a directory");
  CHECK_FALSE(fs::exists(project.path / "evil"));
  CHECK(problem(zip_file({{"link", "/etc", 0120777}, {"link/x", "x"}})) ==
        "a.zip has the link link. Pack the file that it leads to");
  CHECK(problem(zip_file({{"secret", "x", 0100644, 1}})) == "a.zip has the encrypted file secret");
  CHECK(problem(zip_file({{.name = "bomb", .content = "x", .bytes = 300 * 1024 * 1024}})) ==
        "a.zip has more than 250 MB, Lambda's limit");
  CHECK(problem(zip_file({{.name = "short", .content = "x", .bytes = 2}})) == "a.zip is damaged: short");
  CHECK(problem(zip_file({{.name = "changed", .content = "x", .checksum = 7}})) ==
        "a.zip is damaged: changed");
  CHECK(problem("no ZIP file at all, but long enough") == "a.zip is not a complete ZIP file");
  // Cut anywhere, and with any byte changed, the file is rejected or unpacked, but nothing worse happens.
  const std::string whole = zip_file({{"one/a", "first file"}, {"b", "second file"}});
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
    CHECK_FALSE(
        deployment::unzip(project.write("a.zip", whole.substr(0, bytes)), (project.path / "out").string()));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0xff);
    (void)deployment::unzip(project.write("a.zip", changed), (project.path / "out").string());
  }
  std::string deep;
  for (int levels = 0; levels < 200; ++levels) deep += "a/";
  CHECK(problem(zip_file({{deep + "x", "x"}})).find("which cannot be a file of a directory") !=
        std::string::npos);
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(project.path))
    names.insert(entry.path().filename().string());
  CHECK(names == std::set<std::string>{"a.zip", "out"});
}

}  // namespace mayfly::testing
