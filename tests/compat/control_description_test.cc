// Checks that every control call has a complete description and that answers have the described members.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "compat/calls/body.h"
#include "compat/calls/call_path.h"
#include "compat/control/control.h"
#include "compat/control/index.h"
#include "tests/support/test_emulator.h"

namespace mayfly::testing {

using compat::control::all_calls;
using compat::control::ControlCall;
using compat::control::Effect;
using compat::control::find_call;
using compat::control::Given;
using compat::control::Kind;
using compat::control::Member;
using compat::control::Waits;

namespace {

class DescribedControl {
 public:
  // Makes a call, checks that the response has the described members, and returns the response.
  json::Tree ok(std::string_view method, std::string_view path, std::string_view body = {}) {
    const std::string_view query =
        path.find('?') == std::string_view::npos ? std::string_view() : path.substr(path.find('?') + 1);
    const std::string_view place = path.substr(0, path.find('?'));
    const compat::Answer answer = compat::control::answer(
        emulator.emulator(),
        {.method = method, .path = place, .query = query, .body = body, .scope = emulator.scope});
    INFO(method << ' ' << path << ' ' << body << " -> " << answer.body);
    CHECK(answer.status == 200);
    const ControlCall* call = find_call(method, place).call;
    REQUIRE(call != nullptr);
    called.insert(call->name);
    CHECK(answer.content_type.starts_with(call->answer_type));
    auto tree = json::parse_tree(answer.body);
    if (!tree) return {};
    if (call->name != "openapi") {
      const auto fits = compat::control::check(*tree, call->answer, "the answer");
      CHECK((fits ? std::string() : fits.error().message) == "");
    }
    return *std::move(tree);
  }

  TestEmulator emulator;
  std::set<std::string_view> called;
};

void each_member(std::span<const Member> members, const auto& visit) {
  for (const Member& member : members) {
    visit(member);
    each_member(member.members, visit);
  }
}

}  // namespace

TEST_CASE("every control call and each of its members has a description", "[control]") {
  std::set<std::string_view> names;
  std::set<std::string> places;
  for (const ControlCall* call : all_calls()) {
    INFO(call->name);
    CHECK(names.insert(call->name).second);
    CHECK(places.insert(std::string(call->method) + " " + std::string(call->path)).second);
    CHECK(call->path.starts_with("/_mayfly/"));
    CHECK(call->handle != nullptr);
    CHECK(std::isupper(static_cast<unsigned char>(call->about.front())));
    CHECK_FALSE(call->about.ends_with('.'));
    CHECK(find_call(call->method, call->path).call == call);
    CHECK(static_cast<std::size_t>(std::count(call->path.begin(), call->path.end(), '{')) ==
          call->place.size());
    for (const auto members : {call->place, call->query, call->body, call->answer})
      each_member(members, [](const Member& member) {
        INFO(member.name);
        CHECK(!member.about.empty());
        CHECK((member.kind == Kind::map) == (member.members.size() == 1 && member.members[0].name.empty()));
      });
    for (const Member& member : call->body) CHECK(member.given != Given::or_null);
    if (call->effect == Effect::reads) CHECK((call->method == "GET" || call->method == "POST"));
    if (call->method == "GET") CHECK(call->effect == Effect::reads);
  }
}

TEST_CASE("a call's path and query are built from its percent-encoded members", "[control]") {
  const ControlCall& call = *find_call("GET", "/_mayfly/ttl/carts/upcoming").call;
  const auto path = [&](std::optional<std::string> table, std::optional<std::string> limit) {
    return compat::control::call_path(call, [=](const Member& member) -> compat::control::MemberText {
      if (limit == "many" && member.name == "limit") return Unexpected{std::string("no number")};
      return member.name == "table" ? table : limit;
    });
  };
  CHECK(*path("a b/c", std::nullopt) == "/_mayfly/ttl/a%20b%2Fc/upcoming");
  CHECK(*path("carts", "2&3") == "/_mayfly/ttl/carts/upcoming?limit=2%263");
  CHECK(path(std::nullopt, "2").error() == "'table' is required and must be a string.");
  CHECK(path("carts", "many").error() == "no number");
}

TEST_CASE("the response to each control call has the described members", "[control]") {
  DescribedControl control;
  control.ok("PUT", "/_mayfly/clock", R"({"mode":"frozen","now":"2031-01-01T00:00:00Z"})");
  CHECK(
      control.emulator
          .run("CreateTable",
               R"({"TableName":"carts","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],)"
               R"("KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST",)"
               R"("StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"}})")
          .starts_with("200 "));
  CHECK(control.emulator
            .run("UpdateTimeToLive",
                 R"({"TableName":"carts","TimeToLiveSpecification":{"AttributeName":"ttl","Enabled":true}})")
            .starts_with("200 "));
  for (const char* item :
       {R"("id":{"S":"1"},"ttl":{"N":"1924992060"})", R"("id":{"S":"2"},"ttl":{"S":"soon"})",
        R"("id":{"S":"3"},"ttl":{"N":"1924990000"})"})
    CHECK(control.emulator.run("PutItem", R"({"TableName":"carts","Item":{)" + std::string(item) + "}}")
              .starts_with("200 "));
  const std::string key = R"({"table":"carts","key":{"id":{"S":"1"}}})";

  control.ok("GET", "/_mayfly/");
  control.ok("GET", "/_mayfly/openapi.json");
  control.ok("GET", "/_mayfly/health");
  control.ok("GET", "/_mayfly/metrics");
  control.ok("GET", "/_mayfly/accounts");
  control.ok("GET", "/_mayfly/clock");
  control.ok("GET", "/_mayfly/ttl?window_seconds=60");
  control.ok("GET", "/_mayfly/ttl/carts");
  control.ok("PUT", "/_mayfly/ttl/carts", R"({"mode":"aws","delay_seconds":[1,2],"seed":3})");
  control.ok("PUT", "/_mayfly/ttl/carts", R"({"mode":"exact"})");
  CHECK(control.ok("GET", "/_mayfly/ttl/carts/upcoming?limit=1")["items"].size() == 1);
  control.ok("POST", "/_mayfly/ttl/carts/explain", R"({"key":{"id":{"S":"2"}}})");
  control.ok("POST", "/_mayfly/ttl/carts/sweep");
  control.ok("PUT", "/_mayfly/failpoints", key);
  control.ok("GET", "/_mayfly/failpoints");
  control.ok("DELETE", "/_mayfly/failpoints", key);
  control.ok("POST", "/_mayfly/await",
             R"({"table":"carts","key":{"id":{"S":"1"}},"since":"2031-01-01T00:00:00Z"})");
  const std::string id = control.ok("POST", "/_mayfly/snapshots", R"({"name":"carts"})")["id"];
  control.ok("GET", "/_mayfly/snapshots");
  CHECK(control.ok("POST", "/_mayfly/clock/advance", R"({"minutes":2,"settle":"triggers"})")["expired"] == 1);
  control.ok("POST", "/_mayfly/snapshots/" + id + "/restore");
  control.ok("DELETE", "/_mayfly/snapshots/" + id);
  control.ok("GET", "/_mayfly/streams/carts/shards");
  control.ok("POST", "/_mayfly/streams/carts/split");
  control.ok("POST", "/_mayfly/streams/carts/roll", "{}");
  CHECK(control.emulator
            .run("ImportTable",
                 R"({"ClientToken":"t","S3BucketSource":{"S3Bucket":"none"},"InputFormat":"ION",)"
                 R"("TableCreationParameters":{"TableName":"ghost","BillingMode":"PAY_PER_REQUEST",)"
                 R"("AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],)"
                 R"("KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]}})")
            .starts_with("200 "));
  control.ok("POST", "/_mayfly/jobs/await", R"({"timeout_seconds":60})");
  const std::string job = control.ok("GET", "/_mayfly/jobs")["jobs"][0]["id"];
  control.ok("GET", "/_mayfly/jobs/" + job);
  control.ok("GET", "/_mayfly/jobs/" + job + "/log");
  control.ok("PUT", "/_mayfly/replication", R"({"from":"us-east-1","to":"eu-west-1","paused":true})");
  control.ok("GET", "/_mayfly/replication");
  control.ok("POST", "/_mayfly/replication/settle");
  control.ok("DELETE", "/_mayfly/replication");
  control.ok("GET", "/_mayfly/triggers");
  control.ok("PUT", "/_mayfly/functions/f", R"({"url":"http://127.0.0.1:1/"})");
  control.ok("GET", "/_mayfly/functions");
  control.ok("DELETE", "/_mayfly/functions/f");
  control.ok("PUT", "/_mayfly/faults",
             R"({"rules":[{"fault":"stale_reads","writes":1,"seed":2},{"fault":"unprocessed","items":1}]})");
  control.ok("GET", "/_mayfly/faults");
  control.ok("DELETE", "/_mayfly/faults");
  control.ok("POST", "/_mayfly/reset");
  for (const ControlCall* call : all_calls()) {
    INFO(call->name);
    CHECK((call->waits == Waits::forever || control.called.contains(call->name)));
  }
}

TEST_CASE("each control call rejects unknown members", "[control]") {
  DescribedControl control;
  for (const ControlCall* call : all_calls()) {
    INFO(call->name);
    std::string body = "{\"zeta\":1";
    for (const Member& member : call->body) {
      if (member.given != Given::always) continue;
      body += ",\"" + std::string(member.name) + "\":";
      body += member.kind == Kind::key    ? R"({"id":{"S":"1"}})"
              : member.kind == Kind::list ? "[]"
              : !member.choices.empty()   ? '"' + std::string(member.choices[0]) + '"'
                                          : "\"x\"";
    }
    const compat::Answer answer = compat::control::answer(
        control.emulator.emulator(),
        {.method = call->method, .path = call->path, .body = body + "}", .scope = control.emulator.scope});
    CHECK(answer.status == 400);
    CHECK(answer.body.find("Unknown member 'zeta'; this call ") != std::string::npos);
  }
}

}  // namespace mayfly::testing
