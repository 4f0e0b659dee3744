// Tests --json for the commands that make several calls: sweep, export and import.
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/process.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

namespace {

using Json = nlohmann::json;

// A server with the table carts, and commands that use it.
class Carts {
 public:
  Carts()
      : server_({"serve", "--port", "0", "--clock", "frozen", "--now", "2031-01-01T00:00:00Z"}),
        url_(local_url(server_.port())) {
    at_url({"table", "create", "carts", "--ttl", "expires"});
    for (const char* id : {"1", "2", "3"})
      at_url({"item", "put", "carts", std::string("id=") + id, "ttl=1924992100"});
  }
  ~Carts() { CHECK(server_.end_cleanly()); }
  Carts(const Carts&) = delete;
  Carts& operator=(const Carts&) = delete;

  std::string at_url(std::vector<std::string> words) const {
    words.insert(words.end(), {"--url", url_});
    return printed(std::move(words));
  }
  // Runs a command with --json. Its whole standard output must be one object.
  Json answer(std::vector<std::string> words, int code = 0) const {
    words.emplace_back("--json");
    Process command(std::move(words), environment);
    Json answer = Json::parse(command.rest(), nullptr, false);
    CHECK(command.wait() == code);
    CHECK(answer.is_object());
    return answer;
  }
  // Runs a sweep command and returns the result for carts.
  Json sweep(std::vector<std::string> words) const {
    words.insert(words.end(),
                 {"--endpoint", url_, "--table", "carts", "--ttl-attribute", "ttl", "--clock", "mayfly"});
    const Json tables = answer(std::move(words))["tables"];
    REQUIRE(tables.size() == 1);
    CHECK(tables[0]["table"] == "carts");
    return tables[0];
  }
  [[nodiscard]] const std::string& url() const { return url_; }

  const std::vector<std::string> environment = {"AWS_ACCESS_KEY_ID=000000000000", "AWS_SECRET_ACCESS_KEY=x",
                                                "AWS_DEFAULT_REGION=us-east-1"};

 private:
  Process server_;
  std::string url_;
};

}  // namespace

TEST_CASE("sweep --json prints the results for each table") {
  const Carts carts;
  const Json missing = carts.sweep({"sweep", "plan"});
  CHECK(missing["index"]["status"] == "missing");
  CHECK(missing["state_table"] == Json({{"name", "mayfly_sweep"}, {"exists", false}}));
  CHECK(missing["endpoint_ttl_attribute"] == "expires");
  CHECK(missing["items"]["scanned"] == 3);
  CHECK(missing["items"]["missing"] == 3);
  CHECK(missing["write_units_per_month"]["deletions"] == 6);
  CHECK(carts.sweep({"sweep", "plan", "--no-scan"})["items"].is_null());

  const Json ready = carts.sweep({"sweep", "plan", "--apply"});
  CHECK(ready["index"]["status"] == "ready");
  CHECK(ready["state_table"]["exists"] == true);
  CHECK(ready["problem"].is_null());

  CHECK(carts.sweep({"sweep", "backfill", "--dry-run"}) ==
        Json({{"table", "carts"}, {"scanned", 3}, {"would_arm", 3}, {"failed", 0}}));
  CHECK(carts.sweep({"sweep", "backfill"}) ==
        Json({{"table", "carts"}, {"scanned", 3}, {"armed", 3}, {"failed", 0}}));

  carts.at_url({"clock", "advance", "1h"});
  const Json nothing = {{"rearmed", 0}, {"lost", 0}, {"released", 0}, {"failed", 0}, {"complete", true}};
  Json dry = nothing, swept = nothing;
  dry.update({{"table", "carts"}, {"would_delete", 3}});
  swept.update({{"table", "carts"}, {"deleted", 3}});
  CHECK(carts.sweep({"sweep", "--dry-run"}) == dry);
  CHECK(carts.sweep({"sweep", "--once"}) == swept);
}

TEST_CASE("sweep plan --json omits a table whose plan fails and prints the other tables") {
  const Carts carts;
  const TemporaryDirectory directory;
  const std::string tables = directory.path() + "/tables.json";
  std::ofstream(tables)
      << R"([{"table":"nowhere","ttl_attribute":"ttl"},{"table":"carts","ttl_attribute":"ttl"}])";
  const Json answer =
      carts.answer({"sweep", "plan", "--endpoint", carts.url(), "--tables", tables, "--clock", "mayfly"}, 1);
  REQUIRE(answer["tables"].size() == 1);
  CHECK(answer["tables"][0]["table"] == "carts");

  Process none(
      {"sweep", "plan", "--endpoint", carts.url(), "--table", "nowhere", "--ttl-attribute", "ttl", "--json"},
      carts.environment);
  CHECK(none.rest().empty());
  CHECK(none.wait() == 1);
  CHECK_THAT(none.errors(), Catch::StartsWith("mayfly: "));
}

TEST_CASE("export --json prints each table's item count and files and import --json prints what it wrote") {
  const Carts carts;
  carts.at_url({"table", "create", "empty"});
  const TemporaryDirectory directory;
  const std::string backup = directory.path() + "/backup", file = directory.path() + "/carts.json";
  Json exported = carts.answer({"export", "--all", "--to", backup, "--url", carts.url()});
  CHECK(exported["seconds"].is_number());
  CHECK(exported["items"] == 3);
  CHECK(exported["changes"] == Json::object());
  CHECK(exported["notices"] == Json::array());
  REQUIRE(exported["tables"].size() == 2);
  const Json& table = exported["tables"][0];
  CHECK(table["table"] == "carts");
  CHECK(table["source"] == "carts");
  CHECK(table["items"] == 3);
  CHECK(table["skipped"] == false);
  REQUIRE_FALSE(table["files"].empty());
  for (const std::string path : table["files"]) {
    CHECK_THAT(path, Catch::StartsWith(backup + "/carts/data/"));
    CHECK(std::ifstream(path).good());
  }
  CHECK(exported["tables"][1]["files"] == Json::array());

  exported = carts.answer({"export", "carts", "--to", file, "--url", carts.url()});
  CHECK(exported["tables"][0]["files"] == Json::array({file}));

  const Json dry =
      carts.answer({"import", "--from", file, "--url", carts.url(), "--rename", "carts=copies", "--dry-run"});
  CHECK(dry["dry_run"] == true);
  CHECK(dry["tables"][0]["table"] == "copies");
  CHECK(dry["tables"][0]["source"] == "carts");
  REQUIRE(dry["tables"][0]["samples"].size() == 3);
  const Json& sample = dry["tables"][0]["samples"][0];
  CHECK(sample["before"]["ttl"] == Json({{"N", "1924992100"}}));
  CHECK(sample["after"] == sample["before"]);

  const std::string journal = directory.path() + "/import.journal";
  const std::vector<std::string> import = {"import",      "--from", file,        "--url", carts.url(),
                                           "--if-exists", "skip",   "--journal", journal};
  Json imported = carts.answer(import);
  CHECK(imported["items"] == 0);
  CHECK(imported["tables"][0]["skipped"] == true);
  CHECK(imported["tables"][0]["files"] == Json::array());
  carts.at_url({"table", "delete", "carts"});
  imported = carts.answer(import);
  CHECK(imported["items"] == 3);
  CHECK(imported["tables"][0]["skipped"] == false);
}

TEST_CASE("a failed transfer prints no JSON and --json is rejected if items go to standard output") {
  const Carts carts;
  Process failed({"export", "nowhere", "--to", "-", "--url", carts.url(), "--json", "--dry-run"});
  CHECK(failed.rest().empty());
  CHECK(failed.wait() == 1);
  CHECK_THAT(failed.errors(), Catch::StartsWith("mayfly: "));
  CHECK(refused({"export", "carts", "--to", "-", "--url", carts.url(), "--json"}, 2) ==
        "mayfly: --json cannot be combined with --to -, because both print on standard output. Name a file "
        "with --to.\n");
}

}  // namespace mayfly::testing
