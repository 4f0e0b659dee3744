// Calls every tool, sometimes during concurrent writes. Also checks that the errors that operations raise are
// known, and sends malformed messages.
#include "compat/mcp/protocol.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <vector>

#include "compat/mcp/known_errors.h"
#include "compat/mcp/tools.h"
#include "compat/mcp/world.h"
#include "tests/support/test_emulator.h"

namespace mayfly::testing {

namespace {

namespace mcp = compat::mcp;
using nlohmann::json;

struct Agent {
  TestEmulator emulator;
  mcp::EmulatorWorld world{emulator.emulator()};
  mcp::Protocol protocol{world, {.scope = emulator.scope}};

  json ask(const json& message) {
    const mcp::Said said = protocol.answer(mcp::Message::read(message.dump()), {}, {});
    return said.body.empty() ? json() : json::parse(said.body);
  }
  json call(const std::string& tool, const json& arguments) {
    return ask({{"jsonrpc", "2.0"},
                {"id", 1},
                {"method", "tools/call"},
                {"params", {{"name", tool}, {"arguments", arguments}}}});
  }
  void create_carts() {
    const json answer =
        call("create_table", {{"TableName", "carts"},
                              {"BillingMode", "PAY_PER_REQUEST"},
                              {"AttributeDefinitions", {{{"AttributeName", "id"}, {"AttributeType", "S"}}}},
                              {"KeySchema", {{{"AttributeName", "id"}, {"KeyType", "HASH"}}}}});
    REQUIRE(answer["result"]["isError"] == false);
  }
};

}  // namespace

TEST_CASE("every tool has a description and answers any arguments with text", "[mcp]") {
  Agent agent;
  agent.create_carts();
  std::set<std::string> names;
  const json listed = agent.ask({{"jsonrpc", "2.0"}, {"id", 1}, {"method", "tools/list"}});
  for (const json& tool : listed["result"]["tools"]) {
    const std::string name = tool["name"];
    INFO(name);
    CHECK(names.insert(name).second);
    CHECK(tool["inputSchema"]["type"] == "object");
    CHECK(!tool["description"].get<std::string>().empty());
    for (const json& arguments :
         {json::object(), json{{"table", "carts"}, {"TableName", "carts"}}, json{{"limit", -1}}}) {
      const json result = agent.call(name, arguments)["result"];
      REQUIRE(result["isError"].is_boolean());
      CHECK(!result["content"][0]["text"].get<std::string>().empty());
      if (tool.contains("outputSchema") && result["isError"] == false)
        for (const json& needed : tool["outputSchema"]["required"])
          CHECK(result["structuredContent"].contains(needed.get<std::string>()));
    }
  }
  CHECK(names.size() == mcp::all_tools().size());
}

TEST_CASE("a tool rejects an invalid region name", "[mcp]") {
  Agent agent;
  for (const std::string& region :
       {std::string("a/b"), std::string("a\r\nb"), std::string("a\0b", 3), std::string(65, 'a')}) {
    const json refused = agent.call("list_tables", {{"region", region}})["result"];
    CHECK(refused["isError"] == true);
    CHECK(refused["content"][0]["text"] == "'region' must be up to 64 letters, digits, '-', '_' and '.'.");
  }
  CHECK(agent.call("list_tables", {{"region", "eu-west-1"}})["result"]["isError"] == false);
}

TEST_CASE("a misspelled argument is rejected and an unlisted member of the API is accepted", "[mcp]") {
  Agent agent;
  agent.create_carts();
  const json refused = agent.call("get_item", {{"Tablename", "carts"}});
  CHECK(refused["result"]["content"][0]["text"].get<std::string>().starts_with(
      "Unknown argument 'Tablename'; get_item accepts "));
  const json taken = agent.call(
      "put_item",
      {{"TableName", "carts"}, {"Item", {{"id", {{"S", "1"}}}}}, {"ReturnConsumedCapacity", "TOTAL"}});
  CHECK(taken["result"]["structuredContent"]["ConsumedCapacity"]["TableName"] == "carts");
}

TEST_CASE("an oversized page is shortened with a note and an oversized item is truncated with a note",
          "[mcp]") {
  Agent agent;
  agent.create_carts();
  for (const char* id : {"1", "2", "3", "4"})
    agent.call(
        "put_item",
        {{"TableName", "carts"}, {"plain", true}, {"Item", {{"id", id}, {"a", std::string(100'000, 'a')}}}});
  const json page = agent.call("scan", {{"TableName", "carts"}})["result"];
  CHECK(page["structuredContent"].contains("LastEvaluatedKey"));
  CHECK(page["content"][1]["text"].get<std::string>().starts_with("The page was shortened to fit"));
  agent.call(
      "put_item",
      {{"TableName", "carts"}, {"plain", true}, {"Item", {{"id", "5"}, {"a", std::string(300'000, 'a')}}}});
  const json item =
      agent.call("get_item", {{"TableName", "carts"}, {"plain", true}, {"Key", {{"id", "5"}}}})["result"];
  CHECK(item["content"][0]["text"].get<std::string>().size() == mcp::result_bytes_max);
  CHECK(item["content"][1]["text"].get<std::string>().starts_with("The result was truncated; "));
}

TEST_CASE("an unexpected response from the server is passed on as text in a valid message", "[mcp]") {
  struct Stranger final : mcp::World {
    compat::Answer answer;
    mcp::Asked operate(const engine::Scope&, std::string_view, const std::string&,
                       const std::stop_token&) override {
      return answer;
    }
    mcp::Asked call(const engine::Scope&, std::string_view, const std::string&, const std::string&,
                    const std::stop_token&) override {
      return answer;
    }
    std::string region() override { return "us-east-1"; }
  } stranger;
  const mcp::Protocol protocol(stranger, {.scope = {"000000000000", ""}});
  const auto answered = [&](int status, const std::string& body, const std::string& tool) {
    stranger.answer = {status, body};
    const std::string message =
        R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":")" + tool + R"("}})";
    const std::string said = protocol.answer(mcp::Message::read(message), {}, {}).body;
    CHECK(said.find('\n') == std::string::npos);
    return json::parse(said)["result"];
  };
  for (const char* body : {"{no json", "{\n\"TableNames\":[]}", "[1]", "<html>"}) {
    const json listed = answered(200, body, "list_tables");
    CHECK(listed["content"][0]["text"] == body);
    CHECK_FALSE(listed.contains("structuredContent"));
    CHECK(listed["isError"] == false);
    CHECK(answered(200, body, "show_clock")["isError"] == true);  // this tool has an output schema
  }
  CHECK(answered(200, "{\"a\":\"\xff\"}", "list_tables")["content"][0]["text"] ==
        "The server's response is not UTF-8 text.");
  const std::string long_text(mcp::result_bytes_max, 'x');
  const json refused =
      answered(400, R"({"__type":"a#B","message":"m","Reasons":[")" + long_text + R"("]})", "list_tables");
  CHECK(refused["content"][0]["text"] == "B: m");
  CHECK(refused["content"][1]["text"].get<std::string>().ends_with("xx ... and 45 more bytes."));
}

TEST_CASE("a message with more than 100000 JSON values is rejected", "[mcp]") {
  Agent agent;
  const auto answered = [&](std::size_t values) {
    std::string message = R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[0)";
    for (std::size_t n = 7; n < values; ++n) message += ",0";
    return agent.protocol.answer(mcp::Message::read(message + "]}}"), {}, {}).body;
  };
  CHECK(answered(mcp::message_values_max) == R"({"jsonrpc":"2.0","id":1,"result":{}})");
  CHECK(answered(mcp::message_values_max + 1) ==
        R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,)"
        R"("message":"Invalid request: more than 100000 JSON values"}})");
}

TEST_CASE("quoted headers and truncated names are valid UTF-8", "[mcp]") {
  Agent agent;
  const std::string_view ping = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  const auto requested = [&](std::string_view version) {
    const mcp::RoutingHeaders headers{.version = version, .method = "ping"};
    const mcp::Said said = agent.protocol.answer(mcp::Message::read(ping), {.headers = &headers}, {});
    CHECK(said.status == 400);
    return json::parse(said.body)["error"]["data"]["requested"];
  };
  CHECK(requested("2031-01-01") == "2031-01-01");
  CHECK(requested("2031\xff") == "");

  const json unknown =
      agent.ask({{"jsonrpc", "2.0"}, {"id", 1}, {"method", std::string(199, 'a') + "\u00e4"}});
  CHECK(unknown["error"]["message"] == "Method not found: " + std::string(199, 'a') + "...");
}

TEST_CASE("explain_error finds every error of DynamoDB and Mayfly by the error's name", "[mcp]") {
  for (const mcp::KnownError& known : mcp::known_errors()) {
    const auto explained = mcp::explain_error(compat::error_type(known.kind));
    REQUIRE(!explained.is_null());
    CHECK(explained["errors"][0]["name"] == compat::error_name(known.kind));
  }
  CHECK(mcp::explain_error("Nothing of the kind").is_null());
}

TEST_CASE("every error message that an operation raises is explained", "[mcp]") {
  Agent agent;
  agent.create_carts();
  const auto raised = [&](const std::string& tool, json arguments) {
    arguments["TableName"] = "carts";
    return agent.call(tool, arguments)["result"]["content"][0]["text"].get<std::string>();
  };
  for (const std::string& text : {raised("get_item", {{"Key", {{"other", {{"S", "1"}}}}}}),
                                  raised("put_item", {{"Item", json::object()}}),
                                  raised("put_item", {{"Item", {{"id", {{"N", "1"}}}}}}),
                                  raised("query", {{"IndexName", "none"},
                                                   {"KeyConditionExpression", "id = :a"},
                                                   {"ExpressionAttributeValues", {{":a", {{"S", "1"}}}}}}),
                                  raised("scan", {{"FilterExpression", "ttl = :a"},
                                                  {"ExpressionAttributeValues", {{":a", {{"S", "1"}}}}}}),
                                  raised("scan", {{"FilterExpression", "#a = :a"}}),
                                  raised("scan", {{"FilterExpression", "a = :a"}})}) {
    INFO(text);
    const auto explained = mcp::explain_error(text);
    REQUIRE(!explained.is_null());
    CHECK(!explained["messages"].empty());
  }
  CHECK(mcp::known_messages().size() > 10);
}

TEST_CASE("all tools respond when they are called concurrently with each other and with writers", "[mcp]") {
  Agent agent;
  agent.create_carts();
  std::vector<std::thread> callers;
  std::atomic<int> broken = 0;
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 3; ++round) {
        for (const mcp::Tool& tool : mcp::all_tools()) {
          if (tool.name == "reset_account" || tool.name == "arm_failpoint") continue;
          const json answer =
              agent.call(std::string(tool.name),
                         {{"TableName", "carts"}, {"account", "00000000000" + std::to_string(caller)}});
          broken += !answer.contains("result");
          broken += agent
                        .call("put_item", {{"TableName", "carts"},
                                           {"plain", true},
                                           {"Item", {{"id", std::to_string(caller)}, {"ttl", round}}}})
                        .contains("error");
        }
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(broken == 0);
}

}  // namespace mayfly::testing
