// Tests responses that could be very long. Only a limited part of such a response is in memory at once.
#include <catch2/catch.hpp>
#include <string>

#include "compat/control/control.h"
#include "tests/support/test_emulator.h"

namespace mayfly::testing {

namespace {

void create_table(TestEmulator& emulator, const std::string& name) {
  emulator.ok("CreateTable", {{"TableName", name},
                              {"AttributeDefinitions", {{{"AttributeName", "id"}, {"AttributeType", "S"}}}},
                              {"KeySchema", {{{"AttributeName", "id"}, {"KeyType", "HASH"}}}},
                              {"BillingMode", "PAY_PER_REQUEST"}});
}

compat::Answer metrics(TestEmulator& emulator, bool in_pieces) {
  return compat::control::answer(
      emulator.emulator(),
      {.method = "GET", .path = "/_mayfly/metrics", .scope = emulator.scope, .in_pieces = in_pieces});
}

// Removes the line with the resident memory, which changes between pages.
std::string without_resident_bytes(std::string page) {
  const auto from = page.find("\nmayfly_resident_bytes ");
  REQUIRE(from != std::string::npos);
  return page.erase(from, page.find('\n', from + 1) - from);
}

}  // namespace

TEST_CASE("the pieces of the metrics page add up to the whole page") {
  TestEmulator emulator;
  for (int n = 0; n < 300; ++n) create_table(emulator, "table-" + std::to_string(n));
  const auto answer = metrics(emulator, true);
  REQUIRE(answer.source);
  CHECK(answer.body.empty());
  std::string page;
  std::size_t pieces = 0;
  for (bool more = true; more; ++pieces) {
    std::string piece;
    more = answer.source->next(piece, {});
    CHECK(piece.size() < 80 * 1024);
    page += piece;
  }
  CHECK(pieces > 2);
  CHECK(without_resident_bytes(page) == without_resident_bytes(metrics(emulator, false).body));
  CHECK(page.find(
            "mayfly_expiry_due{account=\"000000000000\",region=\"us-east-1\",TableName=\"table-299\"} 0\n") !=
        std::string::npos);
}

TEST_CASE("BatchGetItem returns unprocessed keys when its response would be too long") {
  TestEmulator emulator;
  create_table(emulator, "carts");
  constexpr std::size_t items = 15, nulls = 190'000;  // 5.7 MB stored, 40 MB as JSON
  std::string list;
  for (std::size_t n = 0; n < nulls; ++n) list += n == 0 ? R"({"NULL":true})" : R"(,{"NULL":true})";
  nlohmann::json keys = nlohmann::json::array();
  for (std::size_t n = 0; n < items; ++n) {
    const std::string id = std::to_string(n);
    REQUIRE(emulator.run("PutItem", R"({"TableName":"carts","Item":{"id":{"S":")" + id + R"("},"l":{"L":[)" +
                                        list + "]}}}") == "200 {}");
    keys.push_back({{"id", {{"S", id}}}});
  }
  std::size_t got = 0, requests = 0;
  for (nlohmann::json left = {{"carts", {{"Keys", keys}}}}; !left.empty(); ++requests) {
    const nlohmann::json request = {{"RequestItems", left}};
    const compat::Answer answer = emulator.execute("BatchGetItem", request.dump());
    REQUIRE(answer.status == 200);
    CHECK(answer.body.size() < 36 * 1024 * 1024);
    for (auto at = answer.body.find(R"({"id":{"S":)"); at < answer.body.find("UnprocessedKeys");
         at = answer.body.find(R"({"id":{"S":)", at + 1))
      ++got;
    const auto unprocessed = answer.body.find(R"("UnprocessedKeys":)") + 18;
    left = nlohmann::json::parse(answer.body.substr(unprocessed, answer.body.rfind('}') - unprocessed));
  }
  CHECK(got == items);
  CHECK(requests == 2);
}

}  // namespace mayfly::testing
