// Tests TTL modes, counts and windows, snapshots, resets and metrics over HTTP.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "engine/storage/documents.h"
#include "tests/support/running.h"

namespace mayfly::testing {

using Json = nlohmann::json;

namespace {

constexpr std::int64_t new_year = 1'924'992'000;  // seconds

std::string ttl_member(std::int64_t seconds) {
  return R"(,"ttl":{"N":")" + std::to_string(seconds) + R"("})";
}

// A clock frozen at 2031-01-01, and a table with TTL enabled.
struct NewYear : Running {
  explicit NewYear(compat::EmulatorOptions options = {}) : Running({}, std::move(options)) {
    ok("PUT", "/_mayfly/clock", R"({"mode":"frozen","now":"2031-01-01T00:00:00Z"})");
    create_table("carts", true);
  }
  std::size_t count(const std::string& table) {
    return execute("Scan", R"({"TableName":")" + table + R"(","Select":"COUNT"})")["Count"]
        .get<std::size_t>();
  }
};

}  // namespace

TEST_CASE("TTL status shows pending and due items and their windows") {
  NewYear server;
  server.create_table("plain", false, false);
  server.put("carts", "a", ttl_member(new_year + 30));
  server.put("carts", "b", ttl_member(new_year + 59));
  server.put("carts", "c", ttl_member(new_year + 3600));
  server.put("carts", "d");
  CHECK(server.ok("GET", "/_mayfly/ttl") == Json::parse(R"({"tables":{
    "carts":{"status":"ENABLED","attribute":"ttl","mode":"exact","pending":3,"due":0,
      "next_due":"2031-01-01T00:00:30.001Z","expired":0,"born_expired":0,"lag_ms":{"p50":0,"p99":0,"max":0},
      "windows":[{"window":"2031-01-01T00:00:00.000Z_2031-01-01T00:01:00.000Z","count":2},
                 {"window":"2031-01-01T01:00:00.000Z_2031-01-01T01:01:00.000Z","count":1}]},
    "plain":{"status":"DISABLED","mode":"exact","pending":0,"due":0,"next_due":null,"expired":0,
      "born_expired":0,"lag_ms":{"p50":0,"p99":0,"max":0},"windows":[]}}})"));
  server.ok("POST", "/_mayfly/clock/advance", R"({"seconds":60})");
  const Json carts = server.ok("GET", "/_mayfly/ttl/carts");
  CHECK(carts["pending"] == 1);
  CHECK(carts["expired"] == 2);
  CHECK(carts["next_due"] == "2031-01-01T01:00:00.001Z");
  CHECK(
      server.ok("GET", "/_mayfly/ttl/carts/upcoming?limit=1") ==
      Json::parse(
          R"({"items":[{"key":{"id":{"S":"c"}},"due":"2031-01-01T01:00:00.001Z","expires_at":"2031-01-01T01:00:00.001Z"}]})"));
}

TEST_CASE("TTL windows have the requested length and start at multiples of that length") {
  NewYear server;
  server.put("carts", "a", ttl_member(new_year + 30));
  server.put("carts", "b", ttl_member(new_year + 3599));
  server.put("carts", "c", ttl_member(new_year + 3600));
  const Json hours = Json::parse(R"([
      {"window":"2031-01-01T00:00:00.000Z_2031-01-01T01:00:00.000Z","count":2},
      {"window":"2031-01-01T01:00:00.000Z_2031-01-01T02:00:00.000Z","count":1}])");
  CHECK(server.ok("GET", "/_mayfly/ttl/carts?window_seconds=3600")["windows"] == hours);
  CHECK(server.ok("GET", "/_mayfly/ttl?window_seconds=3600")["tables"]["carts"]["windows"] == hours);
  for (const auto& [seconds, got] :
       {std::pair("0", "0"), {"-1", "-1"}, {"1.5", "\"1.5\""}, {"x", "\"x\""}, {"31622401", "31622401"}}) {
    const HttpAnswer refused = server.call("GET", "/_mayfly/ttl?window_seconds=" + std::string(seconds));
    CHECK(refused.status == 400);
    CHECK(Json::parse(refused.body)["message"] ==
          "'window_seconds' must be a whole number between 1 and 31622400, got " + std::string(got) + ".");
  }
}

TEST_CASE("a snapshot keeps its name until it is deleted or the account is reset") {
  NewYear server;
  const std::string first = server.ok("POST", "/_mayfly/snapshots", R"({"name":"fixtures"})")["id"];
  const std::string second = server.ok("POST", "/_mayfly/snapshots", R"({"name":"<b>ä</b>"})")["id"];
  const std::string third = server.ok("POST", "/_mayfly/snapshots")["id"];
  const Json all = {
      {"snapshots",
       {{{"id", first}, {"name", "fixtures"}}, {{"id", second}, {"name", "<b>ä</b>"}}, {{"id", third}}}}};
  CHECK(server.ok("GET", "/_mayfly/snapshots") == all);
  // Restoring the first snapshot does not affect the second snapshot's name.
  server.ok("POST", "/_mayfly/snapshots/" + first + "/restore");
  CHECK(server.ok("GET", "/_mayfly/snapshots") == all);
  server.ok("DELETE", "/_mayfly/snapshots/" + first);
  CHECK(server.ok("GET", "/_mayfly/snapshots")["snapshots"].size() == 2);
  for (const std::string& name : {std::string(), std::string(256, 'x')}) {
    const HttpAnswer refused = server.call("POST", "/_mayfly/snapshots", Json{{"name", name}}.dump());
    CHECK(refused.status == 400);
    CHECK(Json::parse(refused.body)["message"].get<std::string>().starts_with(
        "'name' must be a string of 1 to 255 bytes, got \""));
  }
  CHECK(server.call("POST", "/_mayfly/snapshots", R"({"name":7})").status == 400);
  server.ok("POST", "/_mayfly/reset");
  CHECK(server.ok("GET", "/_mayfly/snapshots")["snapshots"].empty());
  CHECK(server.emulator->database().documents().list("snapshot-name").empty());
}

TEST_CASE("/_mayfly/accounts lists every account's tables by region for any caller") {
  CHECK(Running().ok("GET", "/_mayfly/accounts") ==
        Json::parse(R"({"accounts":[{"account":"000000000000","tables":{},"snapshots":0}]})"));
  NewYear server;
  server.ok("POST", "/_mayfly/snapshots");
  {
    Running::As other(server, "000000000042");
    server.create_table("carts", false);
    server.create_table("orders", false);
    CHECK(server.ok("GET", "/_mayfly/accounts") == Json::parse(R"({"accounts":[
        {"account":"000000000000","tables":{"us-east-1":1},"snapshots":1},
        {"account":"000000000042","tables":{"us-east-1":2},"snapshots":0}]})"));
  }
}

TEST_CASE("explain reports when an item expired and whether it was already expired when written") {
  NewYear server;
  const auto explain = [&](const std::string& id) {
    return server.ok("POST", "/_mayfly/ttl/carts/explain", R"({"key":{"id":{"S":")" + id + R"("}}})");
  };
  server.put("carts", "a", ttl_member(new_year + 30));
  server.ok("POST", "/_mayfly/clock/advance", R"({"seconds":172800})");
  CHECK(explain("a") == Json::parse(R"({"expires_at":"2031-01-01T00:00:30.001Z","reason":"expired","message":
    "By its ttl, the item expired at 2031-01-01T00:00:30.001Z. It was deleted at 2031-01-01T00:00:30.001Z."})"));
  server.put("carts", "b", ttl_member(new_year + 3600));  // as if the writer's clock had not advanced
  CHECK(explain("b") ==
        Json::parse(R"({"expires_at":"2031-01-01T01:00:00.001Z","reason":"born_expired","message":
    "The item was written at 2031-01-03T00:00:00.000Z with a ttl that was 1d 22h in the past, so it was deleted immediately. Does its writer use a different clock than the account?"})"));
  CHECK(explain("c")["reason"] == "no_item");
  const Json carts = server.ok("GET", "/_mayfly/ttl/carts");
  CHECK(carts["expired"] == 2);
  CHECK(carts["born_expired"] == 1);
  CHECK(carts["lag_ms"]["max"] == 0);
  const Json advanced = server.ok("POST", "/_mayfly/clock/advance", R"({"seconds":0})");
  CHECK(advanced["born_expired"] == Json::parse(R"({"carts":1})"));
  CHECK(advanced["born_expired_items"] == Json::parse(R"({"carts":[{"key":{"id":{"S":"b"}}}]})"));
  CHECK_FALSE(server.ok("POST", "/_mayfly/clock/advance", R"({"seconds":0})").contains("born_expired_items"));
  for (const char* id : {"c", "c"})
    server.put("carts", id, ttl_member(new_year));  // written twice, named once
  const Json again = server.ok("POST", "/_mayfly/clock/advance", R"({"seconds":0})");
  CHECK(again["born_expired"] == Json::parse(R"({"carts":2})"));
  CHECK(again["born_expired_items"] == Json::parse(R"({"carts":[{"key":{"id":{"S":"c"}}}]})"));
  server.put("carts", "b", ttl_member(new_year + 400'000));
  CHECK(explain("b")["reason"] == "not_due");
}

TEST_CASE("items that never expire are counted by reason and the latest are explained") {
  NewYear server;
  CHECK_FALSE(server.ok("GET", "/_mayfly/ttl/carts").contains("never"));
  CHECK_FALSE(server.ok("GET", "/_mayfly/ttl/carts").contains("suspects"));
  server.put("carts", "a", R"(,"ttl":{"S":"soon"})");
  server.put("carts", "b", ttl_member(new_year * 1000));
  server.put("carts", "c", R"(,"ttl":{"BOOL":true})");
  server.put("carts", "d", ttl_member(12));
  server.put("carts", "e", ttl_member(new_year - 60));
  const Json never{{"milliseconds", 1}, {"string", 1}, {"wrong_type", 1}, {"too_old", 1}};
  const Json shown = server.ok("GET", "/_mayfly/ttl/carts");
  CHECK(shown["never"] == never);
  const auto suspect = [](const char* id, const char* reason, const char* message) {
    return Json{{"key", {{"id", {{"S", id}}}}},
                {"reason", reason},
                {"message", message},
                {"at", "2031-01-01T00:00:00Z"}};
  };
  CHECK(
      shown["suspects"] ==
      Json{suspect("e", "born_expired",
                   "The item was written at 2031-01-01T00:00:00.000Z with a ttl that was 59s 999ms in "
                   "the past, so it was deleted immediately. Does its writer use a different clock than the "
                   "account?"),
           suspect("d", "too_old",
                   "ttl is 12 (1970-01-01T00:00:12.000Z), more than five years ago, so it never expires, as "
                   "on AWS."),
           suspect("c", "wrong_type", "ttl is a boolean, so it never expires; use a Number."),
           suspect("b", "milliseconds",
                   "ttl is 1924992000000, so it never expires. It looks like milliseconds: "
                   "2031-01-01T00:00:00.000Z; use seconds."),
           suspect("a", "string", "ttl is a string (\"soon\"), so it never expires; use a Number.")});
  CHECK(server.ok("GET", "/_mayfly/ttl")["tables"]["carts"]["never"] == never);
  const Json advanced = server.ok("POST", "/_mayfly/clock/advance", R"({"seconds":1})");
  CHECK(advanced["never"] == Json{{"carts", never}});
  CHECK(advanced["born_expired"] == Json{{"carts", 1}});
  server.execute("DeleteItem", R"({"TableName":"carts","Key":{"id":{"S":"a"}}})");
  const Json set = server.ok("PUT", "/_mayfly/clock", R"({"mode":"frozen"})");
  CHECK_FALSE(set["never"]["carts"].contains("string"));
  CHECK_FALSE(set.contains("born_expired"));  // the advance already reported this item
  server.ok("POST", "/_mayfly/reset");
  CHECK_FALSE(server.ok("POST", "/_mayfly/clock/advance", R"({"seconds":1})").contains("never"));
}

TEST_CASE("a message quotes only the beginning of a long TTL string or key") {
  NewYear server;
  std::string text;
  for (int i = 0; i < 500; ++i) text += "ä";
  server.put("carts", text, R"(,"ttl":{"S":"x)" + text + R"("})");
  CHECK(server.ok("GET", "/_mayfly/ttl/carts")["suspects"][0]["message"] ==
        "ttl is a string (\"x" + text.substr(0, 38) + "…\"), so it never expires; use a Number.");
  const HttpAnswer answer = server.call(
      "POST", "/_mayfly/await",
      R"({"table":"carts","key":{"id":{"S":")" + text + R"("}},"event":"REMOVE","timeout_seconds":0})");
  CHECK(Json::parse(answer.body)["message"] == "Timed out after 0 s: no change to carts/{\"id\": \"" +
                                                   text.substr(0, 100) + "…\"}. Its TTL is a string (\"x" +
                                                   text.substr(0, 38) +
                                                   "…\"), so it never expires; use a Number.");
}

TEST_CASE("an await that times out explains the item's TTL") {
  NewYear server;
  server.put("carts", "text", R"(,"ttl":{"S":"1795590184"})");
  server.put("carts", "later", ttl_member(new_year + 60));
  server.put("carts", "none");
  server.put("carts", "passed", ttl_member(new_year - 60));
  const auto timed_out = [&](const std::string& id, const std::string& more) {
    const HttpAnswer answer = server.call(
        "POST", "/_mayfly/await",
        R"({"table":"carts","key":{"id":{"S":")" + id + R"("}},"timeout_seconds":0)" + more + "}");
    CHECK(answer.status == 408);
    return Json::parse(answer.body)["message"].get<std::string>();
  };
  const auto no_change = [](const std::string& id) {
    return "Timed out after 0 s: no change to carts/{\"id\": \"" + id + "\"}.";
  };
  const std::string never = " Its TTL is a string (\"1795590184\"), so it never expires; use a Number.";
  CHECK(timed_out("text", "") == no_change("text") + never);
  CHECK(timed_out("text", R"(,"event":"REMOVE","by":"service")") == no_change("text") + never);
  CHECK(timed_out("text", R"(,"event":"MODIFY")") == no_change("text"));
  CHECK(timed_out("text", R"(,"by":"user")") == no_change("text"));
  CHECK(timed_out("later", R"(,"event":"REMOVE")") ==
        no_change("later") +
            " Its TTL is 1924992060; the item will be deleted at 2031-01-01T00:01:00.001Z. It is "
            "now 2031-01-01T00:00:00Z.");
  CHECK(timed_out("none", "") == no_change("none"));
  CHECK(timed_out("none", R"(,"by":"service")") ==
        no_change("none") + " The item has no attribute 'ttl', so it never expires.");
  CHECK(timed_out("passed", "").starts_with(no_change("passed") + " The item was written at "));
  CHECK(timed_out("gone", "") == no_change("gone"));
}

TEST_CASE("an advance adds up its time units") {
  NewYear server;
  const auto now_after = [&](std::string_view body) {
    return server.ok("POST", "/_mayfly/clock/advance", body)["now"].get<std::string>();
  };
  CHECK(now_after(R"({"days":2})") == "2031-01-03T00:00:00Z");
  CHECK(now_after(R"({"hours":1.5,"minutes":15,"seconds":0.25})") == "2031-01-03T01:45:00.250Z");
  CHECK(now_after(R"({"minutes":0})") == "2031-01-03T01:45:00.250Z");
  const auto refused = [&](std::string_view body) {
    const HttpAnswer answer = server.call("POST", "/_mayfly/clock/advance", body);
    CHECK(answer.status == 400);
    return Json::parse(answer.body)["message"].get<std::string>();
  };
  const std::string either =
      "Give either 'to' (a time, for example \"2026-11-20T00:00:00Z\", or \"next-expiry\") or a span in "
      "'seconds', 'minutes', 'hours' or 'days'.";
  CHECK(refused("{}") == either);
  CHECK(refused(R"({"hours":1,"to":"next-expiry"})") == either);
  CHECK(refused(R"({"hours":"1"})") == "'hours' must be a number between 0 and 70389527, got \"1\".");
  CHECK(refused(R"({"days":-1})") == "'days' must be a number between 0 and 2932896, got -1.");
  CHECK(refused(R"({"days":2932896,"hours":24})") == "The clock cannot go beyond the year 9999.");
}

TEST_CASE("in manual mode an expired item is deleted when a sweep is requested") {
  NewYear server;
  CHECK(server.ok("PUT", "/_mayfly/ttl/carts", R"({"mode":"manual"})")["mode"] == "manual");
  server.put("carts", "a", ttl_member(new_year + 30));
  server.put("carts", "b", ttl_member(new_year + 3600));
  CHECK(server.ok("POST", "/_mayfly/clock/advance", R"({"seconds":60})")["expired"] == 0);
  CHECK(server.ok("GET", "/_mayfly/ttl/carts")["due"] == 1);
  CHECK(server.count("carts") == 2);
  const Json why = server.ok("POST", "/_mayfly/ttl/carts/explain", R"({"key":{"id":{"S":"a"}}})");
  CHECK(why["reason"] == "due");
  CHECK(why["message"] ==
        "ttl is 1924992030, which has passed; the item is deleted by the next sweep (mode manual).");
  CHECK(server.ok("POST", "/_mayfly/ttl/carts/sweep") == Json::parse(R"({"expired":1})"));
  CHECK(server.ok("POST", "/_mayfly/ttl/carts/sweep", "{}") == Json::parse(R"({"expired":0})"));
  CHECK(server.removed("carts") == Json::parse(R"([["a",60]])"));
}

TEST_CASE("in aws mode an expired item is readable until its seeded delay has passed") {
  const auto gone_at = [](int seed) {
    NewYear server;
    server.ok("PUT", "/_mayfly/ttl/carts",
              R"({"mode":"aws","delay_seconds":[600,1680],"seed":)" + std::to_string(seed) + "}");
    server.put("carts", "a", ttl_member(new_year + 30));
    CHECK(server.ok("POST", "/_mayfly/clock/advance", R"({"seconds":630})")["expired"] == 0);
    CHECK(server.count("carts") == 1);
    const Json why = server.ok("POST", "/_mayfly/ttl/carts/explain", R"({"key":{"id":{"S":"a"}}})");
    CHECK(why["reason"] == "delayed");
    const std::string expires_at = why["expires_at"];
    CHECK(expires_at >= "2031-01-01T00:10:30");
    CHECK(expires_at <= "2031-01-01T00:28:30.001Z");
    CHECK(server.ok("POST", "/_mayfly/clock/advance", R"({"to":"next-expiry"})")["now"] == expires_at);
    CHECK(server.count("carts") == 0);
    return expires_at;
  };
  const std::string once = gone_at(1);
  CHECK(gone_at(1) == once);
  CHECK(gone_at(2) != once);
}

TEST_CASE("an invalid TTL mode is rejected") {
  NewYear server;
  const auto refused = [&](std::string_view body) {
    const HttpAnswer answer = server.call("PUT", "/_mayfly/ttl/carts", body);
    CHECK(answer.status == 400);
    return Json::parse(answer.body)["message"].get<std::string>();
  };
  CHECK(refused("{}") == "'mode' is required and must be exact, aws or manual.");
  CHECK(refused(R"({"mode":"late"})") == "'mode' must be exact, aws or manual, got \"late\".");
  CHECK(refused(R"({"mode":"exact","seed":1})") ==
        "'delay_seconds' and 'seed' are allowed only when mode is \"aws\".");
  for (const char* delay : {"5", "[1]", "[2,1]", "[-1,1]", "[1.5,2]", "[0,99999999]", R"(["1","2"])"})
    CHECK(refused(R"({"mode":"aws","delay_seconds":)" + std::string(delay) + "}") ==
          "'delay_seconds' must be an array of a minimum and a maximum, two whole numbers between 0 and "
          "2592000, got " +
              std::string(delay) + ".");
  CHECK(server.call("PUT", "/_mayfly/ttl/none", R"({"mode":"exact"})").status == 404);
  CHECK(server.call("GET", "/_mayfly/ttl/none").status == 404);
  CHECK(server.call("GET", "/_mayfly/ttl/carts/upcoming?limit=0").status == 400);
}

TEST_CASE("TimeToLive can change again after its cooldown on the account's clock") {
  NewYear server({.ttl_cooldown = std::chrono::minutes(30)});
  const std::string off =
      R"({"TableName":"carts","TimeToLiveSpecification":{"Enabled":false,"AttributeName":"ttl"}})";
  HttpClient client(server.port());
  client.send(operation_request("UpdateTimeToLive", off));
  CHECK(
      client.receive().body ==
      R"({"__type":"com.amazon.coral.validate#ValidationException","message":"Time to live has been modified multiple )"
      R"(times within a fixed interval"})");
  server.ok("POST", "/_mayfly/clock/advance", R"({"seconds":1800})");
  server.execute("UpdateTimeToLive", off);
}

TEST_CASE("a snapshot can restore items and their pending expiries and the clock any number of times") {
  NewYear server;
  server.put("carts", "a", ttl_member(new_year + 60));
  server.put("carts", "b");
  const std::string id = server.ok("POST", "/_mayfly/snapshots")["id"];
  CHECK(server.ok("GET", "/_mayfly/snapshots") == Json{{"snapshots", {{{"id", id}}}}});
  for (int round = 0; round < 2; ++round) {
    CHECK(server.ok("POST", "/_mayfly/clock/advance", R"({"seconds":3600})")["expired"] == 1);
    server.execute("DeleteTable", R"({"TableName":"carts"})");
    CHECK(server.ok("POST", "/_mayfly/snapshots/" + id + "/restore") ==
          Json{{"now", "2031-01-01T00:00:00Z"}});
    CHECK(server.count("carts") == 2);
    CHECK(server.ok("GET", "/_mayfly/ttl/carts")["pending"] == 1);
  }
  const std::string other = "000000000042";
  {
    Running::As stranger(server, other);
    CHECK(server.call("POST", "/_mayfly/snapshots/" + id + "/restore").status == 404);
    CHECK(server.ok("GET", "/_mayfly/snapshots") == Json::parse(R"({"snapshots":[]})"));
  }
  CHECK(server.ok("DELETE", "/_mayfly/snapshots/" + id) == Json::object());
  const HttpAnswer gone = server.call("DELETE", "/_mayfly/snapshots/" + id);
  CHECK(gone.status == 404);
  CHECK(Json::parse(gone.body)["message"] == "Account 000000000000 has no snapshot " + id + ".");
  CHECK(server.call("POST", "/_mayfly/snapshots/x/restore").status == 404);
}

TEST_CASE("a reset restores an account's initial state and leaves other accounts alone") {
  NewYear server;
  server.put("carts", "a");
  server.ok("POST", "/_mayfly/snapshots");
  server.ok("PUT", "/_mayfly/faults", R"({"rules":[{"operation":"Query","fault":"throttle"}]})");
  server.ok("PUT", "/_mayfly/failpoints", R"({"table":"carts","key":{"id":{"S":"a"}}})");
  {
    Running::As other(server, "000000000042");
    server.create_table("carts", false);
    server.ok("POST", "/_mayfly/reset");
    CHECK(server.execute("ListTables", "{}") == Json::parse(R"({"TableNames":[]})"));
  }
  CHECK(server.count("carts") == 1);
  server.ok("POST", "/_mayfly/reset");
  CHECK(server.execute("ListTables", "{}") == Json::parse(R"({"TableNames":[]})"));
  CHECK(server.ok("GET", "/_mayfly/clock")["mode"] == "real");
  CHECK(server.ok("GET", "/_mayfly/snapshots") == Json::parse(R"({"snapshots":[]})"));
  CHECK(server.ok("GET", "/_mayfly/faults") == Json::parse(R"({"rules":[]})"));
  CHECK(server.ok("GET", "/_mayfly/failpoints") == Json::parse(R"({"failpoints":[]})"));
}

TEST_CASE("metrics count operations as well as items and expiries") {
  NewYear server;
  server.put("carts", "a", ttl_member(new_year + 60));
  server.put("carts", "b", ttl_member(new_year + 7200));
  server.ok("POST", "/_mayfly/clock/advance", R"({"seconds":3600})");
  HttpClient client(server.port());
  client.send(operation_request("GetItem", R"({"TableName":"none","Key":{"id":{"S":"1"}}})"));
  client.receive();
  const HttpAnswer metrics = server.call("GET", "/_mayfly/metrics");
  CHECK(metrics.status == 200);
  CHECK(metrics.headers.at("content-type") == "text/plain; version=0.0.4");
  const std::string labels = R"({account="000000000000",region="us-east-1",TableName="carts"})";
  for (
      const std::string& line :
      {std::string("# TYPE mayfly_operation_duration_seconds histogram"),
       std::string(R"(mayfly_operation_duration_seconds_bucket{operation="PutItem",le="+Inf"} 2)"),
       std::string(R"(mayfly_operation_duration_seconds_count{operation="PutItem"} 2)"),
       std::string(R"(mayfly_operation_errors_total{operation="GetItem",by="client"} 1)"),
       "mayfly_table_items" + labels + " 1", "mayfly_expiry_pending" + labels + " 1",
       "mayfly_expiry_due" + labels + " 0", "TimeToLiveDeletedItemCount" + labels + " 1",
       std::string(
           R"(mayfly_expiry_lag_seconds_count{account="000000000000",region="us-east-1",TableName="carts"} 1)"),
       std::string("mayfly_stream_records_total 3")}) {
    INFO(line);
    CHECK(("\n" + metrics.body).find("\n" + line + "\n") != std::string::npos);
  }
  CHECK(metrics.body.find("operation=\"Scan\"") == std::string::npos);
}

}  // namespace mayfly::testing
