// Tests the files that exports write. They match AWS's files, and reading them returns the same items.
#include "compat/data_files/writer.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "compat/data_files/manifest.h"
#include "tests/compat/data_files/read_file.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

namespace {

using namespace compat::data_files;

std::string written(Format format, const Item& item) {
  std::string out;
  append_item(out, format, item);
  return out;
}
std::string ion_number(std::string_view text) {
  const std::string line = written(Format::ion, {{"n", number(text)}});
  constexpr std::string_view begins = "$ion_1_0 {Item:{n:", ends = "}}\n";
  return line.substr(begins.size(), line.size() - begins.size() - ends.size());
}

// Generates items with any values that an item can hold.
class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}

  Item item() {
    Item item;
    for (int i = below(8); i >= 0; --i) item.set(name(), value(0));
    return item;
  }
  std::string text() {
    static const std::vector<std::string> pieces = {
        "a",    "\"", "'",  "\\", "\n",       "\r", "\t",
        ",",    "}",  "{{", "ä",  "\xc2\x85", "😀",  std::string(1, '\0'),
        "\x7f", "/*", "//", "::", "$10",      " ",  "'''"};
    std::string out;
    for (int i = below(6); i > 0; --i)
      out += pieces[static_cast<std::size_t>(below(static_cast<int>(pieces.size())))];
    return out;
  }
  std::string name() {
    static const std::vector<std::string> names = {"null", "true", "nan", "$10", "$a",
                                                   "_",    "a1",   "1a",  "a b", "Item"};
    return below(2) == 0 ? names[static_cast<std::size_t>(below(static_cast<int>(names.size())))]
                         : "n" + text();
  }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  Number any_number() {
    std::string text = below(2) == 0 ? "-" : "";
    for (int i = below(38); i >= 0; --i) text += static_cast<char>('0' + below(10));
    return *Number::parse(text + "e" + std::to_string(below(160) - 100));
  }
  AttributeValue value(int depth) {
    switch (below(depth > 3 ? 8 : 10)) {
      case 0: return number(0);
      case 1: return any_number();
      case 2: return Binary{text()};
      case 3: return AttributeValue(below(2) == 0);
      case 4: return Null{};
      case 5: return set_of<std::string>("a" + text(), "b" + text());
      case 6: return set_of<Number>(any_number(), *Number::parse("7e-129"));
      case 7: return set_of<Binary>(Binary{"a" + text()}, Binary{"b"});
      case 8: {
        List list;
        for (int i = below(4); i > 0; --i) list.push_back(value(depth + 1));
        return list;
      }
      default: {
        Map map;
        for (int i = below(4); i > 0; --i) map.set(name(), value(depth + 1));
        return map;
      }
    }
  }
  template <class T>
  static Set<T> set_of(T one, T other) {
    Set<T> set;
    Set<T>::make({std::move(one), std::move(other)}, set);
    return set;
  }

  std::mt19937 random_;
};

}  // namespace

TEST_CASE("items are written as in AWS's guide") {
  StringSet authors;
  StringSet::make({"Author1", "Author2"}, authors);
  const Item book = {{"Authors", authors},
                     {"Dimensions", "8.5 x 11.0 x 1.5"},
                     {"ISBN", "333-3333333333"},
                     {"Id", number("103")},
                     {"InPublication", AttributeValue(false)},
                     {"PageCount", number("600")},
                     {"Price", number("2000")},
                     {"ProductCategory", "Book"},
                     {"Title", "Book 103 Title"}};
  CHECK(
      written(Format::dynamodb_json, book) ==
      R"({"Item":{"Authors":{"SS":["Author1","Author2"]},"Dimensions":{"S":"8.5 x 11.0 x 1.5"},"ISBN":{"S":"333-3333333333"},)"
      R"("Id":{"N":"103"},"InPublication":{"BOOL":false},"PageCount":{"N":"600"},"Price":{"N":"2000"},)"
      R"("ProductCategory":{"S":"Book"},"Title":{"S":"Book 103 Title"}}})"
      "\n");
  CHECK(
      written(Format::ion, book) ==
      R"($ion_1_0 {Item:{Authors:$dynamodb_SS::["Author1","Author2"],Dimensions:"8.5 x 11.0 x 1.5",ISBN:"333-3333333333",)"
      R"(Id:103.,InPublication:false,PageCount:6d2,Price:2d3,ProductCategory:"Book",Title:"Book 103 Title"}})"
      "\n");
}

TEST_CASE("Ion output keeps significant digits and escapes or quotes text where necessary") {
  for (const auto& [text, ion] : std::map<std::string, std::string>{
           {"0", "0."},
           {"1", "1."},
           {"-1", "-1."},
           {"10", "1d1"},
           {"8.5", "8.5"},
           {"-12.345", "-12.345"},
           {"0.5", "0.5"},
           {"0.000001", "0.000001"},
           {"0.0000012", "0.0000012"},
           {"0.0000001", "1d-7"},
           {"12e-9", "12d-9"},
           {"1e125", "1d125"},
           {"1e-130", "1d-130"},
           {"12345678901234567890123456789012345678", "12345678901234567890123456789012345678."}}) {
    INFO(text);
    CHECK(ion_number(text) == ion);
  }
  CHECK(written(Format::ion, {{"$10", Null{}},
                              {"$a1", Null{}},
                              {"1a", Null{}},
                              {"a b", Null{}},
                              {"it's", Null{}},
                              {"null", Null{}}}) ==
        "$ion_1_0 {Item:{'$10':null,$a1:null,'1a':null,'a b':null,'it\\'s':null,'null':null}}\n");
  CHECK(written(Format::ion, {{"a", std::string("\0\x01\a\t\n\v\"\\'\x7f\xc2\x85\xc3\xa4", 14)}}) ==
        "$ion_1_0 {Item:{a:\"\\0\\x01\\a\\t\\n\\v\\\"\\\\'\\x7f\\x85\xc3\xa4\"}}\n");
}

TEST_CASE("a change is written with its keys and only the images that exist") {
  const Item keys = {{"id", "1"}}, image = {{"id", "1"}, {"n", number("2")}};
  const auto change = [&](Format format, const Item* new_image, const Item* old_image) {
    std::string out;
    append_change(out, format, {1684374845117899, keys, new_image, old_image});
    return out;
  };
  const std::string begins =
      R"({"Metadata":{"WriteTimestampMicros":{"N":"1684374845117899"}},"Keys":{"id":{"S":"1"}})";
  CHECK(change(Format::dynamodb_json, &image, &keys) ==
        begins + R"(,"NewImage":{"id":{"S":"1"},"n":{"N":"2"}},"OldImage":{"id":{"S":"1"}}})"
                 "\n");
  CHECK(change(Format::dynamodb_json, &keys, nullptr) == begins + R"(,"NewImage":{"id":{"S":"1"}}})"
                                                                  "\n");
  CHECK(change(Format::dynamodb_json, nullptr, nullptr) == begins + "}\n");
  CHECK(change(Format::ion, nullptr, &image) ==
        "$ion_1_0 "
        "{Metadata:{WriteTimestampMicros:1684374845117899.},Keys:{id:\"1\"},OldImage:{id:\"1\",n:2.}}\n");
}

TEST_CASE("written items read back unchanged in every format") {
  const auto seed = GENERATE(range(1u, 41u));
  INFO(seed);
  Maker maker(seed);
  std::vector<Item> items;
  std::string json, ion;
  for (int i = 0; i < 25; ++i) {
    items.push_back(maker.item());
    append_item(json, Format::dynamodb_json, items.back());
    append_item(ion, Format::ion, items.back());
  }
  for (const Format format : {Format::dynamodb_json, Format::ion}) {
    const std::string& text = format == Format::ion ? ion : json;
    const auto records = read_file({.format = format}, text, seed * 7);
    INFO(shown(records));
    REQUIRE(records.size() == items.size());
    for (std::size_t i = 0; i < items.size(); ++i) CHECK((records[i] && *records[i] == items[i]));
  }
}

TEST_CASE("any text that is written to a CSV file reads back unchanged") {
  const auto seed = GENERATE(range(1u, 21u));
  INFO(seed);
  Maker maker(seed);
  std::string text = "a,b\n";
  std::vector<Item> items;
  for (int i = 0; i < 20; ++i) {
    Item item;
    for (const std::string name : {"a", "b"}) {
      const std::string value = maker.text();
      if (!value.empty()) item.set(name, value);
      text += name == "b" ? ",\"" : "\"";
      for (const char c : value) text += c == '"' ? "\"\"" : std::string(1, c);
      text += '"';
    }
    text += i % 2 == 0 ? "\r\n" : "\n";
    items.push_back(item);
  }
  const auto records = read_file({.format = Format::csv}, text, seed);
  REQUIRE(records.size() == items.size());
  for (std::size_t i = 0; i < items.size(); ++i) CHECK((records[i] && *records[i] == items[i]));
}

TEST_CASE("manifests match those recorded from AWS") {
  constexpr std::string_view arn = "arn:aws:dynamodb:us-east-1:531647909506:table/Airline";
  const ExportKeys keys =
      export_keys("public-s3-files/Output_Airline.csv", "01693467621041-039fcf72", ExportType::full);
  ExportSummary summary{.export_arn = std::string(arn) + "/export/01693467621041-039fcf72",
                        .table_arn = std::string(arn),
                        .table_id = "38148de1-7171-4ea4-85b2-e8b004fe4fe0",
                        .start = 1693467621041,
                        .end = 1693468066862,
                        .time = 1693467621041,
                        .bucket = "ori-531647909506",
                        .prefix = "public-s3-files/Output_Airline.csv",
                        .files_key = keys.files,
                        .items = 59871};
  CHECK(
      summary_manifest(summary) ==
      R"({"version":"2020-06-30","exportArn":"arn:aws:dynamodb:us-east-1:531647909506:table/Airline/export/01693467621041-039fcf72",)"
      R"("startTime":"2023-08-31T07:40:21.041Z","endTime":"2023-08-31T07:47:46.862Z",)"
      R"("tableArn":"arn:aws:dynamodb:us-east-1:531647909506:table/Airline","tableId":"38148de1-7171-4ea4-85b2-e8b004fe4fe0",)"
      R"("exportTime":"2023-08-31T07:40:21.041Z","s3Bucket":"ori-531647909506","s3Prefix":"public-s3-files/Output_Airline.csv",)"
      R"("s3SseAlgorithm":"AES256","s3SseKmsKeyId":null,)"
      R"("manifestFilesS3Key":"public-s3-files/Output_Airline.csv/AWSDynamoDB/01693467621041-039fcf72/manifest-files.json",)"
      R"("billedSizeBytes":0,"itemCount":59871,"outputFormat":"DYNAMODB_JSON"})");
  std::string line;
  append_data_file(line, {.items = 8553,
                          .md5 = "\x4d\x3f\xc3\x1d\xa5\x6e\x98\x28\xf7\x42\x83\xa1\x7e\x6e\xbf\xb6",
                          .etag = "e11e560d0751aa5933630fb904f5d0df-1",
                          .key = keys.data + "jhg6wb6v7u6dxdgwnn4c55ciq4.json.gz"});
  CHECK(
      line ==
      R"({"itemCount":8553,"md5Checksum":"TT/DHaVumCj3QoOhfm6/tg==","etag":"e11e560d0751aa5933630fb904f5d0df-1","dataFileS3Key":)"
      R"("public-s3-files/Output_Airline.csv/AWSDynamoDB/01693467621041-039fcf72/data/jhg6wb6v7u6dxdgwnn4c55ciq4.json.gz"})"
      "\n");
  CHECK(checksum_of("message digest") == "+WtpfXy3k41SWi8xqvFh0A==");

  summary.type = ExportType::incremental;
  summary.from = 1695056400000, summary.to = 1695096000000;
  summary.prefix = "", summary.format = Format::ion;
  const std::string incremental = summary_manifest(summary);
  CHECK(incremental.starts_with(R"({"version":"2023-08-01",)"));
  CHECK(
      incremental.find(
          R"("exportFromTime":"2023-09-18T17:00:00.000Z","exportToTime":"2023-09-19T04:00:00.000Z","s3Bucket")") !=
      std::string::npos);
  CHECK(incremental.find(R"("s3Prefix":null,)") != std::string::npos);
  CHECK(incremental.ends_with(
      R"("outputFormat":"ION","outputView":"NEW_AND_OLD_IMAGES","exportType":"INCREMENTAL_EXPORT"})"));
}

TEST_CASE("an export's files have the same keys as on AWS") {
  const ExportKeys full = export_keys("2024/", "01-a", ExportType::full);
  CHECK(full.started == "2024/AWSDynamoDB/01-a/_started");
  CHECK(full.summary == "2024/AWSDynamoDB/01-a/manifest-summary.json");
  CHECK(full.summary_checksum == "2024/AWSDynamoDB/01-a/manifest-summary.md5");
  CHECK(full.files_checksum == "2024/AWSDynamoDB/01-a/manifest-files.md5");
  CHECK(full.data == "2024/AWSDynamoDB/01-a/data/");
  const ExportKeys incremental = export_keys("", "01-a", ExportType::incremental);
  CHECK(incremental.files == "AWSDynamoDB/01-a/manifest-files.json");
  CHECK(incremental.data == "AWSDynamoDB/data/");
  SeededRandom random(1);
  const std::string one = data_file_name(random, Format::dynamodb_json),
                    other = data_file_name(random, Format::ion);
  CHECK(one.size() == 26 + 8);
  CHECK(one.find_first_not_of("abcdefghijklmnopqrstuvwxyz234567") == 26);
  CHECK(one.ends_with(".json.gz"));
  CHECK(other.ends_with(".ion.gz"));
  CHECK(one.substr(0, 26) != other.substr(0, 26));
}

}  // namespace mayfly::testing
