// Measures the memory cost of expressions in bytes allocated while a request runs. The items are as
// expensive as an item can be: a list of 390,000 empty strings counts as 390 KB in DynamoDB and takes 16 MB
// as a tree.
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>

#include "tests/support/test_emulator.h"

namespace {
thread_local std::uint64_t allocated_bytes = 0;
}

// These operators replace the library's operators in the whole program. They also count bytes.
void* operator new(std::size_t bytes) {
  allocated_bytes += bytes;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  allocated_bytes += bytes;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace mayfly::testing {

namespace {

constexpr int list_elements = 390'000;
constexpr std::uint64_t megabyte = 1'000'000;
const char* const too_large = "Item size to update has exceeded the maximum allowed size";

// one(0),one(1),…
template <class One>
std::string all_of(int count, const One& one, const std::string& between = ",") {
  std::string all;
  for (int i = 0; i < count; ++i) all += (i == 0 ? "" : between) + one(i);
  return all;
}

std::string list_of(int elements, const std::string& last = R"({"S":""})") {
  std::string text = R"({"L":[)";
  for (int i = 1; i < elements; ++i) text += R"({"S":""},)";
  return text + last + "]}";
}

// Concatenates `lists` copies of the list `l` with a balanced tree of list_append calls.
std::string appended(int lists) {
  if (lists == 1) return "l";
  return "list_append(" + appended(lists / 2) + "," + appended(lists - lists / 2) + ")";
}

struct Lists : TestEmulator {
  Lists() {
    run("CreateTable", R"({"TableName":"lists","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"},{"AttributeName":"owner","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
        "GlobalSecondaryIndexes":[{"IndexName":"by_owner","KeySchema":[{"AttributeName":"owner","KeyType":"HASH"}],
          "Projection":{"ProjectionType":"KEYS_ONLY"}}]})");
    REQUIRE(run("PutItem", R"({"TableName":"lists","Item":{"id":{"S":"a"},"l":)" + list_of(list_elements) +
                               "}}") == "200 {}");
  }
  // Runs a request that must not allocate more than `bytes_max`.
  std::string within(std::uint64_t bytes_max, const std::string& operation, const std::string& body) {
    const std::uint64_t before = allocated_bytes;
    const compat::Answer answer = execute(operation, body);
    CHECK(allocated_bytes - before <= bytes_max);
    return std::to_string(answer.status) + ' ' + answer.body;
  }
  static std::string update(const std::string& expression, const std::string& more = {}) {
    return R"({"TableName":"lists","Key":{"id":{"S":"a"}},"UpdateExpression":")" + expression + '"' + more +
           "}";
  }
  static std::string statement(const std::string& value) {
    return R"({"Statement":"UPDATE lists SET b = )" + value + R"( WHERE id = 'a'"})";
  }
  static std::string values(const std::string& value) {
    return R"(,"ExpressionAttributeValues":{":v":)" + value + "}";
  }
};

bool says(const std::string& answer, std::string_view message) {
  UNSCOPED_INFO(answer.substr(0, 500));
  return answer.find(message) != std::string::npos;
}

}  // namespace

TEST_CASE("an update whose result would exceed the item size limit builds none of the result's values",
          "[holds]") {
  Lists lists;
  const auto appends = [](int i) { return "q" + std::to_string(i) + "=list_append(l,l)"; };
  CHECK(says(lists.within(40 * megabyte, "UpdateItem", Lists::update("SET " + all_of(150, appends))),
             too_large));
  const auto copies = [](int i) { return "q" + std::to_string(i) + "=l"; };
  CHECK(says(lists.within(40 * megabyte, "UpdateItem", Lists::update("SET " + all_of(290, copies))),
             too_large));
  CHECK(says(lists.within(40 * megabyte, "ExecuteStatement", Lists::statement(appended(290))), too_large));
  const std::string member = Lists::statement(appended(80));
  const std::string batch =
      lists.within(600 * megabyte, "BatchExecuteStatement",
                   R"({"Statements":[)" + all_of(25, [&](int) { return member; }) + "]}");
  CHECK(batch.starts_with("200 "));
  CHECK(says(batch, too_large));
}

TEST_CASE("an expression that names a large value hundreds of times holds one copy of the value", "[holds]") {
  Lists lists;
  const std::string large = list_of(list_elements, R"({"S":"x"})");
  const auto sets = [](int i) { return "a" + std::to_string(i) + "=:v"; };
  const std::string update = Lists::update("SET " + all_of(290, sets), Lists::values(large));
  CHECK(says(lists.within(150 * megabyte, "UpdateItem", update), too_large));
  CHECK(says(
      lists.within(200 * megabyte, "TransactWriteItems", R"({"TransactItems":[{"Update":)" + update + "}]}"),
      "[ValidationError]"));
  const std::string comparisons = all_of(
      150, [](int) { return std::string("l=:v"); }, " OR ");
  CHECK(says(lists.within(150 * megabyte, "Scan",
                          R"({"TableName":"lists","FilterExpression":")" + comparisons + '"' +
                              Lists::values(large) + "}"),
             R"("Count":0)"));
  const std::string conditions = all_of(
      150, [](int i) { return "k" + std::to_string(i) + "=:v"; }, " AND ");
  CHECK(says(lists.within(150 * megabyte, "Query",
                          R"({"TableName":"lists","KeyConditionExpression":")" + conditions + '"' +
                              Lists::values(large) + "}"),
             "The number of query conditions (150) exceeds"));
}

TEST_CASE("type and path errors of an update take precedence over its size error", "[holds]") {
  Lists lists;
  const std::string large = "SET a=list_append(l,l),b=list_append(l,l)";
  CHECK(says(lists.run("UpdateItem", Lists::update(large + ",c=gone")),
             "The provided expression refers to an attribute that does not exist in the item"));
  CHECK(says(lists.run("UpdateItem", Lists::update(large + ",c=list_append(l,id)")),
             "An operand in the update expression has an incorrect data type"));
  CHECK(says(lists.run("UpdateItem", Lists::update(large + ",id2.b=l")),
             "The document path provided in the update expression is invalid for update"));
  CHECK(says(lists.run("UpdateItem", Lists::update(large)), too_large));
}

TEST_CASE("the condition and the SET clause of a statement may each have up to 300 operators", "[holds]") {
  Lists lists;
  const char* const too_many = "The expression contains too many operators; operator count: 301";
  CHECK(says(lists.run("ExecuteStatement", Lists::statement(appended(301))), too_large));
  CHECK(says(lists.run("ExecuteStatement", Lists::statement(appended(302))), too_many));
  const auto select = [](int comparisons, const std::string& begin) {
    return R"({"Statement":"SELECT id FROM lists WHERE )" + begin +
           all_of(
               comparisons, [](int) { return std::string("b=1"); }, " OR ") +
           "\"}";
  };
  CHECK(lists.run("ExecuteStatement", select(150, "NOT (b=2) AND ")).find("too many") != std::string::npos);
  CHECK(lists.run("ExecuteStatement", select(150, "")).starts_with("200 "));
}

TEST_CASE("a DELETE of a million members has a step limit and takes bounded memory if stored sets are small",
          "[holds]") {
  Lists lists;
  REQUIRE(lists
              .run("UpdateItem",
                   Lists::update(
                       "REMOVE l ADD " + all_of(290, [](int i) { return "s" + std::to_string(i) + " :v"; }),
                       Lists::values(R"({"SS":["1","x"]})")))
              .starts_with("200 "));
  const std::string million =
      R"({"SS":[)" + all_of(1'000'000, [](int i) { return '"' + std::to_string(i) + '"'; }) + "]}";
  const auto deletion = [&](int sets) {
    return Lists::update("DELETE " + all_of(sets, [](int i) { return "s" + std::to_string(i) + " :v"; }),
                         Lists::values(million));
  };
  CHECK(says(lists.run("UpdateItem", deletion(290)),
             "Evaluating the expressions of this request can take 2900"));
  CHECK(lists.within(300 * megabyte, "UpdateItem", deletion(40)) == "200 {}");
  CHECK(lists.run("GetItem",
                  R"({"TableName":"lists","Key":{"id":{"S":"a"}},"ProjectionExpression":"s0,s40"})") ==
        R"(200 {"Item":{"s0":{"SS":["x"]},"s40":{"SS":["1","x"]}}})");
}

}  // namespace mayfly::testing
