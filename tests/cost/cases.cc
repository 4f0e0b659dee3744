// Requests of variable size, up to DynamoDB's limits. script/cost uses callgrind to count the instructions of
// each request at one size and at twice that size.
//
//   cost_cases                  prints the cases, one per line, each with its smaller size
//   cost_cases NAME SIZE        runs a case; the instructions in measured() are counted
#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/control/control.h"
#include "compat/emulator.h"
#include "http/requests/request_parser.h"

namespace mayfly::testing {

const engine::Scope scope{"000000000000", "us-east-1"};

// callgrind finds this function by its name.
__attribute__((noinline)) void measured(const std::function<void()>& run) { run(); }

struct Run {
  compat::Emulator& emulator;
  std::size_t size;

  // Executes an operation without measuring it. The operation must succeed.
  void prepare(const std::string& operation, const std::string& body) const {
    const auto answer = emulator.execute(scope, "DynamoDB_20120810." + operation, body);
    if (answer.status == 200) return;
    std::fprintf(stderr, "%s: %s\n", operation.c_str(), answer.body.substr(0, 300).c_str());
    std::exit(1);
  }
  // Measures an operation. The operation must be rejected if `refused` is true, and must succeed otherwise.
  void operation(const std::string& operation, const std::string& body, bool refused = false) const {
    compat::Answer answer;
    measured([&] { answer = emulator.execute(scope, "DynamoDB_20120810." + operation, body); });
    expect(answer.status == (refused ? 400 : 200), answer.body);
  }
  void control(std::string_view method, std::string_view path, const std::string& body = {}) const {
    compat::Answer answer;
    measured([&] {
      answer =
          compat::control::answer(emulator, {.method = method, .path = path, .body = body, .scope = scope});
    });
    expect(answer.status == 200, answer.body);
  }
  static void expect(bool as_thought, const std::string& body) {
    if (as_thought) return;
    std::fprintf(stderr, "unexpected: %s\n", body.substr(0, 300).c_str());
    std::exit(1);
  }
};

// each(0),each(1),…
std::string list(std::size_t count, const std::function<std::string(std::size_t)>& each,
                 const std::string& between = ",") {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : between) + each(i);
  return text;
}
std::string list(std::size_t count, const std::string& each, const std::string& between = ",") {
  return list(
      count, [&](std::size_t) { return each; }, between);
}
std::string n(std::size_t i) { return std::to_string(i); }
std::string put(const std::string& id, const std::string& more = {}) {
  return R"({"TableName":"items","Item":{"id":{"S":")" + id + R"("})" + more + "}}";
}
std::string scan(const std::string& more) { return R"({"TableName":"items",)" + more + "}"; }
std::string filter(const std::string& text, const std::string& values = R"(":v":{"S":"x"})") {
  return scan(R"("FilterExpression":")" + text + R"(","ExpressionAttributeValues":{)" + values + "}");
}
std::string key(std::size_t i) { return R"({"id":{"S":")" + n(i) + R"("}})"; }

// Overwrites `run.size` items of 1 KB, with or without point-in-time recovery.
void write_all(const Run& run, bool recovery) {
  const std::string text(1000, 'x');
  const auto write = [&](std::size_t i, const std::string& version) {
    run.prepare("PutItem", put(n(i), R"(,"v":{"N":")" + version + R"("},"text":{"S":")" + text + "\"}"));
  };
  for (std::size_t i = 0; i < run.size; ++i) write(i, "1");
  if (recovery)
    run.prepare(
        "UpdateContinuousBackups",
        R"({"TableName":"items","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}})");
  measured([&] {
    for (std::size_t i = 0; i < run.size; ++i) write(i, "2");
  });
}

struct Case {
  std::string_view name;
  std::size_t size;
  std::function<void(const Run&)> run;
};

const std::vector<Case> cases = {
    {"headers", 400,
     [](const Run& run) {
       std::string bytes = "GET / HTTP/1.1\r\n";
       bytes += list(
                    run.size, [](std::size_t i) { return "X-" + n(i) + ": v"; }, "\r\n") +
                "\r\n\r\n";
       http::Request request;
       request.keeps_all_headers = true;
       measured([&] {
         http::RequestParser parser(request);
         boost::system::error_code failure;
         parser.parse(boost::asio::buffer(bytes), failure);
         Run::expect(parser.is_done(), failure.message());
       });
     }},
    {"writes", 2000, [](const Run& run) { write_all(run, /*recovery=*/false); }},
    {"kept_writes", 2000, [](const Run& run) { write_all(run, /*recovery=*/true); }},
    {"attributes", 4000,
     [](const Run& run) {
       run.operation(
           "PutItem",
           put("a", "," + list(run.size, [](std::size_t i) { return "\"a" + n(i) + R"(":{"S":"v"})"; })));
     }},
    {"string_set", 4000,
     [](const Run& run) {
       run.operation("PutItem", put("a", R"(,"s":{"SS":[)" + list(run.size, [](std::size_t i) {
                                           return '"' + n(i) + '"';
                                         }) + "]}"));
     }},
    {"number_set", 4000,
     [](const Run& run) {
       run.operation("PutItem", put("a", R"(,"s":{"NS":[)" + list(run.size, [](std::size_t i) {
                                           return '"' + n(i) + '"';
                                         }) + "]}"));
     }},
    {"binary_set", 4000,
     [](const Run& run) {
       run.operation("PutItem", put("a", R"(,"s":{"BS":[)" + list(run.size, [](std::size_t i) {
                                           return '"' + n(10000000 + i) + '"';
                                         }) + "]}"));
     }},
    {"list", 8000,
     [](const Run& run) {
       run.operation("PutItem", put("a", R"(,"l":{"L":[)" + list(run.size, R"({"N":"1.5"})") + "]}"));
     }},
    {"text", 100'000,
     [](const Run& run) {
       run.operation("PutItem", put("a", R"(,"s":{"S":")" + list(run.size, "é", "") + "\"}"));
     }},
    {"json_depth", 2000,
     [](const Run& run) {
       run.operation("Scan", scan("\"x\":" + list(run.size, "[", "") + list(run.size, "]", "")), true);
     }},
    {"value_depth", 16,
     [](const Run& run) {
       const std::size_t levels = run.size - 1;
       run.operation("PutItem", put("a", ",\"x\":" + list(levels, R"({"L":[)", "") + R"({"S":"x"})" +
                                             list(levels, "]}", "")));
     }},
    {"no_number", 20'000,
     [](const Run& run) {
       run.operation("PutItem", put("a", R"(,"x":{"N":")" + std::string(run.size, '1') + "\"}"), true);
     }},
    {"expression", 75,
     [](const Run& run) { run.operation("Scan", filter(list(run.size, "a = :v", " OR "))); }},
    {"parentheses", 75,
     [](const Run& run) {
       run.operation("Scan", filter(list(run.size, "NOT (", "") + "a = :v" + std::string(run.size, ')')));
     }},
    {"in_list", 50,
     [](const Run& run) { run.operation("Scan", filter("a IN (" + list(run.size, ":v") + ")")); }},
    {"placeholders", 300,
     [](const Run& run) {
       const std::string names =
           list(run.size, [](std::size_t i) { return "\"#" + n(i) + "\":\"a" + n(i) + '"'; });
       const std::string paths = list(run.size, [](std::size_t i) { return "#" + n(i); });
       run.operation("Scan", scan(R"("ProjectionExpression":")" + paths +
                                  R"(","ExpressionAttributeNames":{)" + names + "}"));
     }},
    {"unused_values", 2000,
     [](const Run& run) {
       run.operation("Scan",
                     filter("a = :v", R"(":v":{"S":"x"},)" + list(run.size,
                                                                  [](std::size_t i) {
                                                                    return "\":" + n(i) + R"(":{"S":"x"})";
                                                                  })),
                     true);
     }},
    {"set_actions", 150,
     [](const Run& run) {
       run.operation("UpdateItem", R"({"TableName":"items","Key":{"id":{"S":"a"}},"UpdateExpression":"SET )" +
                                       list(run.size, [](std::size_t i) { return "a" + n(i) + "=:v"; }) +
                                       R"(","ExpressionAttributeValues":{":v":{"S":"x"}}})");
     }},
    {"contains", 100'000,
     [](const Run& run) {
       run.prepare("PutItem", put("a", R"(,"s":{"S":")" + std::string(run.size, 'a') + "\"}"));
       run.operation("Scan",
                     filter("contains(s, :v)", R"(":v":{"S":")" + std::string(run.size / 2, 'a') + "b\"}"));
     }},
    {"equal_sets", 4000,
     [](const Run& run) {
       const auto set = [&](bool backwards) {
         return R"({"SS":[)" +
                list(run.size,
                     [&](std::size_t i) {
                       return '"' + n(1'000'000 + (backwards ? run.size - i : i + 1)) + '"';
                     }) +
                "]}";
       };
       run.prepare("PutItem", put("a", ",\"s\":" + set(false)));
       run.operation("Scan", filter("s = :v", "\":v\":" + set(true)));
     }},
    {"add_to_set", 4000,
     [](const Run& run) {
       const auto set = [&](std::size_t from) {
         return R"({"SS":[)" + list(run.size, [&](std::size_t i) { return '"' + n(from + i) + '"'; }) + "]}";
       };
       run.prepare("PutItem", put("a", ",\"s\":" + set(1'000'000)));
       run.operation("UpdateItem",
                     R"({"TableName":"items","Key":{"id":{"S":"a"}},"UpdateExpression":"ADD s :v",)"
                     R"("ExpressionAttributeValues":{":v":)" +
                         set(2'000'000) + "}}");
     }},
    {"remove_from_list", 100,
     [](const Run& run) {
       run.prepare("PutItem", put("a", R"(,"l":{"L":[)" + list(200 * run.size, R"({"N":"1"})") + "]}"));
       run.operation("UpdateItem",
                     R"({"TableName":"items","Key":{"id":{"S":"a"}},"UpdateExpression":"REMOVE )" +
                         list(run.size, [](std::size_t i) { return "l[" + n(i) + "]"; }) + "\"}");
     }},
    {"batch_get", 50,
     [](const Run& run) {
       run.operation("BatchGetItem", R"({"RequestItems":{"items":{"Keys":[)" + list(run.size, key) + "]}}}");
     }},
    {"batch_write", 12,
     [](const Run& run) {
       run.operation("BatchWriteItem", R"({"RequestItems":{"items":[)" + list(run.size, [](std::size_t i) {
                                         return R"({"PutRequest":{"Item":)" + key(i) + "}}";
                                       }) + "]}}");
     }},
    {"transaction", 50,
     [](const Run& run) {
       run.operation("TransactWriteItems", R"({"TransactItems":[)" + list(run.size, [](std::size_t i) {
                                             return R"({"Put":{"TableName":"items","Item":)" + key(i) + "}}";
                                           }) + "]}");
     }},
    {"scan", 1000,
     [](const Run& run) {
       for (std::size_t i = 0; i < run.size; ++i) run.prepare("PutItem", put(n(i)));
       run.operation("Scan", filter("attribute_exists(a) OR id <> :v"));
     }},
    {"statement", 120,
     [](const Run& run) {
       run.operation("ExecuteStatement", R"({"Statement":"SELECT * FROM items WHERE )" +
                                             list(run.size, "a = 'x'", " OR ") + "\"}");
     }},
    {"statement_in", 25,
     [](const Run& run) {
       run.operation("ExecuteStatement", R"({"Statement":"SELECT * FROM items WHERE id IN [)" +
                                             list(run.size, [](std::size_t i) { return "'" + n(i) + "'"; }) +
                                             "]\"}");
     }},
    {"control_members", 4000,
     [](const Run& run) {
       compat::Answer answer;
       const std::string body =
           "{" + list(run.size, [](std::size_t i) { return "\"m" + n(i) + "\":1"; }) + "}";
       measured([&] {
         answer = compat::control::answer(
             run.emulator,
             {.method = "POST", .path = "/_mayfly/clock/advance", .body = body, .scope = scope});
       });
       Run::expect(answer.status == 400, answer.body);
     }},
    {"faults", 50,
     [](const Run& run) {
       run.control("PUT", "/_mayfly/faults",
                   R"({"rules":[)" + list(run.size, R"({"operation":"PutItem","fault":"throttle"})") + "]}");
     }},
    {"snapshots", 100,
     [](const Run& run) {
       for (std::size_t i = 0; i < run.size; ++i)
         compat::control::answer(run.emulator,
                                 {.method = "POST", .path = "/_mayfly/snapshots", .scope = scope});
       run.control("GET", "/_mayfly/snapshots");
     }},
    {"tables", 100,
     [](const Run& run) {
       for (std::size_t i = 0; i < run.size; ++i)
         run.prepare("CreateTable", R"({"TableName":"t)" + n(1000 + i) +
                                        R"(","BillingMode":"PAY_PER_REQUEST","KeySchema":)"
                                        R"([{"AttributeName":"id","KeyType":"HASH"}],"AttributeDefinitions":)"
                                        R"([{"AttributeName":"id","AttributeType":"S"}]})");
       run.control("GET", "/_mayfly/metrics");
     }},
};

int run(int argc, char** argv) {
  if (argc != 3) {
    for (const Case& one : cases) std::printf("%s %zu\n", std::string(one.name).c_str(), one.size);
    return 0;
  }
  const auto found =
      std::find_if(cases.begin(), cases.end(), [&](const Case& one) { return one.name == argv[1]; });
  if (found == cases.end()) return 1;
  compat::EmulatorOptions options;
  options.database.reap = false;
  const auto emulator = compat::Emulator::open(std::move(options));
  const Run one{**emulator, std::strtoul(argv[2], nullptr, 10)};
  one.prepare("CreateTable", R"({"TableName":"items","BillingMode":"PAY_PER_REQUEST","KeySchema":)"
                             R"([{"AttributeName":"id","KeyType":"HASH"}],"AttributeDefinitions":)"
                             R"([{"AttributeName":"id","AttributeType":"S"}]})");
  one.prepare("PutItem", put("a"));
  found->run(one);
  return 0;
}

}  // namespace mayfly::testing

int main(int argc, char** argv) { return mayfly::testing::run(argc, argv); }
