#include "compat/json/json_tree.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "compat/json/json.h"
#include "compat/json/utf8.h"

namespace mayfly::testing {

namespace {

std::string nested_arrays(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

std::string reprinted(std::string_view text) {
  const auto tree = json::parse_tree(text, json::Decimals::as_written);
  return tree ? json::print(*tree) : "not JSON";
}

std::string rewritten_tree(std::string_view text) {
  const auto document = json::parse(text);
  if (document == nullptr) return "not JSON";
  std::string out;
  json::Writer(out).value(document->root());
  return out;
}

}  // namespace

TEST_CASE("a tree keeps its members in order and the last of several members with the same name counts") {
  const auto tree =
      json::parse_tree(R"({"z":1,"a":"x","z":2,"n":null,"t":true,"d":1.5,"u":18446744073709551615})");
  REQUIRE(tree);
  CHECK(json::print(*tree) == R"({"z":1,"a":"x","z":2,"n":null,"t":true,"d":1.5,"u":18446744073709551615})");
  CHECK(json::integer_member(*tree, "z") == 2);
  CHECK(json::string_member(*tree, "a") == "x");
  CHECK(json::boolean_member(*tree, "t") == true);
  CHECK(json::member(*tree, "n") == nullptr);
  CHECK(json::member(*tree, "none") == nullptr);
  CHECK(json::member((*tree)["a"], "a") == nullptr);
  CHECK_FALSE(json::integer_member(*tree, "a"));
  CHECK_FALSE(json::integer_member(*tree, "d"));
  CHECK_FALSE(json::integer_member(*tree, "u"));
  CHECK_FALSE(json::string_member(*tree, "z"));
  CHECK_FALSE(json::boolean_member(*tree, "z"));
}

TEST_CASE("the text of a truncated tree ends with a whole character and an ellipsis") {
  const json::Tree trees[] = {
      1700000000,
      "\xc3\xa9\xe2\x82\xac\n\xf0\x9f\x98\x80 a text of some length",
      {{"name\xc3\xa9", {1, "two", nullptr, {{"nested", {true, 0.5, "\xe2\x82\xac"}}}}},
       {"empty", json::Tree::array()}},
      json::raw(R"({"id":{"S":"1"}})"),
      json::Tree(std::vector<int>(1000, 7)),
  };
  for (const json::Tree& tree : trees) {
    const std::string whole = json::print(tree);
    for (std::size_t bytes = 0; bytes <= whole.size() + 2; ++bytes) {
      INFO(whole << ", " << bytes);
      const std::string expected = bytes >= whole.size()
                                       ? whole
                                       : std::string(compat::whole_characters(whole, bytes)) + "\xe2\x80\xa6";
      REQUIRE(json::print_beginning(tree, bytes) == expected);
    }
  }
}

TEST_CASE("a tree is printed in the same format that the JSON writer uses") {
  const json::Tree tree{{"half", 0.5},
                        {"one", 1.0},
                        {"small", 0.00001},
                        {"short", 0.001298},
                        {"large", 1e21},
                        {"whole", json::seconds(1'700'000'000'000)},
                        {"fraction", json::seconds(1500)},
                        {"item", json::raw(R"({"id":{"S":"1"}})")},
                        {"text", std::string("\"\\/\n\x1f\0\x7f\xc3\xa9", 9)},
                        {"list", {1, "x", nullptr, false}},
                        {"empty", json::Tree::object()}};
  CHECK(json::print(tree) ==
        R"({"half":0.5,"one":1.0,"small":0.00001,"short":0.001298,"large":1000000000000000000000.0,)"
        R"("whole":1700000000,"fraction":1.500,"item":{"id":{"S":"1"}},)"
        "\"text\":\"\\\"\\\\/\\n\\u001f\\u0000\x7f\xc3\xa9\","
        R"("list":[1,"x",null,false],"empty":{}})");
  CHECK(json::print_indented(json::Tree{{"a", {1, {{"b", "x"}}}}, {"c", json::Tree::array()}}) == R"({
  "a": [
    1,
    {
      "b": "x"
    }
  ],
  "c": []
})");
}

TEST_CASE("the parser rejects invalid UTF-8 and printing invalid UTF-8 does not throw") {
  CHECK_FALSE(json::parse_tree("\"\x80\""));
  CHECK_FALSE(json::parse_tree("{\"\xed\xa0\x80\":1}"));
  CHECK(json::print(json::Tree{{"region", "\xff"}}) == "{\"region\":\"\xff\"}");
}

TEST_CASE("numbers are parsed or kept as they were written") {
  CHECK(reprinted("[1.50,0.10e-5,-2,123456789012345678901234567890]") ==
        "[1.50,0.10e-5,-2,123456789012345678901234567890]");
  const auto read = json::parse_tree("[1.50,6e2]");
  REQUIRE(read);
  CHECK((*read)[0].get<double>() == 1.5);
  CHECK((*read)[1].get<double>() == 600);
  CHECK_FALSE(json::integer((*read)[1]));
  CHECK_FALSE(json::parse_tree("1e400"));
}

TEST_CASE("a tree that nests too deeply is rejected") {
  CHECK(json::parse_tree(nested_arrays(json::depth_max)));
  CHECK_FALSE(json::parse_tree(nested_arrays(json::depth_max + 1)));
  CHECK_FALSE(json::parse_tree(std::string(1'000'000, '[')));
  std::string objects;
  for (int depth = 0; depth <= json::depth_max; ++depth) objects += "{\"a\":";
  CHECK_FALSE(json::parse_tree(objects + "1" + std::string(json::depth_max + 1, '}')));
}

TEST_CASE("arrays and objects also count toward the limit on a tree's values") {
  const std::string_view text = R"([0,{"a":1}])";
  CHECK(json::parse_tree(text, json::Decimals::read, 4));
  for (const std::size_t values_max : {3, 2, 1, 0})
    CHECK(json::parse_tree(text, json::Decimals::read, values_max).error() == json::NoTree::too_many_values);
  CHECK(json::parse_tree("[0,", json::Decimals::read, 4).error() == json::NoTree::no_json);
  CHECK(json::parse_tree(nested_arrays(json::depth_max + 1), json::Decimals::read, 1'000'000).error() ==
        json::NoTree::no_json);
}

TEST_CASE("the JSON reader and the tree reader accept the same JSON and print it alike") {
  for (const std::string_view text :
       {"", " ", "{", "[1,]", "{\"a\":1,}", "01", "+1", "1.", "nul", "\"\\ud800\"", "\"\n\"", "1 2", "[]]",
        "/**/1", "// x\n1", "\xef\xbb\xbf{}", " {} ", "null", "\"\\u0000\""}) {
    CAPTURE(text);
    CHECK(reprinted(text) == rewritten_tree(text));
  }
  CHECK_FALSE(json::parse_tree(std::string_view("{}\0", 3)));
  CHECK_FALSE(json::parse_tree(std::string_view("{}\0x", 4)));
  const std::string seed_text =
      R"({"rules":[{"fault":"throttle","count":2},{"a":[1,2.5,-3e-1,true,null,"\u00e9\n"],"a":{}}],"to":"x"})";
  std::mt19937_64 random(20261121);
  int taken = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = seed_text;
    for (auto edits = 1 + random() % 4; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0: text[at] = static_cast<char>(random()); break;
        case 1: text[at] = "{}[]\",:\\0e-.u\0"[random() % 14]; break;
        case 2: text.erase(at, 1 + random() % 5); break;
        case 3: text.insert(at, text.substr(random() % text.size(), random() % 9)); break;
      }
    }
    if (text.find("-0") != std::string::npos) continue;  // negative zero is printed as 0
    CAPTURE(text);
    REQUIRE(reprinted(text) == rewritten_tree(text));
    taken += json::parse_tree(text) ? 1 : 0;
  }
  CHECK(taken > 100);
}

}  // namespace mayfly::testing
