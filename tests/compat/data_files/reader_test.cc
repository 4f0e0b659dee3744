// Reads data files in each format with all possible chunk boundaries, and checks the errors for bad records.
#include "compat/data_files/reader.h"

#include <catch2/catch.hpp>
#include <zstd.h>

#include "tests/compat/data_files/read_file.h"

namespace mayfly::testing {

namespace {

using namespace compat::data_files;
using engine::Type;

std::string json_lines(const std::string& text) { return shown(read_file({}, text)); }
std::string ion(const std::string& text) { return shown(read_file({.format = Format::ion}, text)); }
std::string csv(const std::string& text, CsvOptions options = {}) {
  return shown(read_file({.format = Format::csv, .csv = std::move(options)}, text));
}

std::string gzip_of(std::string_view text) {
  Gzip gzip;
  gzip.add(text);
  gzip.end();
  return gzip.take();
}
std::string zstd_of(std::string_view text, int level = 3) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), level));
  return out;
}

// These examples come from AWS's guide.
const std::string book_json =
    R"({"Item":{"Authors":{"SS":["Author1","Author2"]},"Dimensions":{"S":"8.5 x 11.0 x 1.5"},"ISBN":{"S":"333-3333333333"},)"
    R"("Id":{"N":"103"},"InPublication":{"BOOL":false},"PageCount":{"N":"600"},"Price":{"N":"2000"},)"
    R"("ProductCategory":{"S":"Book"},"Title":{"S":"Book 103 Title"}}})";
const std::string book_ion =
    R"({Item:{Authors:$dynamodb_SS::["Author1","Author2"],Dimensions:"8.5 x 11.0 x 1.5",ISBN:"333-3333333333",)"
    R"(Id:103.,InPublication:false,PageCount:6d2,Price:2d3,ProductCategory:"Book",Title:"Book 103 Title"}})";
const std::string book_shown = book_json.substr(8, book_json.size() - 9) + "\n";

const std::string no_ion = "The text is not Ion with an Item\n";

}  // namespace

TEST_CASE("a DYNAMODB_JSON line may hold several items regardless of chunk boundaries") {
  const std::string one = R"({"Item":{"id":{"S":"}{\"{"}}})", two = R"({"Item":{"id":{"S":"2"}}})";
  const std::string one_shown = one.substr(8, one.size() - 9) + "\n",
                    two_shown = two.substr(8, two.size() - 9) + "\n";
  const std::string text = one + two + " \t" + one + "\r\n" + two + one;
  const std::string expected = one_shown + two_shown + one_shown + two_shown + one_shown;
  for (std::size_t chunk = 1; chunk <= text.size(); ++chunk)
    CHECK(shown(read_file({}, text, chunk)) == expected);
  CHECK(json_lines(one + two + "x\n" + two) ==
        one_shown + "!!line 1, offset " + std::to_string(one.size()) + ": The line is not JSON\n");
  CHECK(json_lines("x" + one + two) == "!!line 1, offset 0: The line is not JSON\n");
  CHECK(json_lines("{\n" + two) == "!!line 1, offset 0: The line is not JSON\n");
}

TEST_CASE("a bulk put record is kept as JSON with its condition even if the file is in Ion") {
  const auto jsons = [](Format format, std::string text) {
    Reader reader({.format = format, .with_conditions = true});
    reader.feed(std::move(text));
    reader.end();
    std::string shown;
    while (const auto record = reader.next()) shown += (*record ? reader.json() : "!") + "\n";
    return shown;
  };
  const std::string json =
      R"({"Item":{"id":{"S":"1"}},"ConditionExpression":"#v < :v","ExpressionAttributeNames":{"#v":"v"},)"
      R"("ExpressionAttributeValues":{":v":{"N":"7"}}})";
  CHECK(jsons(Format::dynamodb_json, json + "\nnonsense") == json + "\n!\n");
  CHECK(jsons(Format::ion,
              R"($ion_1_0 {Item:{id:"1"},ConditionExpression:"#v < :v",)"
              R"(ExpressionAttributeNames:{'#v':"v"},ExpressionAttributeValues:{':v':7}})") == json + "\n");
  CHECK(jsons(Format::ion, R"({ConditionExpression:"a"})") == "!\n");
  CHECK(jsons(Format::ion, R"({Item:{id:"1"},ConditionExpression:7})") == "!\n");
  CHECK(jsons(Format::ion, R"({Item:{id:"1"},ExpressionAttributeNames:{'#v':7}})") == "!\n");
  CHECK(jsons(Format::ion, R"({Item:{id:"1"},ExpressionAttributeValues:[7]})") == "!\n");
  // An import ignores the other members of a record.
  CHECK(ion(R"({Item:{id:"1"},ConditionExpression:7})") == "{\"id\":{\"S\":\"1\"}}\n");
}

TEST_CASE("a DYNAMODB_JSON file has an item on each line and may have empty lines") {
  CHECK(json_lines(book_json) == book_shown);
  CHECK(json_lines(book_json + "\n" + book_json + "\r\n") == book_shown + book_shown);
  CHECK(json_lines("\n  \r\n" + book_json + "\n\n") == book_shown);
  CHECK(json_lines("").empty());
  CHECK(json_lines(R"({"Item":{}})") == "{}\n");
}

TEST_CASE("reading DYNAMODB_JSON stops at a malformed line and skips an invalid item") {
  const std::string good = R"({"Item":{"a":{"S":"1"}}})";
  const std::string good_shown = "{\"a\":{\"S\":\"1\"}}\n";
  const auto after_good = [&](const std::string& line) {
    return json_lines(good + "\n" + line + "\n" + good);
  };
  for (const std::string line : {"garbage", "{", "[1", "{\"Item\":{\"a\":{\"S\":\"\xff\"}}}", "\x1f\x8b\x08"})
    CHECK(after_good(line) == good_shown + "!!line 2, offset 25: The line is not JSON\n");
  for (const std::string line :
       {"{}", "[]", "1", R"({"item":{"a":{"S":"1"}}})", R"({"Item":[]})", R"({"Item":null})"})
    CHECK(after_good(line) == good_shown + "!!line 2, offset 25: The line has no Item\n");
  CHECK(after_good(R"({"Item":{"a":{"S":1}}})") ==
        good_shown + "!!line 2, offset 25: NUMBER_VALUE cannot be converted to String\n");
  CHECK(after_good(R"({"Item":{"a":{"N":"one"}}})") ==
        good_shown + "!line 2, offset 25: The parameter cannot be converted to a numeric value: one\n" +
            good_shown);
  CHECK(
      after_good(R"({"Item":{"a":{"SS":[]}}})") ==
      good_shown +
          "!line 2, offset 25: One or more parameter values were invalid: An string set  may not be empty\n" +
          good_shown);
}

TEST_CASE("an Ion file is a sequence or a list of structs that each contain an Item") {
  CHECK(ion("$ion_1_0 " + book_ion) == book_shown);
  CHECK(ion("$ion_1_0 " + book_ion + "\n$ion_1_0 " + book_ion + "\n") == book_shown + book_shown);
  CHECK(ion(book_ion + book_ion) == book_shown + book_shown);
  CHECK(ion("$ion_1_0\n[\n  " + book_ion + ",\n  " + book_ion + "\n]\n") == book_shown + book_shown);
  CHECK(ion(" /* a } */ $ion_1_0 // {\n { Item /* { */ : { a : \"1\" , } , Other:[1.] , }") ==
        "{\"a\":{\"S\":\"1\"}}\n");
  CHECK(ion("").empty());
  CHECK(ion("$ion_1_0").empty());
  CHECK(ion("[]").empty());
}

TEST_CASE("Ion values map to DynamoDB's types") {
  const auto value = [](const std::string& text) {
    const std::string read = ion("{Item:{a:" + text + "}}");
    const std::string begins = "{\"a\":";
    return read.starts_with(begins) ? read.substr(begins.size(), read.size() - begins.size() - 2) : read;
  };
  CHECK(value("103.") == R"({"N":"103"})");
  CHECK(value("6d2") == R"({"N":"600"})");
  CHECK(value("-6.25D-1") == R"({"N":"-0.625"})");
  CHECK(value("1.d3") == R"({"N":"1000"})");
  CHECK(value("-0.") == R"({"N":"0"})");
  CHECK(value("12") == R"({"N":"12"})");
  CHECK(value("1_000") == R"({"N":"1000"})");
  CHECK(value("true") == R"({"BOOL":true})");
  CHECK(value("null") == R"({"NULL":true})");
  CHECK(value("null.null") == R"({"NULL":true})");
  CHECK(value("{{ YQ == }}") == R"({"B":"YQ=="})");
  CHECK(value("{{}}") == R"({"B":""})");
  CHECK(value("[\"a\",[],{}]") == R"({"L":[{"S":"a"},{"L":[]},{"M":{}}]})");
  CHECK(value("$dynamodb_NS::[1.,2d1]") == R"({"NS":["1","20"]})");
  CHECK(value("'$dynamodb_BS' :: [ {{YQ==}} ]") == R"({"BS":["YQ=="]})");
  CHECK(value("{b:1.,'c d':2.,\"e\":3.,'''f''':4.}") ==
        R"({"M":{"b":{"N":"1"},"c d":{"N":"2"},"e":{"N":"3"},"f":{"N":"4"}}})");
  CHECK(value(R"("\t\n\"\\\x41\u00e4\U0001f600\ud83d\ude00")") == R"({"S":"\t\n\"\\Aä😀😀"})");
  CHECK(value("'''a}''' '''b\\''''") == R"({"S":"a}b'"})");
  CHECK(value("\"} /* // ' {{\"") == R"({"S":"} /* // ' {{"})");
}

TEST_CASE("reading Ion stops at malformed data and skips an invalid item") {
  for (const std::string& text : std::vector<std::string>{"garbage",
                                                          "{a:1.}",
                                                          "[[" + book_ion + "]]",
                                                          "]",
                                                          "{{YQ==}}",
                                                          "$ion_1_1 " + book_ion,
                                                          "\"a\"",
                                                          "1",
                                                          "{Item:[]}",
                                                          "{Item:\"\"}",
                                                          "{Item:{a:1e2}}",
                                                          "{Item:{a:0x10}}",
                                                          "{Item:{a:2007-01-01T}}",
                                                          "{Item:{a:b}}",
                                                          "{Item:{a:nan}}",
                                                          "{Item:{a:+inf}}",
                                                          "{Item:{a:null.string}}",
                                                          "{Item:{a:{{\"clob\"}}}}",
                                                          "{Item:{a:b::1.}}",
                                                          "{Item:{a:(1.)}}",
                                                          "{Item:{$10:1.}}",
                                                          "{Item:{a:1. b:2.}}",
                                                          "{Item:{a:$dynamodb_SS::\"a\"}}",
                                                          "{Item:{a:$dynamodb_SS::[1.]}}",
                                                          "{Item:{a:$dynamodb_NS::[null]}}",
                                                          "{Item:{a:$dynamodb_L::[1.]}}",
                                                          "{Item:{a::1.}}",
                                                          "{Item:{a:\"\\q\"}}",
                                                          "{Item:{a:\"\\ud800\"}}",
                                                          "{Item:{a:\"\\U00110000\"}}",
                                                          "{Item:{a:\"\xff\"}}",
                                                          "{Item:{a:\"\n\"}}",
                                                          "{Item:{a:]}}",
                                                          "{Item:{a}}",
                                                          "{Item:}"}) {
    INFO(text);
    const std::string read = ion(text + "\n" + book_ion);
    CHECK(read.starts_with("!!line 1, offset "));
    CHECK(read.ends_with(": " + no_ion));
  }
  for (const std::string& text :
       std::vector<std::string>{"{Item:{a:\"", "{Item:{a:1.}", "[" + book_ion, "/* a", "{Item:{a:{{YQ"})
    CHECK(ion(text).ends_with(": The Ion data in the file is incomplete\n"));
  CHECK(ion("{Item:{a:$dynamodb_SS::[]}}\n" + book_ion) ==
        "!line 1, offset 0: One or more parameter values were invalid: An string set  may not be empty\n" +
            book_shown);
  CHECK(ion(" \n{Item:{a:1d999}}") ==
        "!line 2, offset 2: Number overflow. Attempting to store a number with magnitude larger than "
        "supported range\n");
}

TEST_CASE("a CSV file has a header row and doubles the quotes inside quoted fields") {
  // These examples come from AWS's guide.
  CHECK(csv("id,value\n\"\"\"123\"\"\",\"Women's Full \"\"Length\"\" Dress\"\n") ==
        R"({"id":{"S":"\"123\""},"value":{"S":"Women's Full \"Length\" Dress"}})"
        "\n");
  CHECK(csv("id,value\n\"123\",Women's Full \"Length\" Dress\n") ==
        "!!line 2, offset 9: A double quote is neither escaped nor closed\n");
  CHECK(csv("PK,SK,EntityType,Name,Email\nUSER#1,PROFILE,User,,\n") ==
        R"({"EntityType":{"S":"User"},"PK":{"S":"USER#1"},"SK":{"S":"PROFILE"}})"
        "\n");
  CHECK(csv("a,b\r\n1,\"x\r\ny,z\"\r\n\r\n2,\"\"\r\n3,end") == R"({"a":{"S":"1"},"b":{"S":"x\r\ny,z"}})"
                                                               "\n"
                                                               R"({"a":{"S":"2"}})"
                                                               "\n"
                                                               R"({"a":{"S":"3"},"b":{"S":"end"}})"
                                                               "\n");
  CHECK(csv("").empty());
  CHECK(csv("a,b").empty());
  for (const char delimiter : {',', '\t', ':', ';', '|', ' '}) {
    const std::string d(1, delimiter);
    CHECK(csv("a" + d + "b\n1" + d + "\"" + d + "\"\n", {.delimiter = delimiter})
              .starts_with(R"({"a":{"S":"1"},"b":{"S":")"));
  }
}

TEST_CASE("a CSV header can be specified and key columns get the types of the table's keys") {
  CHECK(csv("1,b\n", {.header = {"id", "name"}}) == R"({"id":{"S":"1"},"name":{"S":"b"}})"
                                                    "\n");
  CHECK(csv("n,b,s,o\n01.50,YQ==,7,8\n",
            {.types = {{"n", Type::number}, {"b", Type::binary}, {"s", Type::string}}}) ==
        R"({"b":{"B":"YQ=="},"n":{"N":"1.5"},"o":{"S":"8"},"s":{"S":"7"}})"
        "\n");
  CHECK(csv("n\none\n2\n", {.types = {{"n", Type::number}}}) ==
        "!line 2, offset 2: The parameter cannot be converted to a numeric value: "
        "one\n{\"n\":{\"N\":\"2\"}}\n");
  CHECK(csv("b\nYQ\n", {.types = {{"b", Type::binary}}}) ==
        "!line 2, offset 2: The column b is not base64\n");
}

TEST_CASE("reading CSV stops at a malformed row and skips a row with the wrong number of columns") {
  CHECK(csv("a,b\n1\n1,2,3\n1,2\n") ==
        "!line 2, offset 4: The row has 1 columns, but the header has 2\n"
        "!line 3, offset 6: The row has 3 columns, but the header has 2\n"
        "{\"a\":{\"S\":\"1\"},\"b\":{\"S\":\"2\"}}\n");
  CHECK(csv("a\n\xff\n1\n") == "!line 2, offset 2: The column a is not UTF-8\n{\"a\":{\"S\":\"1\"}}\n");
  for (const std::string row : {"\"a", "\"a\"b", "a\"b", "\"a\" ", "\"a\"\rb", "\"a\"\r\""})
    CHECK(csv("a\n" + row + "\n1\n") == "!!line 2, offset 2: A double quote is neither escaped nor closed\n");
  CHECK(csv("a,b,a\n1,2,3\n") == "!!line 1, offset 0: The header names a column twice\n");
  CHECK(csv("a,,b\n1,2,3\n") == "!!line 1, offset 0: The header has a column without a name\n");
}

TEST_CASE("chunk boundaries do not change what is read") {
  const std::string lines = book_json + "\n\n" + R"({"Item":{"a":{"N":"x"}}})" + "\n" + book_json + "\nno";
  const std::string ions = "$ion_1_0 [/* } */" + book_ion + ", " +
                           R"({Item:{a:'''x}'''/**/'''y''',b:{{YQ==}},c:"\"}",'}':null}})" + "// {\n," +
                           book_ion + "]\n$ion_1_0 {Item:{a:$dynamodb_SS::[]}} no";
  const std::string rows = "a,b\r\n\"1\"\"\r\n\",2\r\n\r\n1\n,x\n\"\",\"y\"\r\nbad\"";
  const std::vector<std::pair<Format, std::string>> files = {{Format::dynamodb_json, lines},
                                                             {Format::ion, ions},
                                                             {Format::ion, "$ion_1_0$ion_1_0 " + book_ion},
                                                             {Format::csv, rows}};
  for (const auto& [format, text] : files) {
    const std::string whole = shown(read_file({.format = format}, text));
    CHECK(whole.find("!!") != std::string::npos);
    for (const Compression compression : {Compression::none, Compression::gzip, Compression::zstd}) {
      const std::string bytes = compression == Compression::none   ? text
                                : compression == Compression::gzip ? gzip_of(text)
                                                                   : zstd_of(text);
      for (std::size_t chunk = 1; chunk <= bytes.size(); chunk += chunk < 20 ? 1 : 37) {
        INFO(chunk);
        CHECK(shown(read_file({.format = format, .compression = compression}, bytes, chunk)) == whole);
      }
    }
  }
}

TEST_CASE("an error about a bad record names the record's file and index") {
  const auto records = read_file({.file = "data/a.csv", .format = Format::csv}, "a,b\n1,2\n1\n");
  REQUIRE(records.size() == 2);
  CHECK(records[1].error().file == "data/a.csv");
  CHECK(records[1].error().index == 1);
  // This example of an import's log comes from AWS's guide.
  CHECK(
      error_line("my-import-source",
                 "arn:aws:dynamodb:us-east-1:531234567890:table/target-table/import/01658528578619-c4d4e311",
                 {.file = "import-test.csv",
                  .what = "One or more parameter values were invalid: Missing the key pk in the item"}) ==
      R"({"itemS3Pointer":{"bucket":"my-import-source","key":"import-test.csv","itemIndex":0},"importArn":)"
      R"("arn:aws:dynamodb:us-east-1:531234567890:table/target-table/import/01658528578619-c4d4e311","errorMessages":)"
      R"(["One or more parameter values were invalid: Missing the key pk in the item"]})");
}

TEST_CASE("several gzip members or zstd frames in a file are concatenated and an empty file has no records") {
  const std::string text = book_json + "\n";
  CHECK(shown(read_file({.compression = Compression::gzip}, gzip_of(text) + gzip_of("") + gzip_of(text))) ==
        book_shown + book_shown);
  CHECK(shown(read_file({.compression = Compression::zstd},
                        zstd_of(text) + zstd_of("") + zstd_of(text, 19))) == book_shown + book_shown);
  for (const Compression compression : {Compression::none, Compression::gzip, Compression::zstd})
    CHECK(read_file({.compression = compression}, "").empty());
}

TEST_CASE("corrupt compressed data is reported after the records that precede it") {
  const std::string text = book_json + "\n";
  const auto gzip = [](const std::string& bytes) {
    return shown(read_file({.compression = Compression::gzip}, bytes));
  };
  const auto zstd = [](const std::string& bytes) {
    return shown(read_file({.compression = Compression::zstd}, bytes));
  };
  CHECK(gzip(text) == "!!line 1, offset 0: The file is not in GZIP format\n");
  CHECK(gzip(gzip_of(text) + "x").starts_with(book_shown + "!!line 2, "));
  CHECK(zstd(text).starts_with("!!line 1, offset 0: The file is not in a supported ZSTD format: "));
  const std::string cut_off = "!!line 1, offset 0: The compressed data in the file is incomplete\n";
  for (const std::size_t size : {1, 5, 12, 40}) {
    INFO(size);
    CHECK(gzip(gzip_of(text).substr(0, size)).ends_with("The compressed data in the file is incomplete\n"));
    CHECK(zstd(zstd_of(text).substr(0, size)).ends_with("The compressed data in the file is incomplete\n"));
  }
  // Frames of zstd versions before 1.0 are rejected, although the library can read them.
  for (const char version : {'\x1e', '\x22', '\x23', '\x24', '\x25', '\x26', '\x27'}) {
    CHECK(zstd(version + zstd_of(text).substr(1)) ==
          "!!line 1, offset 0: The file is not in a supported ZSTD format: Unknown frame "
          "descriptor\n");
    CHECK(zstd(zstd_of(text) + version + zstd_of(text).substr(1)).starts_with(book_shown + "!!line 2, "));
  }
  // This window is larger than any window that compression levels up to 19 use.
  std::string huge(ZSTD_compressBound(20 << 20), '\0');
  const std::string spaces(20 << 20, ' ');
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 27);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  ZSTD_CCtx_setParameter(context, ZSTD_c_enableLongDistanceMatching, 1);
  ZSTD_inBuffer in{spaces.data(), spaces.size(), 0};
  ZSTD_outBuffer out{huge.data(), huge.size(), 0};
  while (in.pos < in.size) ZSTD_compressStream2(context, &out, &in, ZSTD_e_continue);
  while (ZSTD_compressStream2(context, &out, &in, ZSTD_e_end) != 0) {}
  ZSTD_freeCCtx(context);
  huge.resize(out.pos);
  CHECK(zstd(huge).starts_with("!!line 1, offset 0: The file is not in a supported ZSTD format: "));
}

TEST_CASE("unpacking stops when a file exceeds its limits") {
  const std::string line(16 << 20, ' ');
  CHECK(json_lines(line + "x").starts_with("!!line 1, offset 0: The line is too long for an item"));
  CHECK(shown(read_file({.compression = Compression::gzip}, gzip_of("{" + line))) ==
        "!!line 1, offset 0: The line is too long for an item\n");
  CHECK(ion("{Item:{a:\"" + line) == "!!line 1, offset 0: The text is too long for an item\n");
  CHECK(ion("{Item:{a:" + std::string(5 << 20, '[')) ==
        "!!line 1, offset 0: The text is too long for an item\n");
  CHECK(csv("a\n\"" + line) == "!!line 2, offset 2: The row is too long for an item\n");
  CHECK(csv("a\n" + line) == "!!line 2, offset 2: The row is too long for an item\n");
  // The text consists of empty lines. Without a limit on the compression ratio, any number of empty lines
  // would be read.
  std::string frames;
  const std::string frame = zstd_of(std::string(16 << 20, '\n'));
  for (int i = 0; i < 6; ++i) frames += frame;
  const std::string read = shown(read_file({.compression = Compression::zstd}, frames));
  CHECK(read.ends_with("The file decompresses to more than a thousand times its size\n"));
}

TEST_CASE("a value that nests deeper than an item allows is rejected however deep it is") {
  for (const int depth : {33, 70, 599, 700, 100'000}) {
    std::string json, ion_text;
    for (int i = 0; i < depth; ++i) json += R"({"L":[)", ion_text += '[';
    for (int i = 0; i < depth; ++i) json += "]}", ion_text += ']';
    CHECK(json_lines(R"({"Item":{"a":)" + json + "}}").starts_with("!"));
    CHECK(ion("{Item:{a:" + ion_text + "}}").starts_with("!"));
  }
}

}  // namespace mayfly::testing
