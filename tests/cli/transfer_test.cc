// Tests the parts of export and import that need no server: rules, replacement values and progress.
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <vector>

#include "cli/anonymize/anonymizer.h"
#include "cli/anonymize/fakes.h"
#include "cli/anonymize/keyed_hash.h"
#include "cli/anonymize/rules.h"
#include "cli/table_files/described_table.h"
#include "cli/table_files/item_file.h"
#include "cli/table_files/unpacked_text.h"
#include "cli/transfer/journal.h"
#include "cli/transfer/place.h"
#include "compat/data_files/dynamodb_json.h"
#include "compat/data_files/writer.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace mayfly::transfer;
using engine::Number;

namespace {

const KeyedHash& hash() {
  static const KeyedHash one("a secret of some length");
  return one;
}

engine::Item item_of(const std::string& text) {
  return *compat::data_files::read_dynamodb_json(R"({"Item":)" + text + "}");
}

std::string text_of(const engine::Item& item) {
  std::string text;
  compat::data_files::append_item(text, compat::data_files::Format::dynamodb_json, item);
  return text.substr(8, text.size() - 10);  // the text between {"Item": and }\n
}

// Returns the item after the rules are applied.
std::string changed(const std::string& rules_text, const std::string& item_text, const TableShape& shape) {
  const auto rules = Rules::parse(rules_text);
  REQUIRE(rules);
  const auto anonymizer = Anonymizer::for_table(*rules, hash(), shape);
  REQUIRE(anonymizer);
  engine::Item item = item_of(item_text);
  Changes changes;
  REQUIRE(anonymizer->change(item, changes));
  return text_of(item);
}

std::string refused(const std::string& rules_text, const TableShape& shape) {
  const auto rules = Rules::parse(rules_text);
  REQUIRE(rules);
  const auto anonymizer = Anonymizer::for_table(*rules, hash(), shape);
  return anonymizer ? "" : anonymizer.error();
}

std::string read_whole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_whole(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

// Writes this text to a file in the directory, and returns the file's path.
std::string items_file(const TemporaryDirectory& directory, const std::string& text) {
  const std::string path = directory.path() + "/items.json";
  write_whole(path, text);
  return path;
}

}  // namespace

TEST_CASE("the form of a --to or --from value decides whether it names a server or a local path") {
  using Kind = transfer::Place::Kind;
  CHECK(transfer::Place::parse("https://example.com").kind == Kind::server);
  CHECK(transfer::Place::parse("aws").kind == Kind::server);
  CHECK(transfer::Place::parse("-").kind == Kind::standard);
  CHECK(transfer::Place::parse("not-there").kind == Kind::directory);
  CHECK(transfer::Place::parse("not-there.json.gz").kind == Kind::file);
  CHECK(transfer::Place::parse("/etc").kind == Kind::directory);
}

TEST_CASE("a value's most specific rule applies and the first one applies if several are equally specific") {
  const char* const item =
      R"({"a":{"M":{"b":{"S":"x"},"c":{"S":"y"}}},"id":{"S":"1"},"l":{"L":[{"S":"p"},{"S":"q"}]}})";
  CHECK(changed(R"({"default":"keep","rules":[
          {"path":"a","action":"drop"},{"path":"l[1]","action":"drop"},{"path":"l[*]","action":"keep"}]})",
                item, {.table = "t", .keys = {"id"}}) == R"({"id":{"S":"1"},"l":{"L":[{"S":"p"}]}})");
  CHECK(changed(
            R"({"default":"keep","rules":[{"path":"a.*","action":"drop"},{"path":"**.b","action":"keep"}]})",
            item, {.table = "t", .keys = {"id"}}) == R"({"id":{"S":"1"},"l":{"L":[{"S":"p"},{"S":"q"}]}})");
  CHECK(changed(R"({"default":"keep","rules":[{"table":"u*","path":"a","action":"drop"}]})", item,
                {.table = "t", .keys = {"id"}}) == item);
}

TEST_CASE("rules that contradict each other or themselves are rejected with a short message") {
  const auto wrong = [](const std::string& text) {
    const auto rules = transfer::Rules::parse(text);
    REQUIRE(!rules);
    return rules.error();
  };
  CHECK(wrong(R"({"default":"drop","rules":[],"default":"keep"})") == "duplicate member 'default'");
  CHECK(wrong(R"({"default":"keep","rules":[{"path":"a","action":"drop"},
                                            {"path":"b","action":"drop","action":"keep"}]})") ==
        "rule 2: duplicate member 'action'");
  CHECK(wrong(R"({"default":"keep","rules":[{"path":"a","action":"keep"},{"path":"b","action":"drop"},
                                            {"table":"*","path":"a","action":"drop"}]})") ==
        "rule 3: same table and path as rule 1");
  CHECK(transfer::Rules::parse(R"({"default":"keep","rules":[{"path":"a","action":"keep"},
                                   {"table":"t","path":"a","action":"drop"}]})"));
  const std::string name(100'000, 'a');
  for (const std::string& members :
       {R"("path":")" + name + R"(..","action":"drop")", R"("path":"a","action":")" + name + "\"",
        R"("path":"a","action":"fake","kind":")" + name + "\"", "\"" + name + "\":1,\"" + name + "\":2"})
    CHECK(wrong(R"({"default":"keep","rules":[{)" + members + "}]}").size() < 300);
}

TEST_CASE("a repeated ** in a path counts as one **") {
  const auto steps = transfer::parse_path("a.**.**.**[1].**.b");
  REQUIRE(steps);
  using Kind = transfer::PathStep::Kind;
  std::vector<Kind> kinds;
  for (const auto& step : *steps) kinds.push_back(step.kind);
  CHECK(kinds == std::vector{Kind::name, Kind::any_way, Kind::element, Kind::any_way, Kind::name});
}

TEST_CASE("a backslash makes a special character part of a name") {
  CHECK(changed(
            R"({"default":"keep","rules":[{"path":"a\\.b","action":"drop"},{"path":"\\*","action":"drop"}]})",
            R"({"id":{"S":"1"},"a.b":{"S":"x"},"*":{"S":"y"},"z":{"S":"z"}})",
            {.table = "t", .keys = {"id"}}) == R"({"id":{"S":"1"},"z":{"S":"z"}})");
}

TEST_CASE("the default hash keeps types and does not change the TTL or values that cannot be replaced") {
  const std::string after =
      changed(R"({"default":"hash"})",
              R"({"id":{"S":"1"},"b":{"B":"AAE="},"n":{"N":"7"},"s":{"SS":["a","b"]},"t":{"BOOL":true},)"
              R"("e":{"S":""},"z":{"NULL":true},"ttl":{"N":"1700000000"}})",
              {.table = "t", .keys = {"id"}, .ttl = "ttl"});
  const auto tree = nlohmann::json::parse(after);
  CHECK(tree["id"]["S"].get<std::string>().size() == 32);
  CHECK(tree["b"]["B"].get<std::string>().size() == 24);
  CHECK(tree["n"]["N"] != "7");
  CHECK(tree["s"]["SS"].size() == 2);
  CHECK(tree["t"]["BOOL"] == true);
  CHECK(tree["e"]["S"] == "");
  CHECK(tree["z"]["NULL"] == true);
  CHECK(tree["ttl"]["N"] == "1700000000");
}

TEST_CASE("a rule can shift times or hash only the text after a separator") {
  CHECK(changed(R"({"default":"keep","rules":[{"path":"at","action":"shift","seconds":-60},
                                              {"path":"ms","action":"shift","seconds":60}]})",
                R"({"id":{"S":"1"},"at":{"N":"1700000000"},"ms":{"N":"1700000000000"}})",
                {.table = "t", .keys = {"id"}}) ==
        R"({"at":{"N":"1699999940"},"id":{"S":"1"},"ms":{"N":"1700000060000"}})");
  const std::string after =
      changed(R"({"default":"keep","rules":[{"path":"pk","action":"hash","after":"#"}]})",
              R"({"pk":{"S":"USER#alice"}})", {.table = "t", .keys = {"pk"}});
  CHECK(after == R"({"pk":{"S":"USER#)" + hash().text("alice") + R"("}})");
}

TEST_CASE("rules that could merge two items' keys or make a TTL invalid are rejected") {
  const TableShape shape{.table = "users", .keys = {"id"}, .ttl = "ttl"};
  const auto rule = [](const std::string& members) {
    return R"({"default":"keep","rules":[{)" + members + "}]}";
  };
  CHECK(refused(rule(R"("path":"*","action":"drop")"), shape) ==
        "users: key attribute id cannot be dropped; hash or keep it");
  CHECK(refused(rule(R"("path":"id","action":"fake","kind":"ip")"), shape) ==
        "users: key attribute id cannot be a fake ip, because two items could get the same fake value; hash "
        "it, or use the kind email or uuid");
  CHECK(refused(rule(R"("path":"id","action":"fake","kind":"uuid")"), shape).empty());
  CHECK(refused(rule(R"("path":"ttl","action":"hash")"), shape).find("must remain a time") !=
        std::string::npos);
}

TEST_CASE("integers of up to 18 digits have distinct replacements with the same sign") {
  std::set<std::string> seen;
  for (std::int64_t value = -2000; value < 2000; ++value) {
    const Number other = hash().number(Number(value));
    CHECK(other.negative() == (value < 0));
    CHECK(other.to_string().size() <= 19);
    seen.insert(other.to_string());
  }
  CHECK(seen.size() == 4000);
  CHECK(hash().number(Number(7)) == hash().number(Number(7)));
  CHECK_FALSE(hash().number(Number(7)) == KeyedHash("another secret of length").number(Number(7)));
  CHECK(hash().number(*Number::parse("1.5")).to_string().size() == 37);
}

TEST_CASE("a fake value has the form of its kind and depends only on the original and the secret") {
  const KeyedHash other("another secret of length");
  for (const char* kind :
       {"name", "first_name", "last_name", "email", "phone", "address", "uuid", "ip", "text"}) {
    const Fake fake{.kind = *fake_kind_named(kind)};
    const auto text = fake_text(hash(), fake, "alice@corp.test, of London");
    REQUIRE(text);
    CHECK(text == fake_text(hash(), fake, "alice@corp.test, of London"));
    CHECK(text->find("alice") == std::string::npos);
    bool differs = false;
    for (const char* value : {"alice", "bob", "carol", "dave"})
      differs = differs || fake_text(hash(), fake, value) != fake_text(other, fake, value);
    CHECK(differs);
  }
  const Fake date{.kind = FakeKind::date, .least = 1'600'000'000'000, .most = 1'700'000'000'000};
  CHECK(fake_text(hash(), date, "2024-05-01")->size() == 10);
  CHECK(fake_text(hash(), date, "2024-05-01T10:00:00Z")->size() == 20);
  CHECK_FALSE(fake_text(hash(), date, "yesterday"));
  const auto seconds = fake_number(hash(), date, Number(1'714'000'000));
  REQUIRE(seconds);
  CHECK(seconds->to_string().size() == 10);
}

TEST_CASE("a transfer whose journal was truncated anywhere resumes after the journal's last complete line") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/journal";
  const json::Tree asked = {{"to", "x"}};
  {
    const auto journal = transfer::Journal::begin(path, {asked, {{"segments", 2}}});
    REQUIRE(journal);
    REQUIRE((*journal)->stage(0, Stage::made));
    for (std::uint64_t page = 1; page <= 3; ++page)
      REQUIRE((*journal)->page({.part = 0, .cursor = std::to_string(page), .items = page},
                               {.file = "f", .bytes = 10 * page, .items = page}, {{"dropped", 1}}));
    CHECK_FALSE(transfer::Journal::resume(path, asked));  // only one process at a time can resume a journal
    CHECK(transfer::Journal::in_the_way(path) == path + ": another mayfly process is using it");
  }
  CHECK(transfer::Journal::in_the_way(path) ==
        path + " belongs to an unfinished transfer. Continue it with --resume, or remove the file");
  const std::string whole = read_whole(path);
  const std::size_t plan_end = whole.find('\n') + 1;
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    write_whole(path, whole.substr(0, size));
    const auto journal = transfer::Journal::resume(path, asked);
    CHECK(bool(journal) == (size >= plan_end));
    if (!journal) continue;
    const auto lines = std::count(whole.begin() + plan_end, whole.begin() + size, '\n');
    const std::uint64_t pages = lines < 1 ? 0 : lines - 1;
    CHECK((*journal)->parts().size() == (pages > 0));
    if (pages > 0) CHECK((*journal)->parts().at(0).items == pages);
    if (pages > 0) CHECK((*journal)->counts().at("dropped") == pages);
  }
  write_whole(path, whole);
  CHECK(transfer::Journal::resume(path, {{"to", "y"}}).error() ==
        path + " belongs to a transfer with a different --to. Repeat the original command with --resume");
}

TEST_CASE("a corrupted journal is rejected with a message or yields only valid stages") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/journal";
  const json::Tree asked = {{"to", "x"}};
  {
    const auto journal = transfer::Journal::begin(path, {asked, {}});
    REQUIRE((*journal)->stage(0, Stage::made));
    REQUIRE((*journal)->page({.part = 1, .cursor = "c", .items = 1}, {.file = "f", .bytes = 1}, {}));
  }
  const std::string whole = read_whole(path);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char byte : {'\0', '"', '}', '9', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = byte;
      write_whole(path, damaged);
      const auto journal = transfer::Journal::resume(path, asked);
      if (!journal) CHECK_FALSE(journal.error().empty());
    }
  }
  for (const char* line : {"7", "[]", "null", R"({"table":-1,"stage":99})", R"({"part":1e300})",
                           R"({"part":0,"counts":[1],"file":7,"cursor":{}})"}) {
    write_whole(path, whole + line + "\n");
    const auto journal = transfer::Journal::resume(path, asked);
    if (journal)
      for (const auto& [table, stage] : (*journal)->stages()) CHECK(stage <= Stage::skipped);
  }
}

TEST_CASE("a truncated file of items is read up to the cut or rejected but never misread") {
  const TemporaryDirectory directory;
  const std::string item = R"({"id":{"S":"a,]}\"\\"},"n":{"N":"1"}})";
  for (const std::string& whole :
       {R"({"Count":2,"Items":[)" + item + "," + item + R"(],"LastEvaluatedKey":null})",
        "[ " + item + " ,\n" + item + " ]", item + "\n" + item,
        std::string(R"([{"id":"x"},{"id":"y","l":[1,{"a":null}]}])")}) {
    for (std::size_t size = 1; size <= whole.size(); ++size) {
      INFO(whole.substr(0, size));
      auto text = UnpackedText::open(items_file(directory, whole.substr(0, size)));
      REQUIRE(text);
      const auto layout = item_layout_of(**text);
      REQUIRE(layout);
      if (!*layout) continue;
      REQUIRE(**layout != ItemLayout::batch);
      ItemFile file(*std::move(text), **layout);
      std::size_t items = 0;
      for (;;) {
        const auto next = file.next();
        if (!next && size == whole.size()) FAIL(next.error());
        if (!next || !*next) break;
        ++items;
      }
      CHECK(items <= 2);
      if (size == whole.size()) CHECK(items == 2);
    }
  }
}

TEST_CASE("the layout of a file of items is recognized from the beginning of the file") {
  const TemporaryDirectory directory;
  const auto layout = [&](const std::string& text) {
    const auto opened = UnpackedText::open(items_file(directory, text));
    REQUIRE(opened);
    const auto known = item_layout_of(**opened);
    REQUIRE(known);
    return *known;
  };
  CHECK(layout(R"({"Items":[]})") == ItemLayout::scan);
  CHECK(layout("\n { \"Count\" : 1 , \"ScannedCount\":2, \"Items\" : [") == ItemLayout::scan);
  CHECK(layout(R"({"carts":[{"PutRequest":)") == ItemLayout::batch);
  CHECK(layout(R"({"RequestItems":{"carts":[{"DeleteRequest":)") == ItemLayout::batch);
  CHECK(layout(" [") == ItemLayout::list);
  CHECK(layout(R"({"Items":{"L":[]}})") == ItemLayout::rows);
  CHECK(layout(R"({"Count":{"N":"1"}})") == ItemLayout::rows);
  CHECK(layout(R"({"tags":["a"]})") == ItemLayout::rows);
  CHECK(layout(R"({"Tables":{"S":"a"}})") == ItemLayout::rows);
  CHECK(layout("{}") == ItemLayout::rows);
  CHECK_FALSE(layout(R"({"Tables":[]})"));
  CHECK_FALSE(layout(R"({"Item":{"id":{"S":"1"}}})"));
  CHECK_FALSE(layout("id,name\n"));
  CHECK_FALSE(layout(""));
  CHECK(layout("{\"" + std::string(70'000, 'x') + "\":[{\"PutRequest\":") == ItemLayout::batch);
  CHECK(layout("{\"" + std::string(1 << 20, 'x') + "\":[{\"PutRequest\":") == ItemLayout::rows);
}

TEST_CASE("a batch-write-item file of more than 64 MB is rejected") {
  const TemporaryDirectory directory;
  const auto text =
      UnpackedText::open(items_file(directory, R"({"t":[{"PutRequest":)" + std::string(65 << 20, ' ')));
  REQUIRE(text);
  const auto read = read_batch(**text);
  REQUIRE_FALSE(read);
  CHECK(read.error().ends_with("is larger than 64 MB, the limit for a batch-write-item file"));
}

TEST_CASE("settings that react to writes are applied after a table's items are written") {
  const auto description = nlohmann::ordered_json::parse(
      R"({"Table":{"TableName":"t","KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
          "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
          "BillingModeSummary":{"BillingMode":"PAY_PER_REQUEST"},"DeletionProtectionEnabled":true,
          "StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}},
          "TimeToLiveDescription":{"TimeToLiveStatus":"ENABLED","AttributeName":"ttl"}})");
  const DescribedTable table{.name = "t", .description = json::Tree::parse(description.dump())};
  CHECK(table.keys() == std::vector<std::string>{"id"});
  CHECK(table.ttl() == "ttl");
  const auto making = making_of(table, "us-east-1", true);
  REQUIRE(making);
  REQUIRE(making->before.size() == 1);
  CHECK_FALSE(making->before[0].body.contains("StreamSpecification"));
  CHECK_FALSE(making->before[0].body.contains("DeletionProtectionEnabled"));
  std::vector<std::string> after;
  for (const auto& request : making->after) after.push_back(request.operation);
  CHECK(after == std::vector<std::string>{"UpdateTimeToLive", "UpdateTable", "UpdateTable"});
  CHECK(making_of(table, "us-east-1", false)->left_out == std::vector<std::string>{"t: TTL is not enabled"});
}

}  // namespace mayfly::testing
