// Tests how commands print responses without --json.
#include "cli/views/answer_view.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace mayfly::testing {

namespace {

std::string view(std::string_view answer, const std::string& list = "", const std::string& when_empty = "") {
  return cli::view_answer(*json::parse_tree(answer, json::Decimals::as_written), list, when_empty);
}

}  // namespace

TEST_CASE("a response's members are printed as aligned names and values") {
  CHECK(
      view(
          R"({"now":"2031-01-01T00:00:00Z","expired":2,"tables":{"carts":2,"b":0.1},"next_expiry":null,"settled":true})") ==
      "now          2031-01-01T00:00:00Z\n"
      "expired      2\n"
      "tables       carts 2, b 0.1\n"
      "next expiry  none\n"
      "settled      true\n");
}

TEST_CASE("a list is printed as a table and an empty list is printed as a sentence") {
  const std::string answer =
      R"({"items":[{"key":{"id":{"S":"1"},"at":{"N":"5"}},"due":"x"},{"key":{"id":{"S":"22"}},"more":[1,2]}]})";
  CHECK(view(answer, "items") == "KEY        DUE  MORE\nid=1 at=5  x\nid=22           1, 2\n");
  CHECK(view(R"({"items":[]})", "items", "No items.") == "No items.\n");
  CHECK(view(R"({})", "items", "No items.") == "No items.\n");
  CHECK(view(R"({"items":[]})") == "items  none\n");
  CHECK(view(R"({})", "", "Deleted.") == "Deleted.\n");
  CHECK(view(R"({"a":1,"list":[{"b":2}]})") == "a  1\nlist:\n  B\n  2\n");
  CHECK(view(R"({"tables":{"carts":{"status":"ENABLED"}}})", "tables") == "NAME   STATUS\ncarts  ENABLED\n");
}

TEST_CASE("control characters in a server's response cannot control the terminal") {
  const std::string hostile = R"({"a\u001b":"\u001b]0;x\u0007","l":[{"\u009b":"\n\u009b2J"}]})";
  const std::string people = view(hostile);
  CHECK(people == "a\\x1b  \\x1b]0;x\\x07\nl:\n  \\xc2\\x9b\n  \\x0a\\xc2\\x9b2J\n");
  const auto tree = *json::parse_tree("{\"a\":\"\\u001b\x7f\xc2\x9b\xc3\xa4\"}");
  CHECK(cli::print_json_line(tree) == "{\"a\":\"\\u001b\\u007f\\u009b\xc3\xa4\"}\n");
  CHECK(*json::parse_tree(cli::print_json(tree)) == tree);
}

TEST_CASE("a long cell is truncated between characters") {
  cli::TextTable table({"A", "B"});
  std::string umlauts;
  for (std::size_t i = 0; i <= cli::TextTable::cell_characters_max; ++i) umlauts += "ä";
  table.add({umlauts, "b"});
  const std::string text = table.text();
  const std::string cut = umlauts.substr(0, 2 * (cli::TextTable::cell_characters_max - 1)) + "…";
  CHECK_THAT(text, Catch::EndsWith(cut + "  b\n"));
}

TEST_CASE("a table that is too wide for a line is printed as a block for each row") {
  cli::TextTable table({"A", "LONG"});
  const std::string wide(70, 'x');
  table.add({wide, wide});
  table.add({"", "b"});
  CHECK(table.text("  ") == "  A     " + wide + "\n  LONG  " + wide + "\n\n  LONG  b\n");
}

TEST_CASE("rows that arrive in several pages share one heading and the column widths of the first page") {
  cli::TextTable table({"ID", "NAME"});
  table.add({"1", "anna"});
  CHECK(table.take_page() == "ID  NAME\n1   anna\n");
  table.add({"2", "bo"});
  table.add({"1000", "x"});
  CHECK(table.take_page() == "2   bo\n1000  x\n");
}

TEST_CASE("the rows of a paged table that is too wide are printed as blocks") {
  cli::TextTable table({"A", "LONG"});
  const std::string wide(70, 'x');
  table.add({wide, wide});
  CHECK(table.take_page() == "A     " + wide + "\nLONG  " + wide + "\n");
  table.add({"1", "b"});
  table.add({"2", "c"});
  CHECK(table.take_page() == "\nA     1\nLONG  b\n\nA     2\nLONG  c\n");
}

TEST_CASE("the printed result of a settle lists failed records and shortens ARNs") {
  CHECK(
      view(
          R"({"expired":1,"never":{"carts":{"milliseconds":3}},"settled":false,"unfinished":[],)"
          R"("given_up":[{"stream":"arn:aws:dynamodb:us-east-1:000000000000:table/carts/stream/1","attempts":1,)"
          R"("error":{"type":"AssertionError","message":"assert 1 == 2"},"records":[{"event":"REMOVE"}]}]})") ==
      "expired     1\nsettled     false\nunfinished  none\n"
      "never:\n  NAME   MILLISECONDS\n  carts  3\n"
      "given up:\n  STREAM                ATTEMPTS  ERROR                                       RECORDS\n"
      "  table/carts/stream/1  1         type AssertionError, message assert 1 == 2  1\n");
  CHECK(view(R"({"stream":"arn:a:b","x":["arn:a:b:c:d:e:f"]})") == "stream  arn:a:b\nx       e:f\n");
}

}  // namespace mayfly::testing
