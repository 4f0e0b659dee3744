// Tests mayfly table and mayfly item against a server.
#include "cli/calls/item_command.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/process.h"

namespace mayfly::testing {

namespace {

class Shell {
 public:
  explicit Shell(std::vector<std::string> options = {})
      : server_(frozen_server(options)), url_(local_url(server_.port())) {}
  ~Shell() { CHECK(server_.end_cleanly()); }
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;

  std::string operator()(std::vector<std::string> words) const {
    return printed(at_server(std::move(words)));
  }
  // Runs a command with these environment variables. The command must succeed.
  [[nodiscard]] std::string with(std::vector<std::string> environment, std::vector<std::string> words) const {
    Process command(at_server(std::move(words)), std::move(environment));
    std::string text = command.rest();
    CHECK(command.wait() == 0);
    return text;
  }
  [[nodiscard]] std::string refused(std::vector<std::string> words) const {
    return testing::refused(at_server(std::move(words)));
  }

 private:
  [[nodiscard]] std::vector<std::string> at_server(std::vector<std::string> words) const {
    words.insert(words.end(), {"--url", url_});
    return words;
  }

  Process server_;
  std::string url_;
};

std::string request_of(const cli::ItemCommand& command) {
  const auto request = cli::create_request(command);
  return request ? json::print(*request) : request.error();
}

}  // namespace

TEST_CASE("table create uses the names and defaults of the language packages") {
  CHECK(
      request_of({.table = "carts"}) ==
      R"({"TableName":"carts","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],)"
      R"("AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],)"
      R"("StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"}})");
  CHECK(
      request_of({.table = "carts",
                  .key = "user",
                  .sort = "at:N",
                  .stream = "off",
                  .indexes = {"by_owner:owner,at", "by_kind:kind=KEYS_ONLY", "by_size:size:N=a,b"},
                  .local_indexes = {"by_name:name"}}) ==
      R"({"TableName":"carts","BillingMode":"PAY_PER_REQUEST",)"
      R"("KeySchema":[{"AttributeName":"user","KeyType":"HASH"},{"AttributeName":"at","KeyType":"RANGE"}],)"
      R"("GlobalSecondaryIndexes":[)"
      R"({"IndexName":"by_owner","KeySchema":[{"AttributeName":"owner","KeyType":"HASH"},)"
      R"({"AttributeName":"at","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}},)"
      R"({"IndexName":"by_kind","KeySchema":[{"AttributeName":"kind","KeyType":"HASH"}],)"
      R"("Projection":{"ProjectionType":"KEYS_ONLY"}},)"
      R"({"IndexName":"by_size","KeySchema":[{"AttributeName":"size","KeyType":"HASH"}],)"
      R"("Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["a","b"]}}],)"
      R"("LocalSecondaryIndexes":[{"IndexName":"by_name","KeySchema":[{"AttributeName":"user","KeyType":"HASH"},)"
      R"({"AttributeName":"name","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}],)"
      R"("AttributeDefinitions":[{"AttributeName":"user","AttributeType":"S"},{"AttributeName":"at","AttributeType":"N"},)"
      R"({"AttributeName":"owner","AttributeType":"S"},{"AttributeName":"kind","AttributeType":"S"},)"
      R"({"AttributeName":"size","AttributeType":"N"},{"AttributeName":"name","AttributeType":"S"}]})");
}

TEST_CASE("an invalid index and an attribute with two types are rejected before any request is sent") {
  const std::string global =
      "--index must be NAME:KEY[,SORT][=PROJECTION], such as by_owner:owner,at:N, got '";
  for (const char* text : {"x", ":x", "x:", "x:a,b,c", "x=a:b", "x:a,", ""})
    CHECK(request_of({.table = "carts", .indexes = {text}}) == global + text + "'.");
  CHECK(request_of({.table = "carts", .local_indexes = {"x:a,b"}}) ==
        "--local-index must be NAME:SORT[=PROJECTION], such as by_time:at:N, got 'x:a,b'.");
  const std::string attribute = "a key attribute must be NAME, NAME:S, NAME:N or NAME:B, got '";
  for (const char* text : {"id:n", "id:", ":N", "id:N:S", ""})
    CHECK(request_of({.table = "carts", .key = text}) == attribute + text + "'.");
  CHECK(request_of({.table = "carts", .indexes = {"by_x:x:n"}}) == attribute + "x:n'.");
  CHECK(request_of({.table = "carts", .sort = "at:N", .indexes = {"x:at:S"}}) ==
        "attribute 'at' has conflicting types N and S.");
}

TEST_CASE("the table commands manage a table from creation to deletion") {
  const Shell mayfly;
  CHECK(mayfly({"table", "list"}) == "No tables in account 000000000000, region us-east-1.\n");
  CHECK(mayfly({"table", "list", "--account", "000000000042", "--region", "eu-west-1"}) ==
        "No tables in account 000000000042, region eu-west-1.\n");
  CHECK(mayfly({"table", "create", "carts", "--ttl", "ttl", "--index", "by_owner:owner,at:N=total"}) ==
        "Created table carts.\n");
  CHECK(mayfly({"table", "create", "plain", "--key", "n:N", "--no-stream"}) == "Created table plain.\n");
  CHECK(mayfly({"table", "list"}) ==
        "TABLE  KEY   SORT  STREAM              ITEMS\n"
        "carts  id:S        NEW_AND_OLD_IMAGES  0\n"
        "plain  n:N                             0\n");
  CHECK(mayfly({"table", "list", "--json"}) ==
        "{\n  \"TableNames\": [\n    \"carts\",\n    \"plain\"\n  ]\n}\n");
  CHECK(mayfly({"table", "list", "--account", "000000000042", "--json"}) == "{\n  \"TableNames\": []\n}\n");
  const std::string described = mayfly({"table", "describe", "carts"});
  CHECK_THAT(described,
             Catch::StartsWith("table       carts\nstatus      ACTIVE\nkey         id:S\nttl         ttl\n"
                               "stream      NEW_AND_OLD_IMAGES\nitems       0\n"));
  CHECK_THAT(described,
             Catch::EndsWith("\nINDEX     KEY      SORT  PROJECTION\nby_owner  owner:S  at:N  total\n"));
  const auto json = nlohmann::json::parse(mayfly({"table", "describe", "carts", "--json"}));
  CHECK(json["Table"]["TableName"] == "carts");
  CHECK(json["TimeToLiveDescription"]["AttributeName"] == "ttl");
  CHECK_THAT(mayfly.refused({"table", "create", "carts"}), Catch::Contains("carts"));
  for (const char* command : {"describe", "delete"})
    CHECK(mayfly.refused({"table", command, "cart"}) ==
          "mayfly: There is no table 'cart' in account 000000000000, region us-east-1. Did you mean "
          "'carts'?\n");
  CHECK(mayfly({"table", "delete", "carts"}) == "Deleted table carts.\n");
  CHECK(nlohmann::json::parse(
            mayfly({"table", "delete", "plain", "--json"}))["TableDescription"]["TableName"] == "plain");
}

TEST_CASE("a table that is created slowly still gets its TTL") {
  const Shell mayfly({"--table-delay-ms", "300"});
  CHECK(mayfly({"table", "create", "carts", "--ttl", "ttl"}) == "Created table carts.\n");
  CHECK_THAT(mayfly({"table", "describe", "carts"}), Catch::Contains("\nttl         ttl\n"));
}

TEST_CASE("the item commands put an item with a TTL and explain why the item is gone") {
  const Shell mayfly;
  mayfly({"table", "create", "carts", "--ttl", "ttl"});
  CHECK(mayfly({"item", "put", "carts", "id=1", "ttl=+48h", "total=12.5"}) ==
        "Put id=1 into carts. It expires at 2031-01-03T00:00:00.001Z.\n");
  CHECK(mayfly({"item", "get", "carts", "1"}) ==
        "id     1\ntotal  12.5\nttl    1925164800 (2031-01-03T00:00:00Z)\n");
  CHECK(nlohmann::json::parse(mayfly({"item", "get", "carts", "id=1", "--json"})) ==
        nlohmann::json::parse(R"({"Item":{"id":{"S":"1"},"ttl":{"N":"1925164800"},"total":{"N":"12.5"}}})"));
  CHECK_THAT(mayfly({"ttl", "explain", "carts", "1"}), Catch::Contains("reason      not_due\n"));
  mayfly({"clock", "advance", "72h"});
  CHECK_THAT(
      mayfly.refused({"item", "get", "carts", "1"}),
      Catch::StartsWith("mayfly: no item id=1 in carts. ") && Catch::Contains("2031-01-03T00:00:00.001Z"));
  CHECK(mayfly.refused({"item", "get", "carts", "2"}) == "mayfly: no item id=2 in carts.\n");
  CHECK(mayfly({"item", "scan", "carts"}) == "No items in carts.\n");
}

TEST_CASE("item put warns about a TTL that can never fire") {
  const Shell mayfly;
  mayfly({"table", "create", "carts", "--ttl", "ttl"});
  CHECK_THAT(mayfly({"item", "put", "carts", "id=1", "ttl=1924992000000"}),
             Catch::StartsWith("Put id=1 into carts.\nNote: ttl is 1924992000000, ") &&
                 Catch::Contains("milliseconds"));
  CHECK_THAT(mayfly({"item", "put", "carts", "id=2", "ttl=\"1924992000\""}),
             Catch::Contains("\nNote: ttl is a string"));
  CHECK(mayfly({"item", "put", "carts", "id=3"}) == "Put id=3 into carts.\n");
}

TEST_CASE("queries and scans print every page up to the limit") {
  const Shell mayfly;
  mayfly({"table", "create", "events", "--key", "user", "--sort", "at:N", "--index", "by_kind:kind,at"});
  for (const char* at : {"1", "2", "3"})
    mayfly({"item", "put", "events", "user=ann", std::string("at=") + at, "kind=k"});
  mayfly({"item", "put", "events", R"({"user":{"S":"bob"},"at":{"N":"9"},"tags":{"SS":["a","b"]}})"});
  CHECK(mayfly({"item", "query", "events", "ann"}) ==
        "user  at  kind\nann   1   k\nann   2   k\nann   3   k\n");
  CHECK(mayfly({"item", "query", "events", "user=ann", "--from", "2", "--reverse", "--limit", "1"}) ==
        "user  at  kind\nann   3   k\n");
  CHECK(mayfly({"item", "query", "events", "ann", "--from", "1", "--to", "2", "--json"}) ==
        "{\n  \"Items\": [\n"
        "    {\"at\":{\"N\":\"1\"},\"kind\":{\"S\":\"k\"},\"user\":{\"S\":\"ann\"}},\n"
        "    {\"at\":{\"N\":\"2\"},\"kind\":{\"S\":\"k\"},\"user\":{\"S\":\"ann\"}}\n"
        "  ],\n  \"Count\": 2,\n  \"ScannedCount\": 2\n}\n");
  CHECK(mayfly({"item", "query", "events", "ann", "2"}) == "user  at  kind\nann   2   k\n");
  CHECK(mayfly({"item", "query", "events", "k", "--to", "1", "--index", "by_kind"}) ==
        "user  at  kind\nann   1   k\n");
  CHECK_THAT(mayfly({"item", "scan", "events"}), Catch::Contains("bob   9         [\"a\",\"b\"]\n"));
  CHECK(mayfly({"item", "query", "events", "eve"}) == "No items with this key in events.\n");
  CHECK(mayfly({"item", "delete", "events", "bob", "9"}) == "Deleted user=bob at=9 from events.\n");
  CHECK(mayfly({"item", "delete", "events", "bob", "9"}) == "There was no item user=bob at=9 in events.\n");
  CHECK(mayfly.refused({"item", "query", "events", "ann", "--index", "x"}) ==
        "mayfly: table 'events' has no index 'x'.\n");
  CHECK(mayfly.refused({"item", "query", "events", "ann", "1", "--from", "1"}) ==
        "mayfly: a sort key cannot be combined with --from, --to or --begins-with.\n");
  CHECK(mayfly.refused({"item", "query", "events", "ann", "--begins-with", "1", "--from", "1"}) ==
        "mayfly: --begins-with cannot be combined with --from or --to.\n");

  // The items fill more than one page of 1 MB.
  const std::string large(100'000, 'x');
  mayfly({"table", "create", "large"});
  for (int i = 0; i < 12; ++i) mayfly({"item", "put", "large", "id=" + std::to_string(i), "x=" + large});
  CHECK(nlohmann::json::parse(mayfly({"item", "scan", "large", "--json"}))["Items"].size() == 12);
  std::string scanned = mayfly({"item", "scan", "large"});
  CHECK_THAT(scanned, Catch::StartsWith("id  x\n"));
  CHECK(std::count(scanned.begin(), scanned.end(), '\n') == 13);
}

TEST_CASE("a page with additional attributes prints new headings") {
  const Shell mayfly;
  mayfly({"table", "create", "large", "--sort", "at:N"});
  const std::string large(100'000, 'x');
  for (int at = 0; at < 12; ++at)
    mayfly({"item", "put", "large", "id=1", "at=" + std::to_string(at), "x=" + large});
  mayfly({"item", "put", "large", "id=1", "at=12", "late=yes"});
  const std::string text = mayfly({"item", "query", "large", "1"});
  CHECK_THAT(text, Catch::StartsWith("id  at  x\n"));
  CHECK_THAT(text, Catch::Contains("\n\nid  at  late  x\n"));
  CHECK_THAT(text, Catch::EndsWith("\n1   12  yes\n"));
}

TEST_CASE("an access key id of twelve digits selects the account unless --account names another account") {
  const Shell mayfly;
  mayfly({"table", "create", "mine", "--account", "000000000042"});
  CHECK_THAT(mayfly({"table", "list", "--account", "000000000042"}), Catch::Contains("mine"));
  CHECK(mayfly({"table", "list"}) == "No tables in account 000000000000, region us-east-1.\n");
  const std::vector<std::string> key = {"AWS_ACCESS_KEY_ID=000000000042", "AWS_SECRET_ACCESS_KEY=x"};
  CHECK_THAT(mayfly.with(key, {"table", "list"}), Catch::Contains("mine"));
  CHECK_THAT(mayfly.with(key, {"ttl", "show", "mine"}), Catch::Contains("DISABLED"));
  CHECK_THAT(mayfly.with(key, {"table", "list", "--account", "000000000000"}),
             Catch::StartsWith("No tables"));
  CHECK_THAT(mayfly.with({"AWS_ACCESS_KEY_ID=AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY=x"}, {"table", "list"}),
             Catch::StartsWith("No tables in account 000000000000"));
}

TEST_CASE("the item put command says that a sweep deletes the item if the TTL mode is manual") {
  const Shell mayfly({"--ttl-mode", "manual"});
  mayfly({"table", "create", "carts", "--ttl", "ttl"});
  CHECK_THAT(mayfly({"item", "put", "carts", "id=1", "ttl=+1h"}),
             Catch::StartsWith("Put id=1 into carts.\nttl is 1924995600; ") && Catch::Contains("sweep"));
}

TEST_CASE("the commands find tables and items in the server's region even with --no-control") {
  const Shell mayfly({"--no-control", "--region", "eu-west-1"});
  CHECK(mayfly({"table", "create", "carts", "--ttl", "ttl"}) == "Created table carts.\n");
  CHECK_THAT(mayfly({"table", "describe", "carts"}), Catch::Contains("arn:aws:dynamodb:eu-west-1:"));
  CHECK(mayfly({"item", "put", "carts", "id=1", "ttl=1924995600"}) == "Put id=1 into carts.\n");
  CHECK(mayfly.refused({"item", "get", "carts", "2"}) == "mayfly: no item id=2 in carts.\n");
  CHECK_THAT(mayfly.refused({"item", "put", "carts", "id=1", "ttl=+48h"}), Catch::Contains("--no-control"));
}

}  // namespace mayfly::testing
