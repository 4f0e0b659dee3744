#include <catch2/catch.hpp>

#include "compat/control/control.h"
#include "tests/support/test_emulator.h"

namespace mayfly::testing {

namespace {

// Returns the status and the body exactly as sent, for example "200 {…}".
std::string control_call(TestEmulator& emulator, std::string_view method, std::string_view path,
                         std::string_view body = {}) {
  const auto answer = compat::control::answer(
      emulator.emulator(), {.method = method, .path = path, .body = body, .scope = emulator.scope});
  return std::to_string(answer.status) + " " + answer.body;
}

std::string refusal(const std::string& message) {
  return R"(400 {"__type":"com.amazon.coral.validate#ValidationException","message":")" + message + "\"}";
}

void create_any_table(TestEmulator& emulator) {
  const std::string answer = emulator.run(
      "CreateTable",
      R"({"TableName":"carts","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],)"
      R"("KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST",)"
      R"("StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}})");
  REQUIRE(answer.starts_with("200 "));
}

}  // namespace

TEST_CASE("control API responses keep member order and print numbers with the fewest digits") {
  TestEmulator emulator;
  CHECK(
      control_call(
          emulator, "PUT", "/_mayfly/faults",
          R"({"rules":[{"seed":7,"probability":0.001298,"fault":"latency","milliseconds":20},)"
          R"({"probability":1e-5,"fault":"throttle","table":"carts","operation":"PutItem","count":2.0}]})") ==
      R"(200 {"rules":[{"fault":"latency","milliseconds":20,"probability":0.001298,"seed":7,"asked":0,)"
      R"("struck":0},{"operation":"PutItem","table":"carts","fault":"throttle","count":2,)"
      R"("probability":0.00001,"seed":0,"asked":0,"struck":0}]})");
  CHECK(control_call(emulator, "PUT", "/_mayfly/functions/f",
                     R"({"url":"http://127.0.0.1:9000/","timeout_seconds":1.5})") ==
        R"(200 {"name":"f","url":"http://127.0.0.1:9000/","timeout_seconds":1.500})");
  CHECK(control_call(emulator, "PUT", "/_mayfly/clock", R"({"rate":60})")
            .starts_with(R"(200 {"mode":"rate","rate":60.0,"now":")"));
}

TEST_CASE("the last of duplicate body members wins and an error names the first unknown member") {
  TestEmulator emulator;
  CHECK(control_call(emulator, "PUT", "/_mayfly/faults", R"({"rules":1,"rules":[]})") ==
        R"(200 {"rules":[]})");
  CHECK(control_call(emulator, "PUT", "/_mayfly/faults", R"({"rules":[],"rules":null})") ==
        refusal("'rules' is required and must be an array of at most 100 objects."));
  CHECK(control_call(emulator, "PUT", "/_mayfly/faults", R"({"zeta":1,"alpha":2,"rules":[]})") ==
        refusal("Unknown member 'zeta'; this call accepts rules."));
}

TEST_CASE(
    "a body that nests too deeply or has invalid UTF-8 or a number that overflows a double is rejected") {
  TestEmulator emulator;
  const auto nested = [](int depth) {
    return "{\"rules\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  const std::string no_object = refusal("The body must be a JSON object.");
  CHECK(control_call(emulator, "PUT", "/_mayfly/faults", nested(599)) ==
        refusal("'rules' must be an array of at most 100 objects, got " + std::string(64, '[') + "…."));
  CHECK(control_call(emulator, "PUT", "/_mayfly/faults", nested(600)) == no_object);
  CHECK(control_call(emulator, "PUT", "/_mayfly/faults", nested(500'000)) == no_object);
  CHECK(control_call(emulator, "PUT", "/_mayfly/faults", "{\"rules\":[],\"\xff\":1}") == no_object);
  CHECK(control_call(emulator, "PUT", "/_mayfly/faults", R"({"rules":[],"count":1e400})") == no_object);
}

TEST_CASE("a control call's body is limited in bytes and in values") {
  TestEmulator emulator;
  const auto too_large = [](const std::string& most) {
    return R"(413 {"__type":"mayfly#BadRequest","message":"The body must not )" + most + ".\"}";
  };
  const std::string rules = R"({"rules":[]})";
  const std::string spaces(compat::control::call_bytes_max - rules.size(), ' ');
  CHECK(control_call(emulator, "PUT", "/_mayfly/faults", rules + spaces) == "200 " + rules);
  CHECK(control_call(emulator, "PUT", "/_mayfly/faults", rules + spaces + " ") ==
        too_large("exceed 1048576 bytes"));
  const auto of_values = [](std::size_t count) {  // the count includes the object and the list
    std::string body = "{\"rules\":[0";
    for (std::size_t n = 3; n < count; ++n) body += ",0";
    return body + "]}";
  };
  CHECK(control_call(emulator, "PUT", "/_mayfly/faults", of_values(compat::control::call_values_max))
            .starts_with("400 "));
  CHECK(control_call(emulator, "PUT", "/_mayfly/faults", of_values(compat::control::call_values_max + 1)) ==
        too_large("contain more than 20000 JSON values"));
}

TEST_CASE("an invalid key gets DynamoDB's error message") {
  TestEmulator emulator;
  create_any_table(emulator);
  const std::string path = "/_mayfly/ttl/carts/explain";
  CHECK(control_call(emulator, "POST", path, R"({"key":{"id":{"S":"1","N":"1"}}})") ==
        refusal("Supplied AttributeValue has more than one datatypes set, must contain exactly one of the "
                "supported datatypes"));
  CHECK(control_call(emulator, "POST", path, R"({"key":[]})") ==
        refusal(R"('key' must be an object, for example {\"id\":{\"S\":\"1\"}}, got [].)"));
}

TEST_CASE("a region that is not valid UTF-8 is returned unchanged") {
  TestEmulator emulator;
  emulator.scope.region = "\xff";
  create_any_table(emulator);
  CHECK(control_call(emulator, "PUT", "/_mayfly/failpoints", R"({"table":"carts","key":{"id":{"S":"1"}}})") ==
        "200 {\"failpoints\":[{\"region\":\"\xff\",\"table\":\"carts\",\"key\":{\"id\":{\"S\":\"1\"}},"
        "\"state\":\"armed\"}]}");
  CHECK(control_call(emulator, "GET", "/_mayfly/streams/carts/shards")
            .starts_with("200 {\"stream\":\"arn:aws:dynamodb:\xff:"));
}

}  // namespace mayfly::testing
