// Tests ListStreams, DescribeStream, GetShardIterator and GetRecords with whole requests and responses.
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "compat/emulator.h"
#include "engine/base/clock.h"

namespace mayfly::testing {

using namespace compat;

namespace {

constexpr engine::Instant start = 1'714'521'600'123;  // 2024-05-01T00:00:00.123Z
constexpr engine::Instant minute_ms = 60'000;
const std::string label = "2024-05-01T00:00:00.123";
const std::string arn = "arn:aws:dynamodb:us-east-1:000000000000:table/carts/stream/" + label;
const std::string shard = "shardId-00000001714521600123-00000001";

class World {
 public:
  World() : clock_(std::make_shared<engine::ManualClock>(start)) {
    emulator_ = std::move(*Emulator::open({.database = {.clock = clock_, .reap = false}}));
  }

  Answer answer(const std::string& operation, const std::string& body) {
    const bool streams = operation.find("Stream") != operation.npos ||
                         operation.find("Shard") != operation.npos || operation == "GetRecords";
    return emulator_->execute({"000000000000", "us-east-1"},
                              (streams ? "DynamoDBStreams_20120810." : "DynamoDB_20120810.") + operation,
                              body);
  }
  std::string call(const std::string& operation, const std::string& body) {
    Answer done = answer(operation, body);
    INFO(operation << " " << body << " -> " << done.body);
    REQUIRE(done.status == 200);
    return std::move(done.body);
  }
  // Makes a call that must get status 400. Returns the response's body.
  std::string refuse(const std::string& operation, const std::string& body) {
    Answer done = answer(operation, body);
    INFO(operation << " " << body << " -> " << done.body);
    REQUIRE(done.status == 400);
    return std::move(done.body);
  }

  void create(const std::string& name, const std::string& view = "NEW_AND_OLD_IMAGES") {
    call("CreateTable", R"({"TableName":")" + name + R"(","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
        "StreamSpecification":{"StreamEnabled":true,"StreamViewType":")" +
                            view + R"("}})");
  }
  void put(const std::string& item) { call("PutItem", R"({"TableName":"carts","Item":)" + item + "}"); }
  void disable_stream() {
    call("UpdateTable", R"({"TableName":"carts","StreamSpecification":{"StreamEnabled":false}})");
  }

  std::string iterator(const std::string& type, const std::string& rest = {}) {
    const std::string body =
        call("GetShardIterator", R"({"StreamArn":")" + arn + R"(","ShardId":")" + shard +
                                     R"(","ShardIteratorType":")" + type + "\"" + rest + "}");
    return value_of(body, "ShardIterator");
  }
  std::string at(const std::string& type, const std::string& number) {
    return iterator(type, R"(,"SequenceNumber":")" + number + "\"");
  }
  std::string records(const std::string& iterator, const std::string& rest = {}) {
    return call("GetRecords", R"({"ShardIterator":")" + iterator + "\"" + rest + "}");
  }

  // The string value of the first member with this name, or empty if there is no such member.
  static std::string value_of(const std::string& body, const std::string& name) {
    const auto found = body.find("\"" + name + "\":\"");
    if (found == body.npos) return {};
    const auto begin = found + name.size() + 4;
    return body.substr(begin, body.find('"', begin) - begin);
  }
  // The item ids of a response's records, in order.
  static std::string ids(const std::string& body) {
    std::string out;
    constexpr std::string_view keys = R"("Keys":{"id":{"S":")";
    for (auto at = body.find(keys); at != body.npos; at = body.find(keys, at + 1))
      out += body[at + keys.size()];
    return out;
  }

  engine::ManualClock& clock() { return *clock_; }
  std::int64_t advance(engine::Instant to, bool age_streams = false) {
    return database().time_travel().advance("000000000000", to, age_streams).expired;
  }
  engine::Database& database() { return emulator_->database(); }

 private:
  std::shared_ptr<engine::ManualClock> clock_;
  std::unique_ptr<Emulator> emulator_;
};

std::string validation(const std::string& message) {
  return R"({"__type":"com.amazon.coral.validate#ValidationException","message":")" + message + "\"}";
}
std::string failure(const std::string& type, const std::string& message) {
  return R"({"__type":"com.amazonaws.dynamodb.v20120810#)" + type + R"(","message":")" + message + "\"}";
}

TEST_CASE("a stream record shows whether the service made the change and contains both images") {
  World world;
  world.create("carts");
  world.call("UpdateTimeToLive",
             R"({"TableName":"carts","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"ttl"}})");
  const std::string iterator = world.iterator("TRIM_HORIZON");
  world.put(R"({"id":{"S":"a"},"n":{"N":"1"}})");
  world.put(R"({"id":{"S":"a"},"n":{"N":"1"}})");  // changes nothing, so it adds no record
  world.put(R"({"id":{"S":"a"},"ttl":{"N":"1714521610"}})");
  world.put(R"({"id":{"S":"b"}})");
  world.call("DeleteItem", R"({"TableName":"carts","Key":{"id":{"S":"b"}}})");
  world.call("DeleteItem", R"({"TableName":"carts","Key":{"id":{"S":"missing"}}})");
  CHECK(world.advance(start + minute_ms) == 1);

  const std::string body = world.records(iterator);
  const std::string head = R"(","eventVersion":"1.1","eventSource":"aws:dynamodb","awsRegion":"us-east-1",)"
                           R"("dynamodb":{"ApproximateCreationDateTime":)";
  std::string ids[5], numbers[5];
  std::size_t place = 0;
  for (int i = 0; i < 5; ++i) {
    place = body.find("\"eventID\":", place) + 1;
    ids[i] = World::value_of(body.substr(place - 1), "eventID");
    numbers[i] = World::value_of(body.substr(place), "SequenceNumber");
    CHECK(ids[i].size() == 32);
    CHECK(numbers[i].size() == 21);
    if (i > 0) CHECK(numbers[i] > numbers[i - 1]);
  }
  const std::string view = R"("StreamViewType":"NEW_AND_OLD_IMAGES"})";
  CHECK(
      body ==
      R"({"Records":[)"
      R"({"eventID":")" +
          ids[0] + R"(","eventName":"INSERT)" + head +
          R"(1714521600,"Keys":{"id":{"S":"a"}},)"
          R"("NewImage":{"id":{"S":"a"},"n":{"N":"1"}},"SequenceNumber":")" +
          numbers[0] + R"(","SizeBytes":9,)" + view +
          "},"
          R"({"eventID":")" +
          ids[1] + R"(","eventName":"MODIFY)" + head +
          R"(1714521600,"Keys":{"id":{"S":"a"}},)"
          R"("NewImage":{"id":{"S":"a"},"ttl":{"N":"1714521610"}},"OldImage":{"id":{"S":"a"},"n":{"N":"1"}},)"
          R"("SequenceNumber":")" +
          numbers[1] + R"(","SizeBytes":21,)" + view +
          "},"
          R"({"eventID":")" +
          ids[2] + R"(","eventName":"INSERT)" + head +
          R"(1714521600,"Keys":{"id":{"S":"b"}},)"
          R"("NewImage":{"id":{"S":"b"}},"SequenceNumber":")" +
          numbers[2] + R"(","SizeBytes":6,)" + view +
          "},"
          R"({"eventID":")" +
          ids[3] + R"(","eventName":"REMOVE)" + head +
          R"(1714521600,"Keys":{"id":{"S":"b"}},)"
          R"("OldImage":{"id":{"S":"b"}},"SequenceNumber":")" +
          numbers[3] + R"(","SizeBytes":6,)" + view +
          "},"
          R"({"eventID":")" +
          ids[4] + R"(","eventName":"REMOVE)" + head +
          R"(1714521610,"Keys":{"id":{"S":"a"}},)"
          R"("OldImage":{"id":{"S":"a"},"ttl":{"N":"1714521610"}},"SequenceNumber":")" +
          numbers[4] + R"(","SizeBytes":15,)" + view +
          R"(,"userIdentity":{"Type":"Service","PrincipalId":"dynamodb.amazonaws.com"}}],)"
          R"("NextShardIterator":")" +
          World::value_of(body, "NextShardIterator") + "\"}");
  // A second read returns the same page.
  CHECK(world.records(iterator) == body);
  // The next page is empty.
  CHECK(World::ids(world.records(World::value_of(body, "NextShardIterator"))).empty());
}

TEST_CASE("records contain the images that the stream's view type selects") {
  const std::string new_image = R"("NewImage":{"id":{"S":"a"},"n":{"N":"2"}})";
  const std::string old_image = R"("OldImage":{"id":{"S":"a"},"n":{"N":"1"}})";
  struct {
    std::string view, images, size;
  } const views[] = {{"KEYS_ONLY", "", "3"},
                     {"NEW_IMAGE", "," + new_image, "9"},
                     {"OLD_IMAGE", "," + old_image, "9"},
                     {"NEW_AND_OLD_IMAGES", "," + new_image + "," + old_image, "15"}};
  for (const auto& [view, images, size] : views) {
    INFO(view);
    World world;
    world.create("carts", view);
    world.put(R"({"id":{"S":"a"},"n":{"N":"1"}})");
    const std::string iterator = world.iterator("LATEST");
    world.put(R"({"id":{"S":"a"},"n":{"N":"2"}})");
    const std::string body = world.records(iterator);
    CHECK(body.find(R"("Keys":{"id":{"S":"a"}})" + images + R"(,"SequenceNumber":")") != body.npos);
    CHECK(body.find(R"("SizeBytes":)" + size + R"(,"StreamViewType":")" + view + "\"}") != body.npos);
  }
}

TEST_CASE("an iterator begins at the trim horizon or at the end of its shard or at or after a record") {
  World world;
  world.create("carts");
  world.put(R"({"id":{"S":"a"}})");
  world.put(R"({"id":{"S":"b"}})");
  world.put(R"({"id":{"S":"c"}})");
  const std::string latest = world.iterator("LATEST");
  const std::string all = world.records(world.iterator("TRIM_HORIZON"));
  CHECK(World::ids(all) == "abc");
  const std::string first = World::value_of(all, "SequenceNumber");
  CHECK(World::ids(world.records(world.at("AT_SEQUENCE_NUMBER", first))) == "abc");
  CHECK(World::ids(world.records(world.at("AFTER_SEQUENCE_NUMBER", first))) == "bc");
  CHECK(World::ids(world.records(latest)).empty());
  world.put(R"({"id":{"S":"d"}})");
  CHECK(World::ids(world.records(latest)) == "d");
}

TEST_CASE("pages with a Limit return each record once and in order") {
  World world;
  world.create("carts");
  std::string iterator = world.iterator("TRIM_HORIZON"), seen;
  for (char id = 'a'; id <= 'g'; ++id) world.put(R"({"id":{"S":")" + std::string(1, id) + "\"}}");
  for (int page = 0; page < 4; ++page) {
    const std::string body = world.records(iterator, R"(,"Limit":2)");
    seen += World::ids(body) + ".";
    iterator = World::value_of(body, "NextShardIterator");
  }
  CHECK(seen == "ab.cd.ef.g.");
}

TEST_CASE("a page of records is at most 1 MB") {
  World world;
  world.create("carts");
  for (char id = 'a'; id <= 'g'; ++id) {
    world.put(R"({"id":{"S":")" + std::string(1, id) + R"("},"x":{"S":")" + std::string(300'000, 'x') +
              "\"}}");
  }
  const std::string first = world.records(world.iterator("TRIM_HORIZON"));
  CHECK(World::ids(first) == "abc");
  CHECK(World::ids(world.records(World::value_of(first, "NextShardIterator"))) == "def");
}

TEST_CASE("DescribeStream shows where an open shard begins") {
  World world;
  world.create("carts", "KEYS_ONLY");
  const std::string body = world.call("DescribeStream", R"({"StreamArn":")" + arn + "\"}");
  const std::string number = World::value_of(body, "StartingSequenceNumber");
  CHECK(body == R"({"StreamDescription":{"StreamArn":")" + arn + R"(","StreamLabel":")" + label +
                    R"(","StreamStatus":"ENABLED","StreamViewType":"KEYS_ONLY",)"
                    R"("CreationRequestDateTime":1714521600.123,"TableName":"carts",)"
                    R"("KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"Shards":[{"ShardId":")" +
                    shard + R"(","SequenceNumberRange":{"StartingSequenceNumber":")" + number + "\"}}]}}");
  CHECK(number.size() == 21);
  // Iterators at and after that number both return the first record.
  const std::string at = world.at("AT_SEQUENCE_NUMBER", number),
                    after = world.at("AFTER_SEQUENCE_NUMBER", number);
  world.put(R"({"id":{"S":"a"}})");
  CHECK(World::ids(world.records(at)) == "a");
  CHECK(World::ids(world.records(after)) == "a");
}

TEST_CASE("DescribeStream shows nothing after the last shard and no children of an open shard") {
  World world;
  world.create("carts");
  const auto shards = [&](const std::string& rest) {
    const std::string body = world.call("DescribeStream", R"({"StreamArn":")" + arn + "\"" + rest + "}");
    return body.substr(body.find(R"("Shards":)"));
  };
  CHECK(shards(R"(,"ExclusiveStartShardId":")" + shard + "\"") == R"("Shards":[]}})");
  CHECK(shards(R"(,"ExclusiveStartShardId":"zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz")") == R"("Shards":[]}})");
  CHECK(shards(R"(,"ShardFilter":{"Type":"CHILD_SHARDS","ShardId":")" + shard + "\"}") == R"("Shards":[]}})");
  CHECK(shards(R"(,"Limit":1)").find(shard) != std::string::npos);
  CHECK(world.refuse("DescribeStream",
                     R"({"StreamArn":")" + arn + R"(","ShardFilter":{"Type":"CHILD_SHARDS"}})") ==
        validation(
            "1 validation error detected: Value null at 'shardFilter.shardId' failed to satisfy constraint: "
            "Member must not be null"));
}

TEST_CASE("a disabled stream stays listed and can be read to the end of its shard") {
  World world;
  world.create("carts");
  const std::string latest = world.iterator("LATEST");
  world.put(R"({"id":{"S":"a"}})");
  world.put(R"({"id":{"S":"b"}})");
  world.disable_stream();
  world.put(R"({"id":{"S":"c"}})");
  CHECK(world.call("ListStreams", "{}") ==
        R"({"Streams":[{"StreamArn":")" + arn + R"(","TableName":"carts","StreamLabel":")" + label + "\"}]}");
  const std::string body = world.call("DescribeStream", R"({"StreamArn":")" + arn + "\"}");
  CHECK(World::value_of(body, "StreamStatus") == "DISABLED");

  const std::string all = world.records(world.iterator("TRIM_HORIZON"));
  CHECK(World::ids(all) == "ab");
  CHECK(all.find("NextShardIterator") == all.npos);
  CHECK(all.find(R"("SequenceNumber":")" + World::value_of(body, "EndingSequenceNumber") + "\"") != all.npos);
  const std::string first = world.records(latest, R"(,"Limit":1)");
  CHECK(World::ids(first) == "a");
  const std::string second = world.records(World::value_of(first, "NextShardIterator"));
  CHECK(World::ids(second) == "b");
  CHECK(second.find("NextShardIterator") == second.npos);
  CHECK(world.records(world.iterator("LATEST")) == R"({"Records":[]})");
  CHECK(world.records(world.at("AFTER_SEQUENCE_NUMBER", World::value_of(body, "EndingSequenceNumber"))) ==
        R"({"Records":[]})");
}

TEST_CASE(
    "an old stream stays readable after its table enables a new stream and after the table is deleted") {
  World world;
  world.create("carts");
  world.put(R"({"id":{"S":"a"}})");
  world.disable_stream();
  world.call("UpdateTable", R"({"TableName":"carts","StreamSpecification":{"StreamEnabled":true,
      "StreamViewType":"KEYS_ONLY"}})");
  world.put(R"({"id":{"S":"b"}})");
  CHECK(World::ids(world.records(world.iterator("TRIM_HORIZON"))) == "a");
  world.call("DeleteTable", R"({"TableName":"carts"})");
  CHECK(World::ids(world.records(world.iterator("TRIM_HORIZON"))) == "a");
  const std::string listed = world.call("ListStreams", R"({"TableName":"carts"})");
  CHECK(listed.find(arn + "\"") != listed.npos);
  // Even on a clock that stands still, the second label differs.
  CHECK(listed.find(R"("StreamLabel":"2024-05-01T00:00:00.124")") != listed.npos);
}

TEST_CASE(
    "ListStreams pages are in order of table name even if a page starts after a deleted table's stream") {
  World world;
  for (const char* name : {"carts", "alpha", "beta"}) world.create(name);
  const auto stream = [](const std::string& name) {
    return "arn:aws:dynamodb:us-east-1:000000000000:table/" + name + "/stream/" + label;
  };
  const auto entry = [&](const std::string& name) {
    return R"({"StreamArn":")" + stream(name) + R"(","TableName":")" + name + R"(","StreamLabel":")" + label +
           "\"}";
  };
  CHECK(world.call("ListStreams", R"({"Limit":2})") == R"({"Streams":[)" + entry("alpha") + "," +
                                                           entry("beta") + R"(],"LastEvaluatedStreamArn":")" +
                                                           stream("beta") + "\"}");
  world.call("DeleteTable", R"({"TableName":"beta"})");
  CHECK(world.call("ListStreams", R"({"Limit":2,"ExclusiveStartStreamArn":")" + stream("beta") + "\"}") ==
        R"({"Streams":[)" + entry("carts") + "]}");
  CHECK(world.call("ListStreams", R"({"TableName":"carts","Limit":1})") ==
        R"({"Streams":[)" + entry("carts") + "]}");
  CHECK(world.call("ListStreams", R"({"TableName":"nowhere"})") == R"({"Streams":[]})");
  CHECK(world.refuse("ListStreams",
                     R"({"ExclusiveStartStreamArn":"kossaapaaasdafsdaasdasdasdasasdasfadfadfasdasdas"})") ==
        validation("Invalid StreamArn"));
}

TEST_CASE("a Limit of 0 or above the maximum is rejected") {
  World world;
  world.create("carts");
  const auto constraint = [](const std::string& value, const std::string& bound) {
    return validation("1 validation error detected: Value '" + value +
                      "' at 'limit' failed to satisfy constraint: Member must have value " + bound);
  };
  CHECK(world.refuse("ListStreams", R"({"Limit":0})") == constraint("0", "greater than or equal to 1"));
  CHECK(world.refuse("ListStreams", R"({"Limit":101})") == constraint("101", "less than or equal to 100"));
  const std::string describe = R"({"StreamArn":")" + arn + R"(","Limit":)";
  CHECK(world.refuse("DescribeStream", describe + "0}") == constraint("0", "greater than or equal to 1"));
  CHECK(world.refuse("DescribeStream", describe + "101}") == constraint("101", "less than or equal to 100"));
  const std::string get = R"({"ShardIterator":")" + world.iterator("LATEST") + R"(","Limit":)";
  CHECK(world.refuse("GetRecords", get + "0}") == constraint("0", "greater than or equal to 1"));
  CHECK(world.refuse("GetRecords", get + "1001}") == constraint("1001", "less than or equal to 1000"));
  CHECK(world.call("GetRecords", get + "1000}").starts_with(R"({"Records":[],"NextShardIterator":)"));
}

TEST_CASE(
    "a malformed stream ARN gets a validation error and a missing stream's ARN gets a not-found error") {
  World world;
  world.create("carts");
  const std::string nowhere = "arn:aws:dynamodb:us-east-1:000000000000:table/nowhere/stream/" + label;
  const std::string elsewhere = "arn:aws:dynamodb:eu-west-1:000000000000:table/carts/stream/" + label;
  for (const std::string operation : {"DescribeStream", "GetShardIterator"}) {
    const std::string rest = operation == "DescribeStream"
                                 ? "\"}"
                                 : R"(","ShardIteratorType":"LATEST","ShardId":")" + shard + "\"}";
    CHECK(world.refuse(operation, R"({"StreamArn":"fake-stream)" + rest) == validation("Invalid StreamArn"));
    for (const std::string& other : {nowhere, elsewhere}) {
      CHECK(world.refuse(operation, R"({"StreamArn":")" + other + rest) ==
            failure("ResourceNotFoundException",
                    "Requested resource not found: Stream: " + other + " not found"));
    }
  }
}

TEST_CASE("GetShardIterator rejects inconsistent and invalid members") {
  World world;
  world.create("carts");
  const std::string number = World::value_of(world.call("DescribeStream", R"({"StreamArn":")" + arn + "\"}"),
                                             "StartingSequenceNumber");
  const auto refuse = [&](const std::string& shard_id, const std::string& type, const std::string& sequence) {
    const std::string rest = sequence.empty() ? "" : R"(,"SequenceNumber":")" + sequence + "\"";
    return world.refuse("GetShardIterator", R"({"StreamArn":")" + arn + R"(","ShardId":")" + shard_id +
                                                R"(","ShardIteratorType":")" + type + "\"" + rest + "}");
  };
  for (const std::string type : {"AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"}) {
    CHECK(refuse(shard, type, "") == validation("SequenceNumber is required for ShardIteratorType " + type));
    CHECK(refuse(shard, type, "sdfsafglldfngjdafnasdf") == validation("Invalid SequenceNumber"));
    CHECK(refuse(shard, type, "100000000000000000099") ==
          validation("Invalid SequenceNumber"));  // the number is below the shard's first number
    CHECK(refuse(shard, type, "100000000000000999900") ==
          validation("Invalid SequenceNumber"));  // the number is not assigned yet
  }
  for (const std::string type : {"TRIM_HORIZON", "LATEST"}) {
    CHECK(refuse(shard, type, number) ==
          validation("SequenceNumber is not allowed for ShardIteratorType " + type));
  }
  const auto refuse_time = [&](const std::string& type, const std::string& rest) {
    return world.refuse("GetShardIterator", R"({"StreamArn":")" + arn + R"(","ShardId":")" + shard +
                                                R"(","ShardIteratorType":")" + type + "\"" + rest + "}");
  };
  CHECK(refuse_time("AT_TIMESTAMP", "") ==
        validation("Timestamp is required for ShardIteratorType AT_TIMESTAMP"));
  CHECK(refuse_time("LATEST", R"(,"Timestamp":1714521600)") ==
        validation("Timestamp is not allowed for ShardIteratorType LATEST"));
  CHECK(refuse_time("AT_TIMESTAMP", R"(,"Timestamp":1714521600,"SequenceNumber":")" + number + "\"") ==
        validation("SequenceNumber is not allowed for ShardIteratorType AT_TIMESTAMP"));
  for (const char* seconds : {"1714521600.124", "1e99", "1e999"})
    CHECK(refuse_time("AT_TIMESTAMP", R"(,"Timestamp":)" + std::string(seconds)) ==
          validation("Timestamp must not be in the future"));
  CHECK(refuse("semprinidfaasdasfsdvacsdcfsdsvsdvsdvsdvsdvsdv", "LATEST", "") ==
        failure("ResourceNotFoundException", "Requested resource not found: Shard does not exist"));
  CHECK(refuse(shard, "bulle", number) ==
        validation(
            "1 validation error detected: Value 'bulle' at 'shardIteratorType' failed to satisfy constraint: "
            "Member must satisfy enum value set: [AFTER_SEQUENCE_NUMBER, LATEST, AT_SEQUENCE_NUMBER, "
            "TRIM_HORIZON, AT_TIMESTAMP]"));
}

TEST_CASE("an AT_TIMESTAMP iterator begins at the first record made at or after the given time") {
  World world;
  world.create("carts");
  const auto at = [&](const std::string& seconds) {
    return World::ids(world.records(world.iterator("AT_TIMESTAMP", R"(,"Timestamp":)" + seconds)));
  };
  CHECK(at("1714521600.123").empty());  // no item was written yet
  for (const char* id : {"a", "b", "c", "d"}) {
    world.put(R"({"id":{"S":")" + std::string(id) + R"("}})");
    if (*id == 'b') world.put(R"({"id":{"S":"b"},"again":{"BOOL":true}})");  // in the same millisecond
    world.advance(world.database().accounts().of("000000000000").now() + 500);
  }
  CHECK(at("0") == "abbcd");  // this time is before the first record
  CHECK(at("1714521600.123") == "abbcd");
  CHECK(at("1714521600.124") == "bbcd");
  CHECK(at("1714521600.623") == "bbcd");
  CHECK(at("1714521601") == "cd");
  CHECK(at("1.714521601623E9") == "d");
  CHECK(at("1714521601.624").empty());
  world.put(R"({"id":{"S":"e"}})");
  CHECK(at("1714521602.123") == "e");
}

TEST_CASE("an iterator that Mayfly did not issue is invalid") {
  World world;
  world.create("carts");
  const std::string invented = "sdfsdfsgagaddafgagasgasgasdfasdfasdfasdfasdgasdasdgasdg";
  CHECK(world.refuse("GetRecords", R"({"ShardIterator":")" + invented + "\"}") ==
        validation("Invalid ShardIterator"));
}

TEST_CASE("an iterator is valid for 15 minutes") {
  World world;
  world.create("carts");
  const std::string iterator = world.iterator("TRIM_HORIZON");
  world.clock().set(start + 15 * minute_ms - 1);
  world.records(iterator);
  world.clock().set(start + 15 * minute_ms);
  CHECK(world.refuse("GetRecords", R"({"ShardIterator":")" + iterator + "\"}") ==
        failure("ExpiredIteratorException", "The provided iterator exceeds the maximum age allowed."));
}

TEST_CASE(
    "a clock jump does not age an iterator and the iterator returns the records of the resulting expiries") {
  World world;
  world.create("carts");
  world.call("UpdateTimeToLive",
             R"({"TableName":"carts","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"ttl"}})");
  world.put(R"({"id":{"S":"a"},"ttl":{"N":"1714700000"}})");
  const std::string iterator = world.iterator("LATEST");
  CHECK(world.advance(start + 30 * 24 * 60 * minute_ms) == 1);
  CHECK(World::ids(world.records(iterator)) == "a");
}

TEST_CASE("records older than a day are trimmed and an iterator at a trimmed record reports trimmed data") {
  World world;
  world.create("carts");
  world.put(R"({"id":{"S":"a"}})");
  const std::string before = world.iterator("TRIM_HORIZON");
  const std::string number = World::value_of(world.records(before), "SequenceNumber");
  world.advance(start + 25 * 60 * minute_ms, /*age_streams=*/true);
  world.put(R"({"id":{"S":"b"}})");
  CHECK(World::ids(world.records(world.iterator("TRIM_HORIZON"))) == "b");
  CHECK(world.refuse("GetShardIterator",
                     R"({"StreamArn":")" + arn + R"(","ShardId":")" + shard +
                         R"(","ShardIteratorType":"AT_SEQUENCE_NUMBER","SequenceNumber":")" + number +
                         "\"}") ==
        failure("TrimmedDataAccessException", "The data you are trying to access has been trimmed."));
  CHECK(World::ids(world.records(world.at("AFTER_SEQUENCE_NUMBER", number))) == "b");
}

}  // namespace

}  // namespace mayfly::testing
