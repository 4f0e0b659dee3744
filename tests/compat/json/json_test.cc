#include "compat/json/json.h"

#include <catch2/catch.hpp>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

namespace mayfly::testing {

namespace {

std::string nested(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

void write(json::Writer& out, const json::Value& value) {
  switch (value.kind()) {
    case json::Value::Kind::null: return out.raw("null");
    case json::Value::Kind::boolean: return out.boolean(value.boolean());
    case json::Value::Kind::number: return out.raw(value.number_text());
    case json::Value::Kind::string: return out.string(value.string());
    case json::Value::Kind::array:
      out.begin_array();
      for (const json::Value& item : value.items()) write(out, item);
      return out.end_array();
    case json::Value::Kind::object:
      out.begin_object();
      for (const json::Member& member : value.members()) {
        out.key(member.name);
        write(out, member.value);
      }
      return out.end_object();
  }
}

// Parses the text and writes the parsed value as JSON. Returns the written JSON, or "not JSON".
std::string rewritten(std::string_view text) {
  const auto document = json::parse(text);
  if (!document) return "not JSON";
  std::string out;
  json::Writer writer(out);
  write(writer, document->root());
  return out;
}

}  // namespace

TEST_CASE("parsed JSON is written back unchanged except for whitespace") {
  CHECK(rewritten(
            R"( { "a" : [ 1 , -2.50 , "x" , true , false , null , { } , [ ] ] , "b" : { "c" : "" } } )") ==
        R"({"a":[1,-2.50,"x",true,false,null,{},[]],"b":{"c":""}})");
  CHECK(rewritten("12345678901234567890123456789012345678901234567890") ==
        "12345678901234567890123456789012345678901234567890");
  CHECK(rewritten("0.10e-5") == "0.10e-5");
  CHECK(rewritten("-1E+400000000") == "-1E+400000000");
  CHECK(rewritten("\"x\"") == "\"x\"");
  CHECK(rewritten("null") == "null");
}

TEST_CASE("escapes are decoded and NUL is an ordinary character") {
  const auto document = json::parse(R"({"\u0041\n":"\"\\\/\b\f\n\r\t\u0000\u00e9\ud83d\ude00z"})");
  REQUIRE(document);
  CHECK(document->root().members()[0].name == "A\n");
  CHECK(document->root().members()[0].value.string() ==
        std::string("\"\\/\b\f\n\r\t\0\xc3\xa9\xf0\x9f\x98\x80z", 16));
}

TEST_CASE("at every position exactly the bytes that need an escape are escaped") {
  std::vector<std::size_t> sizes(49);
  std::iota(sizes.begin(), sizes.end(), 1);
  sizes.insert(sizes.end(), {63, 64, 65, 80, 81, 127, 128, 129, 144, 145, 200});  // near block boundaries
  for (const std::size_t size : sizes) {
    for (std::size_t at = 0; at < size; ++at) {
      for (const auto& [byte, escaped] : {std::pair{'"', std::string("\\\"")},
                                          {'\\', "\\\\"},
                                          {'\0', "\\u0000"},
                                          {'\x1f', "\\u001f"},
                                          {'\n', "\\n"},
                                          {' ', " "},
                                          {'\x7f', "\x7f"},
                                          {'\xff', "\xff"}}) {
        std::string text(size, 'x');
        text[at] = byte;
        std::string expected = '"' + std::string(at, 'x') + escaped + std::string(size - at - 1, 'x') + '"';
        std::string out = "before";
        json::append_escaped(out, text);
        REQUIRE(out == "before" + expected);
      }
    }
  }
  std::string all;
  json::append_escaped(all, std::string(100, '\1'));
  std::string expected = "\"";
  for (int i = 0; i < 100; ++i) expected += "\\u0001";
  CHECK(all == expected + '"');
}

TEST_CASE("strings are written with the fewest escapes") {
  std::string out;
  json::append_escaped(
      out, std::string_view("a\"b\\c/d\b\f\n\r\t\x01\0\x1f\x7f\xc3\xa9, and eight plain bytes\n", 42));
  CHECK(out == "\"a\\\"b\\\\c/d\\b\\f\\n\\r\\t\\u0001\\u0000\\u001f\x7f\xc3\xa9, and eight plain bytes\\n\"");
}

TEST_CASE("a null member counts as absent and the last of several members with the same name counts") {
  const auto document = json::parse(R"({"a":1,"b":null,"a":2,"c":3,"c":null})");
  REQUIRE(document);
  REQUIRE(document->root().member("a"));
  CHECK(document->root().member("a")->number_text() == "2");
  CHECK(document->root().member("b") == nullptr);
  CHECK(document->root().member("c") == nullptr);
  CHECK(document->root().member("d") == nullptr);
  CHECK(json::parse("[]")->root().member("a") == nullptr);
}

TEST_CASE("text that is not JSON is rejected") {
  const std::string_view bad[] = {"",
                                  " ",
                                  "{",
                                  "}",
                                  "[",
                                  "[1",
                                  "[1,]",
                                  "{\"a\"}",
                                  "{\"a\":}",
                                  "{\"a\":1,}",
                                  "{a:1}",
                                  "{'a':1}",
                                  "01",
                                  "+1",
                                  ".5",
                                  "1.",
                                  "1e",
                                  "-",
                                  "tru",
                                  "True",
                                  "nul",
                                  "NaN",
                                  "Infinity",
                                  "\"",
                                  "\"\\x\"",
                                  "\"\\u12\"",
                                  "\"\\ud800\"",
                                  "\"\n\"",
                                  "1 2",
                                  "{} {}",
                                  "[]]",
                                  "/**/1",
                                  "// x\n1",
                                  "\"\x80\"",
                                  "\"\xc3\"",
                                  "\"\xc0\x80\"",
                                  "\"\xed\xa0\x80\"",
                                  "\"\xf5\x80\x80\x80\"",
                                  "\xef\xbb\xbf{}"};
  for (const std::string_view text : bad) {
    CAPTURE(text);
    CHECK(json::parse(text) == nullptr);
  }
}

TEST_CASE("a document reports how deeply its arrays and objects nest") {
  for (const auto& [text, depth] :
       std::initializer_list<std::pair<const char*, int>>{{"1", 0},
                                                          {"[]", 1},
                                                          {R"({"a":[1]})", 2},
                                                          {R"([[[]],{"a":{}},[]])", 3},
                                                          {"[1,[2,[3,[4]],[5]]]", 4}}) {
    INFO(text);
    const auto document = json::parse(std::string_view(text));
    REQUIRE(document != nullptr);
    CHECK(document->depth() == depth);
  }
}

TEST_CASE("JSON that nests too deeply is rejected") {
  const auto is_json = [](const std::string& text) { return json::parse(text) != nullptr; };
  CHECK(is_json(nested(json::depth_max)));
  CHECK_FALSE(is_json(nested(json::depth_max + 1)));
  CHECK_FALSE(is_json(std::string(1'000'000, '[')));
}

TEST_CASE("the JSON writer inserts the commas") {
  std::string out;
  json::Writer writer(out);
  writer.begin_object();
  writer.key("list");
  writer.begin_array();
  writer.integer(-9223372036854775807 - 1);
  writer.string("x");
  writer.begin_object();
  writer.end_object();
  writer.raw("null");
  writer.end_array();
  writer.key("whole");
  writer.seconds(1'700'000'000'000);
  writer.key("fraction");
  writer.seconds(1'700'000'000'012);
  writer.key("units");
  writer.decimal(0.5);
  writer.key("unit");
  writer.decimal(1);
  writer.key("many");
  writer.decimal(400000);
  writer.key("yes");
  writer.boolean(true);
  writer.end_object();
  CHECK(out == R"({"list":[-9223372036854775808,"x",{},null],"whole":1700000000,"fraction":1700000000.012,)"
               R"("units":0.5,"unit":1.0,"many":400000.0,"yes":true})");
}

TEST_CASE("no input crashes the JSON parser and accepted JSON is the same after a round trip", "[holds]") {
  const std::string seed_text =
      R"({"TableName":"t","Item":{"a":{"S":"\u00e9\n"},"n":{"N":"-1.5e3"},"l":{"L":[{"BOOL":true},{"NULL":true}]}},"x":[1,2.5,-0]})";
  std::mt19937_64 random(20220719);
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
    const std::string once = rewritten(text);
    if (once == "not JSON") continue;
    ++taken;
    REQUIRE(rewritten(once) == once);
  }
  CHECK(taken > 100);
}

}  // namespace mayfly::testing
