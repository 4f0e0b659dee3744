// A short test as a user would write it: it stores items in process and starts an endpoint for an SDK.
#include <cstdio>
#include <cstdlib>
#include <mayfly/mayfly.h>
#include <string_view>

namespace {

void expect(const mayfly::Answer& answer, std::string_view body) {
  if (answer.status == 200 && answer.body == body) return;
  std::fprintf(stderr, "%d %s\n", answer.status, answer.body.c_str());
  std::exit(1);
}

}  // namespace

int main() {
  mayfly::Emulator emulator({.frozen_at = mayfly::TimePoint(std::chrono::milliseconds(1'700'000'000'000))});
  const mayfly::Answer created =
      emulator.execute("CreateTable", R"({"TableName":"carts","BillingMode":"PAY_PER_REQUEST",
      "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
      "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]})");
  if (created.status != 200) expect(created, {});
  expect(emulator.execute("UpdateTimeToLive", R"({"TableName":"carts",
      "TimeToLiveSpecification":{"AttributeName":"ttl","Enabled":true}})"),
         R"({"TimeToLiveSpecification":{"AttributeName":"ttl","Enabled":true}})");
  expect(emulator.execute("PutItem",
                          R"({"TableName":"carts","Item":{"id":{"S":"1"},"ttl":{"N":"1700000060"}}})"),
         "{}");
  const char* get = R"({"TableName":"carts","Key":{"id":{"S":"1"}}})";

  // The item exists at its TTL and is deleted one millisecond later.
  if (emulator.advance(std::chrono::seconds(60)).expired != 0) return 2;
  expect(emulator.execute("GetItem", get), R"({"Item":{"id":{"S":"1"},"ttl":{"N":"1700000060"}}})");
  if (emulator.advance(std::chrono::milliseconds(1)).expired != 1) return 3;
  expect(emulator.execute("GetItem", get), "{}");

  mayfly::Server server(emulator);
  std::printf("an endpoint at %s\n", server.url().c_str());
  return server.port() == 0 ? 4 : 0;
}
