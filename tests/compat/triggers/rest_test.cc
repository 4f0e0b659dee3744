// Tests Lambda's REST API with requests and complete responses. The tests replace UUIDs and ARNs with names.
#include <catch2/catch.hpp>

#include "tests/support/engine_world.h"
#include "tests/support/trigger_world.h"

namespace mayfly::testing {

namespace {

const std::string mappings_path = "/2015-03-31/event-source-mappings";

std::string replace(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string uuid_in(const std::string& answer) {
  const auto at = answer.find(R"("UUID":")");
  return at == answer.npos ? "" : answer.substr(at + 8, 36);
}

std::string creation(const std::string& arn, const std::string& function, const std::string& more = {}) {
  return R"({"EventSourceArn":")" + arn + R"(","FunctionName":")" + function +
         R"(","StartingPosition":"TRIM_HORIZON")" + more + "}";
}

}  // namespace

TEST_CASE("the number of mappings is limited and deleting a mapping makes room for another") {
  TriggerWorld world({}, {}, 2);
  world.function("f");
  const std::string arn = world.create_table("carts");
  world.map(arn, "f");
  const std::string second = world.map(world.create_table("orders"), "f");
  const std::string third = creation(world.create_table("users"), "f");
  CHECK(world.rest("POST " + mappings_path, third) ==
        R"(429 x-amzn-ErrorType: TooManyRequestsException {"Type":"User","message":"Too many event source )"
        R"(mappings on this server (limit 2, set by --mappings-max)."})");
  CHECK(world.rest("DELETE " + mappings_path + "/" + second).starts_with("202 "));
  CHECK(world.rest("POST " + mappings_path, third).starts_with("202 "));
}

TEST_CASE("all calls on a mapping return what Lambda returns") {
  TriggerWorld world;
  world.function("f");
  const std::string arn = world.create_table("carts");
  const std::string created = world.rest("POST " + mappings_path, creation(arn, "f", R"(,"Enabled":false)"));
  const std::string uuid = uuid_in(created);
  const auto shown = [&](const std::string& answer) {
    return replace(replace(answer, uuid, "UUID"), arn, "ARN");
  };
  const auto configuration = [](const std::string& state, const std::string& batch_size,
                                const std::string& more) {
    return R"({"UUID":"UUID","StartingPosition":"TRIM_HORIZON","BatchSize":)" + batch_size +
           R"(,"MaximumBatchingWindowInSeconds":0,"ParallelizationFactor":1,"EventSourceArn":"ARN",)" + more +
           R"("DestinationConfig":{"OnFailure":{}},"MaximumRecordAgeInSeconds":-1,"BisectBatchOnFunctionError":false,)"
           R"("MaximumRetryAttempts":-1,"TumblingWindowInSeconds":0,"FunctionResponseTypes":[],)"
           R"("FunctionArn":"arn:aws:lambda:us-east-1:000000000000:function:f","LastModified":1700000000,)"
           R"("LastProcessingResult":"No records processed","State":")" +
           state +
           R"(","StateTransitionReason":"User action",)"
           R"("EventSourceMappingArn":"arn:aws:lambda:us-east-1:000000000000:event-source-mapping:UUID"})";
  };
  CHECK(shown(created) == "202 " + configuration("Creating", "100", ""));
  CHECK(shown(world.rest("GET " + mappings_path + "/" + uuid)) ==
        "200 " + configuration("Disabled", "100", ""));
  CHECK(shown(world.rest("GET " + mappings_path + "/")) ==
        R"(200 {"EventSourceMappings":[)" + configuration("Disabled", "100", "") + "]}");

  const std::string filter = R"("FilterCriteria":{"Filters":[{"Pattern":"{\"eventName\":[\"REMOVE\"]}"}]},)";
  CHECK(shown(world.rest("PUT " + mappings_path + "/" + uuid, "{" + filter + R"("BatchSize":7})")) ==
        "202 " + configuration("Updating", "7", filter));
  CHECK(shown(world.rest("PUT " + mappings_path + "/" + uuid, R"({"FilterCriteria":{},"Enabled":true})")) ==
        "202 " + configuration("Enabling", "7", ""));
  CHECK(shown(world.rest("GET " + mappings_path + "/" + uuid)) == "200 " + configuration("Enabled", "7", ""));

  CHECK(shown(world.rest("DELETE " + mappings_path + "/" + uuid)) ==
        "202 " + configuration("Deleting", "7", ""));
  const std::string gone =
      R"(404 x-amzn-ErrorType: ResourceNotFoundException {"Type":"User","Message":"The resource you requested does not exist."})";
  CHECK(world.rest("GET " + mappings_path + "/" + uuid) == gone);
  CHECK(world.rest("PUT " + mappings_path + "/" + uuid, "{}") == gone);
  CHECK(world.rest("DELETE " + mappings_path + "/" + uuid) == gone);
  CHECK(world.rest("GET " + mappings_path) == R"(200 {"EventSourceMappings":[]})");
}

TEST_CASE("a mapping keeps its MetricsConfig and KMSKeyArn after a restart") {
  const TemporaryDirectory directory;
  const std::string metrics = R"("MetricsConfig":{"Metrics":["EventCount"]})",
                    key = R"("KMSKeyArn":"arn:aws:kms:us-east-1:000000000000:key/1")";
  std::string mapping;
  {
    TriggerWorld world(directory.path());
    world.function("f");
    const std::string created = world.rest(
        "POST " + mappings_path, creation(world.create_table("carts"), "f", "," + metrics + "," + key));
    CHECK(created.find(key + "," + metrics) != created.npos);
    mapping = mappings_path + "/" + uuid_in(created);
  }
  TriggerWorld world(directory.path());
  CHECK(world.rest("GET " + mapping).find(key + "," + metrics) != std::string::npos);
  const std::string removed = world.rest("PUT " + mapping, R"({"KMSKeyArn":"","MetricsConfig":{}})");
  CHECK(removed.find("KMSKeyArn") == removed.npos);
  CHECK(removed.find(R"("MetricsConfig":{"Metrics":[]})") != removed.npos);
  const std::string kept = world.rest("PUT " + mapping, R"({"BatchSize":7,"ScalingConfig":{}})");
  CHECK(kept.find(R"("MetricsConfig":{"Metrics":[]})") != kept.npos);
}

TEST_CASE("a mapping can have ten filters if --mapping-filters-max is 10") {
  compat::EmulatorOptions options;
  options.triggers.filters_max = 10;
  const auto emulator = *compat::Emulator::open(std::move(options));
  const engine::Scope scope{"000000000000", "us-east-1"};
  const auto created = nlohmann::json::parse(
      emulator
          ->execute(
              scope, "DynamoDB_20120810.CreateTable",
              R"({"TableName":"carts","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],)"
              R"("KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST",)"
              R"("StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}})")
          .body);
  const auto map_with = [&](int filters) {
    std::string list;
    for (int i = 0; i < filters; ++i)
      list += std::string(i == 0 ? "" : ",") + R"({"Pattern":"{\"eventName\":[\"REMOVE\"]}"})";
    const std::string body = creation(created["TableDescription"]["LatestStreamArn"], "f",
                                      R"(,"FilterCriteria":{"Filters":[)" + list + "]}");
    return compat::triggers::answer_rest(emulator->triggers(), {.scope = scope,
                                                                .method = "POST",
                                                                .path = mappings_path + "/",
                                                                .query = "",
                                                                .body = body,
                                                                .stop = {}});
  };
  CHECK(
      map_with(11).body ==
      R"({"Type":"User","message":"FilterCriteria can have at most 10 filters, got 11 (--mapping-filters-max)."})");
  CHECK(map_with(10).status == 202);
}

TEST_CASE("requests that Lambda rejects get Lambda's error messages") {
  TriggerWorld world;
  const std::string arn = world.create_table("carts");
  const auto refuse = [&](const std::string& body) {
    return world.rest("POST " + mappings_path + "/", body);
  };
  const std::string invalid =
      R"(400 x-amzn-ErrorType: InvalidParameterValueException {"Type":"User","message":")";
  const std::string broken =
      R"(400 x-amzn-ErrorType: ValidationException {"message":"1 validation error detected: )";

  CHECK(refuse("{}") ==
        broken + R"(Value null at 'functionName' failed to satisfy constraint: Member must not be null"})");
  CHECK(
      refuse("[") ==
      R"(400 x-amzn-ErrorType: InvalidRequestContentException {"Type":"User","message":"Could not parse request body into json"})");
  CHECK(refuse(R"({"FunctionName":"f"})") == invalid + R"(Unrecognized event source."})");
  CHECK(
      refuse(creation("arn:aws:sqs:us-east-1:000000000000:q", "f")) ==
      invalid +
          R"(Unrecognized event source, must be kinesis, dynamodb stream or sqs. Unsupported source arn : arn:aws:sqs:us-east-1:000000000000:q"})");
  CHECK(
      refuse(R"({"FunctionName":"f","EventSourceArn":")" + arn + "\"}") ==
      invalid +
          R"(1 validation error detected: Value null at 'startingPosition' failed to satisfy constraint: Member must not be null."})");
  // This function's ARN would be longer than 256 bytes, so it could not be used as a function name.
  const std::string long_name(220, 'f');
  CHECK(refuse(creation(arn, long_name)).find("Value '" + long_name + "' at 'functionName' failed") !=
        std::string::npos);
  CHECK(refuse(replace(creation(arn, "f"), "TRIM_HORIZON", "AT_TIMESTAMP")) ==
        invalid + "Unsupported starting position for arn type: " + arn + "\"}");
  CHECK(refuse(replace(creation(arn, "f"), "TRIM_HORIZON", "invalid")) ==
        broken +
            "Value 'invalid' at 'startingPosition' failed to satisfy constraint: Member must satisfy enum "
            R"(value set: [LATEST, AT_TIMESTAMP, TRIM_HORIZON]"})");
  const std::string other = replace(arn, "/carts/", "/other/");
  CHECK(refuse(creation(other, "f")) == invalid + "Stream not found: " + other + "\"}");
  const std::string foreign = replace(arn, "000000000000", "000000000001");
  CHECK(refuse(creation(foreign, "f")) == invalid + "Stream not found: " + foreign + "\"}");

  const auto with = [&](const std::string& more) { return refuse(creation(arn, "f", "," + more)); };
  CHECK(with(R"("FilterCriteria":{"Filters":[{"Pattern":"{}"}]})") ==
        invalid + R"(Invalid filter pattern definition."})");
  CHECK(with(R"("FilterCriteria":{"Filters":[{"Pattern":"{\"eventName\":\"REMOVE\"}"}]})") ==
        invalid + R"(Invalid filter pattern definition."})");
  std::string six = R"({"Pattern":"{\"eventName\":[\"REMOVE\"]}"})";
  for (int i = 0; i < 5; ++i) six += R"(,{"Pattern":"{\"eventName\":[\"REMOVE\"]}"})";
  CHECK(with(R"("FilterCriteria":{"Filters":[)" + six + "]}") ==
        invalid + R"(FilterCriteria can have at most 5 filters, got 6 (--mapping-filters-max)."})");
  for (const char* other_member :
       {R"("ScalingConfig":{"MaximumConcurrency":2})", R"("ProvisionedPollerConfig":{"MinimumPollers":1})",
        R"("LoggingConfig":{"SystemLogLevel":"INFO"})"}) {
    const std::string_view text = other_member;
    const std::string name(text.substr(1, text.find('"', 1) - 1));
    CHECK(with(other_member) ==
          invalid + name + R"( is not supported for event source mappings of DynamoDB streams."})");
  }
  CHECK(with(R"("MetricsConfig":{"Metrics":["ErrorCount"]})") ==
        invalid +
            R"(The metric ErrorCount is not supported for event source mappings of DynamoDB streams."})");
  CHECK(with(R"("MetricsConfig":{"Metrics":["Latency"]})") ==
        broken +
            "Value 'Latency' at 'metricsConfig.metrics.1.member' failed to satisfy constraint: Member must "
            "satisfy "
            "enum value set: [EventCount, ErrorCount, KafkaMetrics]\"}");
  for (const char* key : {"key", "arn:other:kms:x", "arn:aws:KMS:x", "arn:aws:kms", "arn:aws::x"}) {
    CHECK(with(R"("KMSKeyArn":")" + std::string(key) + "\"") ==
          broken + "Value '" + key +
              "' at 'kMSKeyArn' failed to satisfy constraint: Member must satisfy regular expression "
              "pattern: " +
              R"re((arn:(aws[a-zA-Z-]*)?:[a-z0-9-.]+:.*)|()"})re");
  }
  CHECK(
      with(R"("BatchSize":0)") ==
      broken +
          R"(Value '0' at 'batchSize' failed to satisfy constraint: Member must have value greater than or equal to 1"})");
  CHECK(
      with(R"("BatchSize":10001)") ==
      broken +
          R"(Value '10001' at 'batchSize' failed to satisfy constraint: Member must have value less than or equal to 10000"})");
  CHECK(
      with(R"("MaximumRetryAttempts":-2)") ==
      broken +
          R"(Value '-2' at 'maximumRetryAttempts' failed to satisfy constraint: Member must have value greater than or equal to -1"})");
  CHECK(
      with(R"("ParallelizationFactor":11)") ==
      broken +
          R"(Value '11' at 'parallelizationFactor' failed to satisfy constraint: Member must have value less than or equal to 10"})");
  CHECK(
      with(R"("TumblingWindowInSeconds":901)") ==
      broken +
          R"(Value '901' at 'tumblingWindowInSeconds' failed to satisfy constraint: Member must have value less than or equal to 900"})");
  CHECK(
      with(R"("MaximumBatchingWindowInSeconds":301)") ==
      broken +
          R"(Value '301' at 'maximumBatchingWindowInSeconds' failed to satisfy constraint: Member must have value less than or equal to 300"})");
  CHECK(with(R"("MaximumRecordAgeInSeconds":59)") ==
        invalid + R"(MaximumRecordAgeInSeconds must be -1 or between 60 and 604800."})");
  CHECK(with(R"("DestinationConfig":{"OnFailure":{"Destination":"nowhere"}})") ==
        invalid + R"(Invalid destination. 'nowhere' is not a valid URL: it must begin with http://."})");
  CHECK(world.rest("GET " + mappings_path) == R"(200 {"EventSourceMappings":[]})");

  const std::string uuid = world.map(arn, "f");
  CHECK(
      refuse(creation(arn, "arn:aws:lambda:us-east-1:000000000000:function:f")) ==
      R"(409 x-amzn-ErrorType: ResourceConflictException {"Type":"User","message":"The event source arn (\" )" +
          arn +
          R"( \") and function (\" f \") provided mapping already exists. Please update or delete the existing mapping with UUID )" +
          uuid + "\"}");
}

TEST_CASE("a function can be named in every form that Lambda accepts") {
  TriggerWorld world;
  const std::string arn = world.create_table("carts");
  const auto function_arn = [&](const std::string& name) {
    const std::string uuid = world.map(arn, name);
    const std::string found = world.mapping(uuid)["FunctionArn"];
    world.rest("DELETE " + mappings_path + "/" + uuid);
    return found;
  };
  const std::string f = "arn:aws:lambda:us-east-1:000000000000:function:f";
  CHECK(function_arn("f") == f);
  CHECK(function_arn("f:live") == f + ":live");
  CHECK(function_arn("f:$LATEST") == f + ":$LATEST");
  CHECK(function_arn("function:f") == f);
  CHECK(function_arn("000000000000:function:f") == f);
  CHECK(function_arn("000000000000:function:f:7") == f + ":7");
  CHECK(function_arn("arn:aws:lambda:us-east-1:000000000000:function:f") == f);
  CHECK(function_arn("arn:aws:lambda:eu-west-1:000000000001:function:f:7") ==
        "arn:aws:lambda:eu-west-1:000000000001:function:f:7");
  for (const char* name : {"a b", "arn:aws:sqs:us-east-1:000000000000:f", "f:a:b", ":"}) {
    INFO(name);
    const std::string answer = world.rest("POST " + mappings_path, creation(arn, name));
    CHECK(answer.find("' at 'functionName' failed to satisfy constraint: Member must satisfy regular "
                      "expression pattern:") != answer.npos);
  }
}

TEST_CASE("ListEventSourceMappings lists the mappings of one region and supports filters and pages") {
  TriggerWorld world;
  const std::string a = world.create_table("first"), b = world.create_table("second");
  for (const char* function : {"f", "g"}) {
    world.map(a, function);
    world.map(b, function);
  }
  const auto count = [&](const std::string& query) {
    const std::string answer = world.rest("GET " + mappings_path + query);
    INFO(answer);
    REQUIRE(answer.starts_with("200 "));
    return nlohmann::json::parse(answer.substr(4))["EventSourceMappings"].size();
  };
  CHECK(count("") == 4);
  CHECK(count("?FunctionName=f") == 2);
  CHECK(count("?FunctionName=arn%3Aaws%3Alambda%3Aus-east-1%3A000000000000%3Afunction%3Af") == 2);
  CHECK(count("?FunctionName=h") == 0);
  CHECK(count("?EventSourceArn=" + replace(a, ":", "%3A") + "&FunctionName=g") == 1);
  const auto first = nlohmann::json::parse(world.rest("GET " + mappings_path + "?MaxItems=3").substr(4));
  CHECK(first["EventSourceMappings"].size() == 3);
  const auto second = nlohmann::json::parse(
      world.rest("GET " + mappings_path + "?MaxItems=3&Marker=" + first["NextMarker"].get<std::string>())
          .substr(4));
  CHECK(second["EventSourceMappings"].size() == 1);
  CHECK(!second.contains("NextMarker"));
  world.scope.region = "eu-west-1";
  CHECK(count("") == 0);
}

TEST_CASE("the tags of a mapping can be listed and changed") {
  TriggerWorld world;
  const std::string uuid = world.map(world.create_table("carts"), "f", R"("Tags":{"team":"blue"})");
  const std::string tags =
      "/2017-03-31/tags/arn%3Aaws%3Alambda%3Aus-east-1%3A000000000000%3Aevent-source-mapping%3A" + uuid;
  CHECK(world.rest("GET " + tags) == R"(200 {"Tags":{"team":"blue"}})");
  CHECK(world.rest("POST " + tags, R"({"Tags":{"team":"red","stage":"test"}})") == "204");
  CHECK(world.rest("GET " + tags) == R"(200 {"Tags":{"stage":"test","team":"red"}})");
  CHECK(world.rest("DELETE " + tags + "?tagKeys=team&tagKeys=never") == "204");
  CHECK(world.rest("GET " + tags) == R"(200 {"Tags":{"stage":"test"}})");
  CHECK(
      world.rest("GET /2017-03-31/tags/arn:aws:lambda:us-east-1:000000000000:event-source-mapping:x") ==
      R"(404 x-amzn-ErrorType: ResourceNotFoundException {"Type":"User","Message":"The resource you requested does not exist."})");
}

TEST_CASE("a request that exceeds the tag limits of a mapping changes nothing") {
  TriggerWorld world;
  const std::string arn = world.create_table("carts");
  const std::string uuid = world.map(arn, "f", R"("Tags":{"team":"blue"})");
  const std::string tags =
      "/2017-03-31/tags/arn%3Aaws%3Alambda%3Aus-east-1%3A000000000000%3Aevent-source-mapping%3A" + uuid;
  const auto refusal = [](const std::string& message) {
    return R"(400 x-amzn-ErrorType: InvalidParameterValueException {"Type":"User","message":")" + message +
           "\"}";
  };
  const auto with = [&](const std::string& key, const std::string& value) {
    return world.rest("POST " + tags, R"({"Tags":{")" + key + R"(":")" + value + "\"}}");
  };
  const auto many = [](int first, int count) {
    std::string members;
    for (int i = first; i < first + count; ++i)
      members += (i == first ? "\"" : ",\"") + std::to_string(i) + R"(":"")";
    return R"({"Tags":{)" + members + "}}";
  };
  std::string longest_key, longest_value;
  for (int i = 0; i < 128; ++i) longest_key += "\u00e9";
  for (int i = 0; i < 256; ++i) longest_value += "\u00e9";
  const std::string key_refusal = refusal("A tag's key must have 1 to 128 characters.");
  CHECK(with("", "") == key_refusal);
  CHECK(with(longest_key + "x", "") == key_refusal);
  CHECK(with("aws:team", "") == refusal("A tag's key must not begin with aws:."));
  CHECK(with("stage", longest_value + "x") == refusal("A tag's value must have at most 256 characters."));
  CHECK(
      world.rest("POST " + tags, "{}") ==
      R"(400 x-amzn-ErrorType: ValidationException {"message":"1 validation error detected: Value null at 'tags' failed to satisfy constraint: Member must not be null"})");
  CHECK(world.rest("POST " + tags, R"({"Tags":{"team":1}})")
            .starts_with("400 x-amzn-ErrorType: SerializationException "));
  const std::string too_many = refusal("Number of tags exceeds resource tag limit.");
  CHECK(world.rest("POST " + tags, many(0, 50)) == too_many);  // 50 new tags and the existing one
  CHECK(world.rest("GET " + tags) == R"(200 {"Tags":{"team":"blue"}})");

  CHECK(with(longest_key, longest_value) == "204");
  CHECK(world.rest("POST " + tags, many(0, 48)) == "204");
  CHECK(with("stage", "test") == too_many);
  CHECK(with("team", "red") == "204");
  CHECK(world.rest("DELETE " + tags + "?tagKeys=team") == "204");
  CHECK(with("stage", "test") == "204");

  const auto create = [&](const std::string& given) {
    return world.rest("POST " + mappings_path, creation(arn, "g", "," + given.substr(1, given.size() - 2)));
  };
  CHECK(create(many(0, 51)) == too_many);
  CHECK(create(R"({"Tags":{"aws:team":""}})") == refusal("A tag's key must not begin with aws:."));
  CHECK(create(many(0, 50)).starts_with("202 "));
}

TEST_CASE("functions can be invoked by name") {
  TriggerWorld world;
  world.function("f", [](const auto& event) { return TriggerWorld::Answer{.body = event.dump()}; });
  world.function("failing",
                 [](const auto&) { return TriggerWorld::Answer{.body = R"({"errorMessage":"no"})"}; });
  const std::string functions = "POST /2015-03-31/functions/";
  CHECK(world.rest(functions + "f/invocations", R"({"a":1})") ==
        R"(200 X-Amz-Executed-Version: $LATEST {"a":1})");
  CHECK(world.rest(functions + "arn%3Aaws%3Alambda%3Aus-east-1%3A000000000000%3Afunction%3Af/invocations",
                   "") == "200 X-Amz-Executed-Version: $LATEST {}");
  CHECK(world.rest(functions + "failing/invocations", "{}") ==
        R"(200 X-Amz-Function-Error: Unhandled X-Amz-Executed-Version: $LATEST {"errorMessage":"no"})");
  CHECK(world.rest(functions + "f/invocations", "{}", "DryRun") == "204 X-Amz-Executed-Version: $LATEST");
  CHECK(
      world.rest(functions + "nobody/invocations", "{}") ==
      R"(404 x-amzn-ErrorType: ResourceNotFoundException {"Type":"User","Message":"Function not found: arn:aws:lambda:us-east-1:000000000000:function:nobody"})");
  CHECK(
      world.rest(functions + "f/invocations", "{") ==
      R"(400 x-amzn-ErrorType: InvalidRequestContentException {"Type":"User","message":"Could not parse request body into json: Could not parse payload into json"})");
  const auto before = world.calls("f").size();
  CHECK(world.rest(functions + "f/invocations", R"({"later":1})", "Event") == "202");
  while (world.calls("f").size() == before) std::this_thread::yield();
  CHECK(world.calls("f").back() == nlohmann::json{{"later", 1}});
}

}  // namespace mayfly::testing
