// Matches filter patterns against records as Lambda receives them.
// The rules are those of EventBridge's content filtering.
#include "compat/lambda/filter_pattern.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace mayfly::testing {

using namespace compat::triggers;

namespace {

// The REMOVE record of an abandoned cart.
const std::string expired =
    R"({"eventID":"13632bb66cf8c76f61ab676f7d2e9f07","eventName":"REMOVE","eventVersion":"1.1",
  "eventSource":"aws:dynamodb","awsRegion":"us-east-1",
  "dynamodb":{"ApproximateCreationDateTime":1700000000,"Keys":{"cartid":{"S":"cart-42"}},
    "OldImage":{"cartid":{"S":"cart-42"},"customerid":{"S":"Nina"},"productids":{"SS":["piano","stool"]},
      "total":{"N":"42"},"gift":{"BOOL":true},"note":{"NULL":true},"coupon":{"S":""},"none":{"L":[]},
      "lines":{"L":[{"M":{"sku":{"S":"piano"},"count":{"N":"1"}}},{"M":{"sku":{"S":"stool"},"count":{"N":"2"}}}]},
      "address":{"M":{"city":{"S":"Köln"},"ip":{"S":"10.0.3.7"},"ip6":{"S":"2001:db8::17"}}}},
    "SequenceNumber":"600000000019036501898","SizeBytes":26.50,"StreamViewType":"NEW_AND_OLD_IMAGES"},
  "eventSourceARN":"arn:aws:dynamodb:us-east-1:000000000000:table/carts/stream/2024-05-01T00:00:00.123",
  "userIdentity":{"type":"Service","principalId":"dynamodb.amazonaws.com"},
  "nothing":null,"numbers":[1,[2,3]],"mixed":[{"a":1,"b":1},{"a":2,"b":2}]})";

bool matches(const std::string& pattern, const std::string& record = expired) {
  const auto parsed = FilterPattern::parse(pattern);
  INFO(pattern);
  REQUIRE(parsed);
  const auto document = mayfly::json::parse(record);
  REQUIRE(document);
  FilterWork work;
  return parsed->matches(document->root(), work);
}

// {"dynamodb":{"OldImage":…}}
std::string image(const std::string& pattern) { return R"({"dynamodb":{"OldImage":)" + pattern + "}}"; }

struct Case {
  bool matches;
  std::string pattern;
};

void check(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    INFO(one.pattern);
    CHECK(matches(one.pattern) == one.matches);
  }
}

}  // namespace

TEST_CASE("all members of a pattern must match and one matching value of each member is enough") {
  check({
      {true, R"({"eventName":["REMOVE"]})"},
      {true, R"({"eventName":["INSERT","REMOVE"]})"},
      {false, R"({"eventName":["INSERT","MODIFY"]})"},
      {false, R"({"eventName":["remove"]})"},
      {true, R"({"eventName":["REMOVE"],"awsRegion":["us-east-1"]})"},
      {false, R"({"eventName":["REMOVE"],"awsRegion":["eu-west-1"]})"},
      {true, R"({"userIdentity":{"type":["Service"],"principalId":["dynamodb.amazonaws.com"]}})"},
      {false, R"({"userIdentity":{"Type":["Service"]}})"},
      {false, R"({"userIdentity":{"type":["Service"],"principalId":[""]}})"},
      {false, R"({"absent":["x"]})"},
      {false, R"({"absent":{"further":["x"]}})"},
      {false, R"({"eventName":{"further":["x"]}})"},
      {true, R"({"eventName":["INSERT"],"eventName":["REMOVE"]})"},  // a repeated name's last member counts
      {true, R"({"dynamodb":{"Keys":{"cartid":{"S":["cart-42"]}}}})"},
      {true, image(R"({"total":{"N":["42"]}})")},
      {true, image(R"({"gift":{"BOOL":[true]}})")},
      {false, image(R"({"gift":{"BOOL":[false]}})")},
      {false, image(R"({"gift":{"BOOL":["true"]}})")},
      {true, image(R"({"productids":{"SS":["stool"]}})")},
      {true, image(R"({"address":{"M":{"city":{"S":["Köln"]}}}})")},
  });
}

TEST_CASE("null matches only null and the empty string matches only the empty string") {
  check({
      {true, R"({"nothing":[null]})"},
      {false, R"({"nothing":[""]})"},
      {false, R"({"nothing":["null"]})"},
      {false, R"({"absent":[null]})"},
      {true, image(R"({"coupon":{"S":[""]}})")},
      {false, image(R"({"coupon":{"S":[null]}})")},
      {true, R"({"nothing":[{"exists":true}]})"},
  });
}

TEST_CASE("a pattern can match strings by prefix or by suffix or regardless of case") {
  check({
      {true, R"({"eventName":[{"prefix":"REM"}]})"},
      {false, R"({"eventName":[{"prefix":"rem"}]})"},
      {true, R"({"eventName":[{"prefix":""}]})"},
      {true, R"({"eventName":[{"prefix":{"equals-ignore-case":"rem"}}]})"},
      {false, R"({"eventName":[{"prefix":{"equals-ignore-case":"mov"}}]})"},
      {true, R"({"eventName":[{"suffix":"OVE"}]})"},
      {false, R"({"eventName":[{"suffix":"ove"}]})"},
      {true, R"({"eventName":[{"suffix":{"equals-ignore-case":"ove"}}]})"},
      {true, R"({"eventName":[{"equals-ignore-case":"Remove"}]})"},
      {false, R"({"eventName":[{"equals-ignore-case":"Removed"}]})"},
      {true, image(R"({"address":{"M":{"city":{"S":[{"equals-ignore-case":"KÖLN"}]}}}})")},
      {true, image(R"({"customerid":{"S":["Max",{"prefix":"N"}]}})")},
      {true, image(R"({"productids":{"SS":[{"prefix":"st"}]}})")},
      {false, image(R"({"gift":{"BOOL":[{"prefix":"t"}]}})")},
      {false, R"({"dynamodb":{"ApproximateCreationDateTime":[{"prefix":"17"}]}})"},
      {false, R"({"absent":[{"prefix":""}]})"},
  });
}

TEST_CASE("numbers are compared by value and only with numbers") {
  check({
      {true, R"({"dynamodb":{"ApproximateCreationDateTime":[1700000000]}})"},
      {true, R"({"dynamodb":{"ApproximateCreationDateTime":[1.7e9]}})"},
      {false, R"({"dynamodb":{"ApproximateCreationDateTime":["1700000000"]}})"},
      {true, R"({"dynamodb":{"SizeBytes":[26.5]}})"},
      {true, R"({"dynamodb":{"SizeBytes":[{"numeric":["=",26.5]}]}})"},
      {true, R"({"dynamodb":{"SizeBytes":[{"numeric":[">",26,"<=",26.5]}]}})"},
      {false, R"({"dynamodb":{"SizeBytes":[{"numeric":[">",26,"<",26.5]}]}})"},
      {true, R"({"dynamodb":{"SizeBytes":[{"numeric":[">=",26.5,"<",27]}]}})"},
      {false, R"({"dynamodb":{"SizeBytes":[{"numeric":[">",26.5]}]}})"},
      {true, R"({"dynamodb":{"SizeBytes":[{"numeric":["<",1e3]}]}})"},
      {true, R"({"dynamodb":{"SizeBytes":[{"numeric":[">",-5]}]}})"},
      {true, R"({"numbers":[3]})"},
      {false, R"({"numbers":[4]})"},
      // DynamoDB writes its numbers as strings.
      {false, image(R"({"total":{"N":[42]}})")},
      {false, image(R"({"total":{"N":[{"numeric":["=",42]}]}})")},
      {false, image(R"({"total":{"N":[{"numeric":[">",0]}]}})")},
      {false, R"({"absent":[{"numeric":[">",0]}]})"},
  });
}

TEST_CASE("the exists operator applies only to leaves") {
  check({
      {true, R"({"eventName":[{"exists":true}]})"},
      {false, R"({"eventName":[{"exists":false}]})"},
      {true, R"({"absent":[{"exists":false}]})"},
      {false, R"({"absent":[{"exists":true}]})"},
      {true, R"({"absent":{"further":[{"exists":false}]}})"},
      {true, image(R"({"customerid":{"S":[{"exists":true}]}})")},
      {true, image(R"({"productids":{"SS":[{"exists":true}]}})")},
      // An attribute is an object, {"S":…}, and therefore not a leaf.
      {true, image(R"({"customerid":[{"exists":false}]})")},
      {false, image(R"({"customerid":[{"exists":true}]})")},
      {true, image(R"({"customerid":{"N":[{"exists":false}]}})")},
      {true, R"({"dynamodb":{"NewImage":{"customerid":{"S":[{"exists":false}]}}}})"},
      {false, image(R"({"none":{"L":[{"exists":true}]}})")},
      {true, image(R"({"none":{"L":[{"exists":false}]}})")},
      // Each element of the array has `a`, and no element has `c`.
      {false, R"({"mixed":{"a":[{"exists":false}]}})"},
      {true, R"({"mixed":{"c":[{"exists":false}]}})"},
      {true, R"({"absent":["x",{"exists":false}]})"},
      {true, R"({"userIdentity":{"type":[{"exists":true}]}})"},
  });
  CHECK(matches(R"({"userIdentity":{"type":[{"exists":false}]}})", R"({"eventName":"REMOVE"})"));
}

TEST_CASE("the anything-but operator matches any other value of a field that exists") {
  check({
      {true, R"({"eventName":[{"anything-but":"INSERT"}]})"},
      {false, R"({"eventName":[{"anything-but":"REMOVE"}]})"},
      {true, R"({"eventName":[{"anything-but":["INSERT","MODIFY"]}]})"},
      {false, R"({"eventName":[{"anything-but":["INSERT","REMOVE"]}]})"},
      {false, R"({"absent":[{"anything-but":"x"}]})"},
      {true, R"({"dynamodb":{"SizeBytes":[{"anything-but":27}]}})"},
      {false, R"({"dynamodb":{"SizeBytes":[{"anything-but":26.5}]}})"},
      {false, R"({"dynamodb":{"SizeBytes":[{"anything-but":[1,2.65e1]}]}})"},
      {true, R"({"dynamodb":{"SizeBytes":[{"anything-but":"26.5"}]}})"},
      {true, R"({"eventName":[{"anything-but":[1,2]}]})"},
      {true, R"({"nothing":[{"anything-but":"x"}]})"},
      {true, image(R"({"gift":{"BOOL":[{"anything-but":"x"}]}})")},
      {false, R"({"eventName":[{"anything-but":{"prefix":"REM"}}]})"},
      {true, R"({"eventName":[{"anything-but":{"prefix":"INS"}}]})"},
      {false, R"({"eventName":[{"anything-but":{"prefix":["INS","REM"]}}]})"},
      {false, R"({"eventName":[{"anything-but":{"suffix":"OVE"}}]})"},
      {true, R"({"eventName":[{"anything-but":{"suffix":["ERT","IFY"]}}]})"},
      {false, R"({"eventName":[{"anything-but":{"equals-ignore-case":"remove"}}]})"},
      {true, R"({"eventName":[{"anything-but":{"equals-ignore-case":["insert","modify"]}}]})"},
      // One element of the set has another value.
      {true, image(R"({"productids":{"SS":[{"anything-but":"piano"}]}})")},
      {false, image(R"({"productids":{"SS":[{"anything-but":["piano","stool"]}]}})")},
  });
}

TEST_CASE("an array of objects matches if one object matches the whole pattern") {
  check({
      {true, R"({"mixed":{"a":[1],"b":[1]}})"},
      {false, R"({"mixed":{"a":[1],"b":[2]}})"},
      {true, R"({"mixed":{"a":[2]}})"},
      {true, image(R"({"lines":{"L":{"M":{"sku":{"S":["stool"]},"count":{"N":["2"]}}}}})")},
      {false, image(R"({"lines":{"L":{"M":{"sku":{"S":["stool"]},"count":{"N":["1"]}}}}})")},
  });
}

TEST_CASE("$or requires that one of its patterns matches in addition to its sibling members") {
  check({
      {true, R"({"$or":[{"eventName":["INSERT"]},{"awsRegion":["us-east-1"]}]})"},
      {false, R"({"$or":[{"eventName":["INSERT"]},{"awsRegion":["eu-west-1"]}]})"},
      {false, R"({"eventName":["INSERT"],"$or":[{"eventName":["REMOVE"]},{"awsRegion":["us-east-1"]}]})"},
      {true, R"({"eventName":["REMOVE"],"$or":[{"absent":["x"]},{"awsRegion":["us-east-1"]}]})"},
      {true,
       R"({"dynamodb":{"$or":[{"Keys":{"cartid":{"S":["x"]}}},{"OldImage":{"customerid":{"S":["Nina"]}}}]}})"},
      {true,
       R"({"$or":[{"eventName":["INSERT"]},{"$or":[{"absent":["x"]},{"awsRegion":[{"prefix":"us-"}]}]}]})"},
      {true, R"({"$or":[{"eventName":["REMOVE"],"awsRegion":["eu-west-1"]},{"absent":[{"exists":false}]}]})"},
  });
}

TEST_CASE("a cidr pattern matches the IP addresses of a network") {
  check({
      {true, image(R"({"address":{"M":{"ip":{"S":[{"cidr":"10.0.0.0/16"}]}}}})")},
      {false, image(R"({"address":{"M":{"ip":{"S":[{"cidr":"10.1.0.0/16"}]}}}})")},
      {true, image(R"({"address":{"M":{"ip6":{"S":[{"cidr":"2001:db8::/32"}]}}}})")},
      {false, image(R"({"address":{"M":{"city":{"S":[{"cidr":"0.0.0.0/0"}]}}}})")},
  });
}

TEST_CASE("the filter for abandoned carts accepts only complete expired carts") {
  const std::string filter = R"({"userIdentity":{"type":["Service"],"principalId":["dynamodb.amazonaws.com"]},
    "dynamodb":{"OldImage":{"productids":{"SS":[{"exists":true}]},"customerid":{"S":[{"exists":true}]}}}})";
  CHECK(matches(filter));
  CHECK_FALSE(matches(filter, R"({"eventName":"REMOVE","dynamodb":{"OldImage":{"productids":{"SS":["a"]},
      "customerid":{"S":"Nina"}}}})"));
  CHECK_FALSE(matches(filter, R"({"eventName":"REMOVE","dynamodb":{"OldImage":{"productids":{"SS":["a"]}}},
      "userIdentity":{"type":"Service","principalId":"dynamodb.amazonaws.com"}})"));
}

TEST_CASE("invalid patterns are rejected") {
  for (const std::string pattern : {
           "",
           "null",
           "42",
           "[]",
           R"("x")",
           "{}",
           R"({"a")",
           R"({"a":["x"]} trailing)",
           R"({"eventName":"REMOVE"})",
           R"({"a":1})",
           R"({"a":null})",
           R"({"a":[]})",
           R"({"a":{}})",
           R"({"a":{"b":{}}})",
           R"({"a":[["x"]]})",
           R"({"a":[{}]})",
           R"({"a":[{"contains":"x"}]})",
           R"({"a":[{"prefix":"x","suffix":"y"}]})",
           R"({"a":[{"prefix":1}]})",
           R"({"a":[{"prefix":["x"]}]})",
           R"({"a":[{"prefix":{"suffix":"x"}}]})",
           R"({"a":[{"suffix":null}]})",
           R"({"a":[{"equals-ignore-case":1}]})",
           R"({"a":[{"equals-ignore-case":["x"]}]})",
           R"({"a":[{"exists":"true"}]})",
           R"({"a":[{"exists":null}]})",
           R"({"a":{"exists":true}})",
           R"({"a":[{"anything-but":[]}]})",
           R"({"a":[{"anything-but":["x",1]}]})",
           R"({"a":[{"anything-but":null}]})",
           R"({"a":[{"anything-but":true}]})",
           R"({"a":[{"anything-but":[null]}]})",
           R"({"a":[{"anything-but":{"exists":true}}]})",
           R"({"a":[{"anything-but":{"prefix":""}}]})",
           R"({"a":[{"anything-but":{"prefix":1}}]})",
           R"({"a":[{"anything-but":{"numeric":["=",1]}}]})",
           R"({"a":[{"numeric":[]}]})",
           R"({"a":[{"numeric":"=1"}]})",
           R"({"a":[{"numeric":["="]}]})",
           R"({"a":[{"numeric":["=","1"]}]})",
           R"({"a":[{"numeric":["!=",1]}]})",
           R"({"a":[{"numeric":["=",1,"=",1]}]})",
           R"({"a":[{"numeric":[">",5,"<",1]}]})",
           R"({"a":[{"numeric":[">",5,"<",5]}]})",
           R"({"a":[{"numeric":["<",5,">",1]}]})",
           R"({"a":[{"numeric":[">",1,">",2]}]})",
           R"({"a":[{"numeric":[">",1,"<"]}]})",
           R"({"a":[{"numeric":[1,">"]}]})",
           R"({"$or":[]})",
           R"({"$or":[{"a":["x"]}]})",
           R"({"$or":{"a":["x"]}})",
           R"({"$or":[{"a":["x"]},{}]})",
           R"({"$or":[{"a":["x"]},"b"]})",
           R"({"$or":[{"prefix":["x"]},{"a":["x"]}]})",
           R"({"a":[{"cidr":"10.0.0.0"}]})",
           R"({"a":[{"cidr":"10.0.0.0/32"}]})",
           R"({"a":[{"cidr":"host/8"}]})",
           R"({"a":[{"wildcard":"x*"}]})",
           R"({"a":[{"anything-but":{"wildcard":"x*"}}]})",
       }) {
    INFO(pattern);
    CHECK_FALSE(FilterPattern::parse(pattern));
  }
}

TEST_CASE("the cost of matching is linear in the size of the record for every pattern") {
  const std::string absent = R"([{"exists":false}])";
  const std::pair<std::string, std::string> below_lists[] = {
      {R"({"a":{"b":)" + absent + "}}", R"({"b":1})"},
      {R"({"a":{"b":)" + absent + R"(,"$or":[{"c":)" + absent + R"(},{"d":)" + absent + "}]}}",
       R"([{"b":1,"c":1,"d":1}])"},
      {R"({"a":{"c":{"b":)" + absent + "}}}", R"({"c":[{"b":1},{"b":2}]})"},
      {R"({"a":{"c":{"b":)" + absent + "}}}", R"({"c":[]})"},
      {R"({"a":{"b":[{"prefix":"z"},"z",{"numeric":[">",5]},{"suffix":"z"}]}})", R"({"b":["x","y"]})"},
  };
  for (const auto& [text, element] : below_lists) {
    INFO(text);
    const auto pattern = FilterPattern::parse(text);
    REQUIRE(pattern);
    const auto steps = [&, &element = element](int count) {
      // The last element has the leaves that the patterns look for. The other elements may lack these leaves.
      std::string record = R"({"a":[)";
      for (int i = 0; i < count; ++i) record += element + ",";
      record += R"({"b":1,"c":{"b":"x"}}]})";
      const auto document = mayfly::json::parse(record);
      REQUIRE(document);
      FilterWork work;
      CHECK_FALSE(pattern->matches(document->root(), work));
      return work.steps();
    };
    const auto once = steps(1000), twice = steps(2000);
    CHECK(once >= 1000);
    CHECK(twice <= 2 * once);
  }
}

TEST_CASE("matching ends early when a stop is requested") {
  const auto pattern = FilterPattern::parse(R"({"a":{"b":["x"]}})");
  REQUIRE(pattern);
  std::string record = R"({"a":[{"b":1})";
  for (int i = 0; i < 100'000; ++i) record += R"(,{"b":1})";
  record += "]}";
  const auto document = mayfly::json::parse(record);
  std::stop_source stop;
  stop.request_stop();
  FilterWork work(stop.get_token());
  CHECK_FALSE(pattern->matches(document->root(), work));
  CHECK(work.stopped());
  CHECK(work.steps() < 110'000);
}

}  // namespace mayfly::testing
