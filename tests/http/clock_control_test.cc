// Tests the clock, failpoints and explanations over HTTP.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/support/running.h"

namespace mayfly::testing {

using Json = nlohmann::json;

namespace {

constexpr std::int64_t new_year_2031 = 1'924'992'000;  // seconds

std::string ttl(std::int64_t seconds) { return R"(,"ttl":{"N":")" + std::to_string(seconds) + R"("})"; }

}  // namespace

TEST_CASE("advancing a frozen clock expires items in order and does not move another account's clock") {
  Running server;
  CHECK(server.ok("GET", "/_mayfly/clock")["mode"] == "real");
  CHECK(server.ok("PUT", "/_mayfly/clock", R"({"mode":"frozen","now":"2031-01-01T00:00:00Z"})") ==
        Json::parse(
            R"({"mode":"frozen","now":"2031-01-01T00:00:00Z","expired":0,"tables":{},"next_expiry":null})"));
  server.create_table("carts", true);
  for (const int hours : {30, 10, 20, 72})
    server.put("carts", std::to_string(hours), ttl(new_year_2031 + hours * 3600));

  CHECK(
      server.ok("POST", "/_mayfly/clock/advance", R"({"to":"next-expiry"})") ==
      Json::parse(
          R"({"now":"2031-01-01T10:00:00.001Z","expired":1,"tables":{"carts":1},"next_expiry":"2031-01-01T20:00:00.001Z"})"));
  CHECK(
      server.ok("POST", "/_mayfly/clock/advance", R"({"seconds":136799.999})") ==
      Json::parse(
          R"({"now":"2031-01-03T00:00:00Z","expired":2,"tables":{"carts":2},"next_expiry":"2031-01-04T00:00:00.001Z"})"));
  CHECK(server.ok("GET", "/_mayfly/clock") ==
        Json::parse(R"({"mode":"frozen","now":"2031-01-03T00:00:00Z"})"));
  CHECK(server.removed("carts") == Json::parse(R"([["10",36000],["20",72000],["30",108000]])"));

  server.account = "000000000042";
  CHECK(server.ok("GET", "/_mayfly/clock")["mode"] == "real");
}

TEST_CASE("an advance to next-expiry without a pending expiry changes nothing and says so") {
  Running server;
  server.ok("PUT", "/_mayfly/clock", R"({"mode":"frozen","now":"2031-01-01T00:00:00Z"})");
  CHECK(server.ok("POST", "/_mayfly/clock/advance", R"({"to":"next-expiry"})") ==
        Json::parse(R"({"now":"2031-01-01T00:00:00Z","expired":0,"tables":{},"next_expiry":null,)"
                    R"("message":"No item is going to expire, so the clock did not move."})"));
}

TEST_CASE("time can go back only while an account has no tables") {
  Running server;
  server.ok("PUT", "/_mayfly/clock", R"({"mode":"frozen","now":"2031-01-01T00:00:00Z"})");
  CHECK(server.ok("PUT", "/_mayfly/clock", R"({"now":"2020-01-01T00:00:00Z"})")["now"] ==
        "2020-01-01T00:00:00Z");
  server.create_table("carts", false);
  const HttpAnswer back = server.call("PUT", "/_mayfly/clock", R"({"now":"2019-01-01T00:00:00Z"})");
  CHECK(back.status == 409);
  CHECK(Json::parse(back.body)["__type"] == "mayfly#Conflict");
  CHECK(Json::parse(back.body)["message"] ==
        "The clock cannot go back while the account has tables: 2019-01-01T00:00:00Z is before "
        "2020-01-01T00:00:00Z. To go back, reset the account or restore a snapshot.");
  CHECK(server.call("POST", "/_mayfly/clock/advance", R"({"to":"2019-01-01T00:00:00Z"})").status == 409);
}

TEST_CASE("advancing a real clock makes it an offset clock and advancing a scaled clock keeps its rate") {
  Running server;
  server.ok("POST", "/_mayfly/clock/advance", R"({"seconds":3600})");
  CHECK(server.ok("GET", "/_mayfly/clock")["mode"] == "offset");
  CHECK(server.ok("PUT", "/_mayfly/clock", R"({"rate":60})")["mode"] == "rate");
  server.ok("POST", "/_mayfly/clock/advance", R"({"seconds":3600})");
  const Json clock = server.ok("GET", "/_mayfly/clock");
  CHECK(clock["mode"] == "rate");
  CHECK(clock["rate"] == 60);
  CHECK(server.ok("PUT", "/_mayfly/clock", R"({"mode":"frozen"})")["mode"] == "frozen");
}

TEST_CASE("an invalid time or clock mode is rejected") {
  Running server;
  const auto refused = [&](std::string_view method, std::string_view path, std::string_view body) {
    const HttpAnswer answer = server.call(method, path, body);
    CHECK(answer.status == 400);
    return Json::parse(answer.body)["message"].get<std::string>();
  };
  CHECK(refused("PUT", "/_mayfly/clock", R"({"mode":"fast"})") ==
        "'mode' must be real, frozen, offset or rate, got \"fast\".");
  CHECK(refused("PUT", "/_mayfly/clock", R"({"mode":"rate"})") ==
        "'rate' is required when mode is \"rate\".");
  CHECK(refused("PUT", "/_mayfly/clock", R"({"mode":"frozen","rate":2})") ==
        "'rate' is allowed only when mode is \"rate\".");
  CHECK(refused("PUT", "/_mayfly/clock", R"({"mode":"real","now":"2031-01-01T00:00:00Z"})") ==
        "'now' is not allowed when mode is \"real\", which follows the host's time.");
  CHECK(refused("PUT", "/_mayfly/clock", R"({"rate":0})") ==
        "'rate' must be a number between 0.001 and 1000000, got 0.");
  for (const char* text :
       {"2031-13-01T00:00:00Z", "2031-02-29T00:00:00Z", "2031-01-01T24:00:00Z", "2031-01-01",
        "1969-12-31T23:59:59Z", "2031-01-01T00:00:00", "2031-01-01T00:00:00Zz", ""})
    CHECK(refused("PUT", "/_mayfly/clock", R"({"now":")" + std::string(text) + R"("})") ==
          R"('now' must be a time, for example "2026-11-20T00:00:00Z", got ")" + std::string(text) + "\".");
  const std::string either =
      R"(Give either 'to' (a time, for example "2026-11-20T00:00:00Z", or "next-expiry") or a span in )"
      R"('seconds', 'minutes', 'hours' or 'days'.)";
  CHECK(refused("POST", "/_mayfly/clock/advance", "{}") == either);
  CHECK(refused("POST", "/_mayfly/clock/advance", R"({"seconds":1,"to":"next-expiry"})") == either);
  CHECK(refused("POST", "/_mayfly/clock/advance", R"({"seconds":-1})") ==
        "'seconds' must be a number between 0 and 253402300799, got -1.");
  CHECK(refused("POST", "/_mayfly/clock/advance", R"({"seconds":253402300799})") ==
        "The clock cannot go beyond the year 9999.");
  CHECK(refused("POST", "/_mayfly/clock/advance", R"({"to":"tomorrow"})") ==
        R"('to' must be a time, for example "2026-11-20T00:00:00Z", or "next-expiry", got "tomorrow".)");
}

TEST_CASE("times can have fractions and UTC offsets") {
  Running server;
  const auto now = [&](const std::string& text) {
    return server.ok("PUT", "/_mayfly/clock", R"({"mode":"frozen","now":")" + text + R"("})")["now"];
  };
  CHECK(now("2031-01-01T00:00:00.25Z") == "2031-01-01T00:00:00.250Z");
  CHECK(now("2031-01-01T02:30:00+02:30") == "2031-01-01T00:00:00Z");
  CHECK(now("2030-12-31T20:00:00-0400") == "2031-01-01T00:00:00Z");
  CHECK(now("2031-01-01T00:00Z") == "2031-01-01T00:00:00Z");
}

TEST_CASE("an item that is renewed at a failpoint survives") {
  Running server;
  server.ok("PUT", "/_mayfly/clock", R"({"mode":"frozen","now":"2031-01-01T00:00:00Z"})");
  server.create_table("carts", true);
  for (const char* id : {"renewed", "left"}) server.put("carts", id, ttl(new_year_2031 + 60));
  const std::string renewed = R"({"table":"carts","key":{"id":{"S":"renewed"}}})";
  CHECK(
      server.ok("PUT", "/_mayfly/failpoints", renewed) ==
      Json::parse(
          R"({"failpoints":[{"region":"us-east-1","table":"carts","key":{"id":{"S":"renewed"}},"state":"armed"}]})"));
  server.ok("PUT", "/_mayfly/failpoints", R"({"table":"carts","key":{"id":{"S":"left"}}})");

  HttpClient advancing(server.port());
  advancing.send(server.request("POST", "/_mayfly/clock/advance", R"({"seconds":3600})"));
  while (server.count_waiting() < 2) {}
  // Both items are due and not yet deleted. Meanwhile another account's clock moves, and writes succeed.
  CHECK(server.ok("GET", "/_mayfly/clock")["now"] == "2031-01-01T00:01:00.001Z");
  server.put("carts", "renewed", ttl(new_year_2031 + 86400));
  {
    Running::As other(server, "000000000042");
    server.ok("POST", "/_mayfly/clock/advance", R"({"seconds":3600})");
  }
  server.ok("DELETE", "/_mayfly/failpoints", renewed);
  CHECK(server.count_waiting() == 1);
  CHECK(server.ok("DELETE", "/_mayfly/failpoints") == Json::parse(R"({"failpoints":[]})"));
  CHECK(
      Json::parse(advancing.receive().body) ==
      Json::parse(
          R"({"now":"2031-01-01T01:00:00Z","expired":1,"tables":{"carts":1},"next_expiry":"2031-01-02T00:00:00.001Z"})"));
  CHECK(server.removed("carts") == Json::parse(R"([["left",60]])"));
  CHECK(server.call("DELETE", "/_mayfly/failpoints", renewed).status == 404);
}

TEST_CASE("a server can stop while an expiry waits at a failpoint") {
  Running server;
  server.ok("PUT", "/_mayfly/clock", R"({"mode":"frozen","now":"2031-01-01T00:00:00Z"})");
  server.create_table("carts", false);
  server.put("carts", "1", ttl(new_year_2031 + 60));
  server.ok("PUT", "/_mayfly/failpoints", R"({"table":"carts","key":{"id":{"S":"1"}}})");
  HttpClient client(server.port());
  client.send(server.request("POST", "/_mayfly/clock/advance", R"({"seconds":3600})"));
  while (server.count_waiting() < 1) {}
  server.stop();
}

TEST_CASE("explain says why an item still exists") {
  Running server;
  server.ok("PUT", "/_mayfly/clock", R"({"mode":"frozen","now":"2031-01-01T00:00:00Z"})");
  server.create_table("plain", false, false);
  server.create_table("carts", false);
  server.put("plain", "1");
  server.put("carts", "none");
  server.put("carts", "text", R"(,"ttl":{"S":"1924992000"})");
  server.put("carts", "ms", ttl(new_year_2031 * 1000));
  server.put("carts", "us", ttl(new_year_2031 * 1'000'000));
  server.put("carts", "old", ttl(new_year_2031 - 157'784'761));
  server.put("carts", "negative", ttl(-1));
  server.put("carts", "later", ttl(new_year_2031 + 60));
  const auto explain = [&](const std::string& table, const std::string& id) {
    return server.ok("POST", "/_mayfly/ttl/" + table + "/explain", R"({"key":{"id":{"S":")" + id + R"("}}})");
  };
  const auto answer = [](const char* expires_at, const char* reason, const char* message) {
    return Json{
        {"expires_at", expires_at ? Json(expires_at) : Json()}, {"reason", reason}, {"message", message}};
  };
  CHECK(explain("plain", "1") ==
        answer(nullptr, "ttl_disabled", "TTL is not enabled on the table; enable it with UpdateTimeToLive."));
  CHECK(explain("carts", "missing") ==
        answer(nullptr, "no_item", "There is no item with this key: it never existed or was deleted."));
  CHECK(explain("carts", "none") ==
        answer(nullptr, "no_attribute", "The item has no attribute 'ttl', so it never expires."));
  CHECK(explain("carts", "text") ==
        answer(nullptr, "not_a_number",
               "ttl is a string (\"1924992000\"), so it never expires; use a Number."));
  CHECK(
      explain("carts", "ms") ==
      answer(
          nullptr, "milliseconds",
          "ttl is 1924992000000, so it never expires. It looks like milliseconds: 2031-01-01T00:00:00.000Z; "
          "use seconds."));
  CHECK(explain("carts", "us") ==
        answer(nullptr, "milliseconds",
               "ttl is 1924992000000000, so it never expires. It looks like microseconds: "
               "2031-01-01T00:00:00.000Z; use seconds."));
  CHECK(explain("carts", "old") ==
        answer(nullptr, "too_old",
               "ttl is 1767207239 (2025-12-31T18:53:59.000Z), more than five years "
               "ago, so it never expires, as on AWS."));
  CHECK(explain("carts", "negative")["reason"] == "too_old");
  CHECK(explain("carts", "later") == answer("2031-01-01T00:01:00.001Z", "not_due",
                                            "ttl is 1924992060; the item will be deleted at "
                                            "2031-01-01T00:01:00.001Z. It is now 2031-01-01T00:00:00Z."));
  CHECK(server.call("POST", "/_mayfly/ttl/none/explain", R"({"key":{"id":{"S":"1"}}})").status == 404);
}

}  // namespace mayfly::testing
