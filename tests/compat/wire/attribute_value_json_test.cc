#include "compat/wire/attribute_value_json.h"

#include <catch2/catch.hpp>
#include <random>

#include "engine/values/item_codec.h"

namespace mayfly::testing {

using namespace compat;

namespace {

// Reads an attribute value and writes it as JSON. Returns the written JSON, or the error message.
std::string answer(std::string_view text, Frame frame = Frame::older) {
  const auto document = json::parse(text);
  REQUIRE(document);
  const auto value = read_attribute_value(document->root(), frame);
  if (!value) return value.error().message;
  std::string out;
  json::Writer writer(out);
  write_attribute_value(writer, *value);
  return out;
}

std::string nested(int containers, std::string inner) {
  for (int i = 0; i < containers; ++i) {
    inner = i % 2 ? R"({"M":{"a":)" + inner + "}}" : R"({"L":[)" + inner + "]}";
  }
  return inner;
}

}  // namespace

TEST_CASE("every type is read and written back in its normal form") {
  CHECK(answer(R"({"S":"x\u0000\""})") == R"({"S":"x\u0000\""})");
  CHECK(answer(R"({"S":""})") == R"({"S":""})");
  CHECK(answer(R"({"N":"-01.50e2"})") == R"({"N":"-150"})");
  CHECK(answer(R"({"B":"AP8="})") == R"({"B":"AP8="})");
  CHECK(answer(R"({"B":""})") == R"({"B":""})");
  CHECK(answer(R"({"BOOL":true})") == R"({"BOOL":true})");
  CHECK(answer(R"({"BOOL":false})") == R"({"BOOL":false})");
  CHECK(answer(R"({"BOOL":"yes"})") == R"({"BOOL":true})");
  CHECK(answer(R"({"NULL":true})") == R"({"NULL":true})");
  CHECK(answer(R"({"SS":["b","a",""]})") == R"({"SS":["","a","b"]})");
  CHECK(answer(R"({"NS":["10","9","1e-2"]})") == R"({"NS":["0.01","9","10"]})");
  CHECK(answer(R"({"BS":["Yg==","YQ=="]})") == R"({"BS":["YQ==","Yg=="]})");
  CHECK(answer(R"({"L":[{"S":"x"},{"L":[]}]})") == R"({"L":[{"S":"x"},{"L":[]}]})");
  CHECK(answer(R"({"M":{"b":{"M":{}},"a":{"N":"1"}}})") == R"({"M":{"a":{"N":"1"},"b":{"M":{}}}})");
}

TEST_CASE("a value has exactly one type") {
  const std::string empty =
      "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes";
  CHECK(answer("{}") == empty);
  CHECK(answer(R"({"X":"x"})") == empty);
  CHECK(answer(R"({"S":null})") == empty);
  CHECK(answer(R"({"L":[{"S":"x"},{}]})") == empty);
  CHECK(answer(R"({"L":[null]})") == empty);
  CHECK(answer(R"({"M":{"a":null}})") == empty);
  CHECK(answer(R"({"S":"x","N":null,"X":1})") == R"({"S":"x"})");
  CHECK(answer(R"({"S":"x","N":"1"})") ==
        "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported "
        "datatypes");
  // The error for an invalid value takes precedence over the error for a second type.
  CHECK(answer(R"({"S":"a","N":"b"})") == "The parameter cannot be converted to a numeric value: b");
}

TEST_CASE("numbers outside DynamoDB's limits are rejected") {
  const std::string digits = "Attempting to store more than 38 significant digits in a Number";
  const std::string overflow =
      "Number overflow. Attempting to store a number with magnitude larger than supported range";
  const std::string underflow =
      "Number underflow. Attempting to store a number with magnitude smaller than supported range";
  CHECK(answer(R"({"N":""})") == "The parameter cannot be converted to a numeric value");
  CHECK(answer(R"({"N":"NaN"})") == "The parameter cannot be converted to a numeric value: NaN");
  CHECK(answer(R"({"NS":["1",""]})") == "The parameter cannot be converted to a numeric value");
  CHECK(answer(R"({"NS":["1","b"]})") == "The parameter cannot be converted to a numeric value: b");
  CHECK(answer(R"({"N":"123456789012345678901234567890123456789"})") == digits);
  CHECK(answer(R"({"N":"-1.23456789012345678901234567890123456789"})") == digits);
  CHECK(answer(R"({"N":"1e126"})") == overflow);
  CHECK(answer(R"({"N":"-1e126"})") == overflow);
  CHECK(answer(R"({"N":"1e-131"})") == underflow);
  CHECK(answer(R"({"N":"-1e-131"})") == underflow);
}

TEST_CASE("invalid sets and a NULL that is not true are rejected") {
  CHECK(answer(R"({"NULL":false})") ==
        "One or more parameter values were invalid: Null attribute value types must have the value of true");
  CHECK(answer(R"({"NULL":"no"})") ==
        "One or more parameter values were invalid: Null attribute value types must have the value of true");
  CHECK(answer(R"({"SS":[]})") ==
        "One or more parameter values were invalid: An string set  may not be empty");
  CHECK(answer(R"({"NS":[]})") ==
        "One or more parameter values were invalid: An number set  may not be empty");
  CHECK(answer(R"({"BS":[]})") ==
        "One or more parameter values were invalid: Binary sets should not be empty");
  CHECK(answer(R"({"SS":["a","a"]})") ==
        "One or more parameter values were invalid: Input collection [a, a] contains duplicates.");
  CHECK(answer(R"({"NS":["1","1.0"]})") == "Input collection contains duplicates");
  CHECK(answer(R"({"BS":["Yg==","Yg=="]})") ==
        "One or more parameter values were invalid: Input collection [Yg==, Yg==]of type BS contains "
        "duplicates.");
}

TEST_CASE("the new front end uses newer wording for errors in values") {
  const std::string invalid = "One or more parameter values were invalid: ";
  const std::initializer_list<std::pair<const char*, std::string>> rows = {
      {R"({"N":""})", "The parameter cannot be converted to a numeric value: "},
      {R"({"SS":["a","b\"","b\""]})",
       invalid + R"(Input collection ["a", "b\"", "b\""] contains duplicates.)"},
      {R"({"BS":["AA==","/w==","AA=="]})",
       invalid + R"(Input collection ["AA==","/w==","AA=="]of type BS contains duplicates.)"},
      {R"({"BS":["/w==","AA==","AA==","AQ=="]})",
       invalid + R"(Input collection ["AA==","/w==","AA=="]of type BS contains duplicates.)"},
      {R"({"SS":["b","a","b","c","a"]})",
       invalid + R"(Input collection ["a", "b", "b"] contains duplicates.)"},
      {R"({"NS":["1","1.0"]})", invalid + "Input collection contains duplicates."},
      {R"({"L":[{"M":{"a":{"NULL":false}}}]})",
       invalid + "Null attribute value types must have the value of true"},
  };
  for (const auto& [text, message] : rows) {
    CHECK(answer(text, Frame::bare) == message);
    CHECK(answer(text, Frame::enveloped) == "1 validation error detected: " + message);
    CHECK(answer(text, Frame::model) == answer(text, Frame::older));
  }
}

TEST_CASE("an empty attribute name is reported before an attribute that nests too deeply") {
  const auto message = [](const std::string& text) {
    const auto document = json::parse(text);
    REQUIRE(document);
    return read_item(document->root()).error().message;
  };
  CHECK(message(R"({"a":)" + nested(100, R"({"S":"x"})") + R"(,"":{"S":"x"}})") ==
        "One or more parameter values were invalid: Empty attribute name");
  CHECK(message(R"({"a":{"N":"x"},"":{"S":"x"}})") ==
        "The parameter cannot be converted to a numeric value: x");
}

TEST_CASE("the first of several invalid attributes in the request is reported") {
  const auto message = [](const std::string& text) {
    const auto document = json::parse(text);
    REQUIRE(document);
    const auto item = read_item(document->root());
    return item ? std::string() : item.error().message;
  };
  const std::string number = R"({"N":"x"})", set = R"({"SS":[]})";
  const std::string no_number = "The parameter cannot be converted to a numeric value: x";
  const std::string empty_set = "One or more parameter values were invalid: An string set  may not be empty";
  CHECK(message(R"({"b":)" + number + R"(,"a":)" + set + "}") == no_number);
  CHECK(message(R"({"b":)" + set + R"(,"a":)" + number + "}") == empty_set);
  CHECK(message(R"({"z":{"M":{"b":)" + set + R"(,"a":)" + number + R"(}},"a":{"S":"x"}})") == empty_set);
  CHECK(message(R"({"z":{"L":[{"M":{"b":)" + number + R"(,"a":)" + set + R"(}}]},"a":)" + set + "}") ==
        no_number);
  // An invalid attribute is reported even if a later member with the same name is valid.
  CHECK(message(R"({"b":)" + number + R"(,"b":{"S":"x"},"a":)" + set + "}") == no_number);
}

TEST_CASE("values nest up to 32 levels including the attribute itself") {
  const std::string refused =
      "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond "
      "supported limit";
  CHECK(answer(nested(31, R"({"S":"x"})")) == nested(31, R"({"S":"x"})"));
  CHECK(answer(nested(32, R"({"S":"x"})")) == refused);
  CHECK(answer(nested(31, R"({"L":[]})")) == nested(31, R"({"L":[]})"));
  CHECK(answer(nested(250, R"({"S":"x"})")) == refused);
}

TEST_CASE("base64 is accepted only with correct padding and without other characters") {
  for (const char* bad :
       {"Y", "YQ", "YQ=", "YQ===", "Y===", "====", "YR==", "YWF=", "Y Q=", "YQ==YQ==", "Y-_=", "é"}) {
    CAPTURE(bad);
    CHECK(answer(R"({"B":")" + std::string(bad) + "\"}") ==
          "Invalid last non-pad Base64 character dectected");
  }
}

TEST_CASE("an item is printed in the same way from its stored bytes and from its decoded form") {
  const auto document = json::parse(
      R"({"z":{"S":"é\n"},"a":{"N":"0"},"a":{"N":"1e20"},"b":{"B":"AAEC"},"t":{"BOOL":true},"f":{"BOOL":false},)"
      R"("n":{"NULL":true},"ss":{"SS":["y","x"]},"ns":{"NS":["-1","-2"]},"bs":{"BS":["Yg==","YQ=="]},)"
      R"("l":{"L":[{"L":[]},{"S":"q"},{"M":{"k":{"N":"-0.5"}}}]},"m":{"M":{}}})");
  REQUIRE(document);
  const auto item = read_item(document->root());
  REQUIRE(item);
  std::string stored;
  engine::encode_item(*item, stored);

  std::string from_tree, from_bytes;
  json::Writer tree_writer(from_tree), bytes_writer(from_bytes);
  tree_writer.begin_array();
  write_item_object(tree_writer, *item);
  write_item_object(tree_writer, *item);
  tree_writer.end_array();
  bytes_writer.begin_array();
  write_stored_item(bytes_writer, stored);
  write_stored_item(bytes_writer, stored);
  bytes_writer.end_array();
  CHECK(from_bytes == from_tree);
  const std::string once =
      R"({"a":{"N":"100000000000000000000"},"b":{"B":"AAEC"},"bs":{"BS":["YQ==","Yg=="]},"f":{"BOOL":false},)"
      R"("l":{"L":[{"L":[]},{"S":"q"},{"M":{"k":{"N":"-0.5"}}}]},"m":{"M":{}},"n":{"NULL":true},"ns":{"NS":["-2","-1"]},)"
      R"("ss":{"SS":["x","y"]},"t":{"BOOL":true},"z":{"S":"é\n"}})";
  CHECK(from_tree == "[" + once + "," + once + "]");
}

TEST_CASE("a stored string is printed in the same way at every position in its item") {
  for (std::size_t size = 0; size < 150; ++size) {
    for (const char* part : {"x", "\"", "\\", "\n", "\x1f", "é"}) {
      std::string text(size, 'y');
      text += part;
      for (const bool last : {false, true}) {
        engine::Item item;
        item.set("a", engine::AttributeValue(text));
        if (!last) item.set("b", engine::AttributeValue(std::string(20, '"')));
        std::string stored, from_tree, from_bytes;
        engine::encode_item(item, stored);
        json::Writer tree_writer(from_tree), bytes_writer(from_bytes);
        write_item_object(tree_writer, item);
        write_stored_item(bytes_writer, std::string(stored));
        REQUIRE(from_bytes == from_tree);
      }
    }
  }
}

TEST_CASE("random JSON never crashes the item reader and accepted items round-trip unchanged") {
  const std::string seed_text =
      R"({"a":{"S":"x"},"b":{"N":"-1.5e3"},"c":{"B":"AAEC"},"d":{"SS":["x","y"]},"e":{"NS":["1","2"]},)"
      R"("f":{"L":[{"BOOL":true},{"M":{"g":{"NULL":true},"h":{"BS":["YQ=="]}}}]}})";
  const std::string_view tokens[] = {"\"N\"", "\"S\"", "null",          "[]",   "{}",
                                     "\"\"",  "\"1\"", "{\"S\":\"x\"}", "true", "1"};
  std::mt19937_64 random(20220719);
  int taken = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = seed_text;
    for (auto edits = 1 + random() % 3; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0: text[at] = static_cast<char>(0x20 + random() % 0x5f); break;
        case 1: text.erase(at, 1 + random() % 8); break;
        case 2: text.insert(at, tokens[random() % std::size(tokens)]); break;
        case 3: {
          const std::size_t quote = text.find('"', at);
          const std::size_t end = quote == std::string::npos ? quote : text.find('"', quote + 1);
          if (end != std::string::npos)
            text.replace(quote, end - quote + 1, tokens[random() % std::size(tokens)]);
          break;
        }
      }
    }
    const auto document = json::parse(text);
    if (!document) continue;
    const auto item = read_item(document->root());
    if (!item) continue;
    ++taken;
    std::string stored, written;
    engine::encode_item(*item, stored);
    REQUIRE(engine::decode_item(stored) == *item);
    json::Writer writer(written);
    write_stored_item(writer, stored);
    const auto again = json::parse(written);
    REQUIRE(again);
    const auto same = read_item(again->root());
    REQUIRE(same);
    REQUIRE(*same == *item);
  }
  CHECK(taken > 100);
}

}  // namespace mayfly::testing
