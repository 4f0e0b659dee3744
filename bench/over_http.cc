// Mayfly over HTTP, beside a Beast server that answers every request with the same bytes.
//
//   bench_over_http MAYFLY                     prints the tables
//   bench_over_http fixed-answer PORT FILE     the ceiling, as a process of its own
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <unistd.h>

#include "bench/fixed_answer.h"
#include "bench/load.h"
#include "bench/report.h"
#include "bench/server_process.h"

namespace mayfly::bench {
namespace {

constexpr std::chrono::milliseconds turn_duration{400};
constexpr int turns = 4;
constexpr int item_count = 1000;
constexpr int query_items = 20;
constexpr int start_count = 21;

std::string sort_key(int number) { return std::to_string(100000 + number); }

// About 1 KB: what a session or an order weighs.
std::string item(int number) {
  return R"({"p":{"S":"partition"},"s":{"S":")" + sort_key(number) +
         R"("},"created":{"N":"1658266080"},"tags":{"SS":["one","three","two"]},"active":{"BOOL":true},)"
         R"("address":{"M":{"street":{"S":"Main Street"},"number":{"N":"42"}}},"text":{"S":")" +
         std::string(850, 'x') + R"("}})";
}

std::string table(const std::string& rest) { return R"({"TableName":"bench",)" + rest + "}"; }

std::string key(int number) {
  return R"("Key":{"p":{"S":"partition"},"s":{"S":")" + sort_key(number) + R"("}})";
}

std::string query(int first) {
  return table(R"("KeyConditionExpression":"p = :p AND s >= :s","Limit":)" + std::to_string(query_items) +
               R"(,"ExpressionAttributeValues":{":p":{"S":"partition"},":s":{"S":")" + sort_key(first) +
               R"("}})");
}

struct Row {
  std::string operation;
  std::vector<std::string> requests;
};

std::vector<Row> rows() {
  Row get{"GetItem", {}}, put{"PutItem", {}}, query_row{"Query", {}};
  for (int i = 0; i < item_count; ++i) {
    get.requests.push_back(dynamodb_request("GetItem", table(key(i))));
    put.requests.push_back(dynamodb_request("PutItem", table("\"Item\":" + item(i))));
    query_row.requests.push_back(dynamodb_request("Query", query(i % (item_count - query_items))));
  }
  return {get, put, query_row};
}

void fill(std::uint16_t port) {
  exchange(port,
           dynamodb_request("CreateTable", table(R"("BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[
      {"AttributeName":"p","AttributeType":"S"},{"AttributeName":"s","AttributeType":"S"}],"KeySchema":[
      {"AttributeName":"p","KeyType":"HASH"},{"AttributeName":"s","KeyType":"RANGE"}])")));
  for (int i = 0; i < item_count; ++i)
    exchange(port, dynamodb_request("PutItem", table("\"Item\":" + item(i))));
}

// The ceiling's command: this program, with the answer in a file.
class FixedAnswer {
 public:
  FixedAnswer(const std::string& self, const std::string& body)
      : file_(std::filesystem::temp_directory_path() / ("mayfly-bench-" + std::to_string(::getpid()))),
        command_{self, "fixed-answer", std::string(ServerProcess::port_here), file_} {
    std::ofstream(file_) << body;
  }
  ~FixedAnswer() { std::filesystem::remove(file_); }
  FixedAnswer(const FixedAnswer&) = delete;
  FixedAnswer& operator=(const FixedAnswer&) = delete;
  [[nodiscard]] const std::vector<std::string>& command() const { return command_; }

 private:
  std::filesystem::path file_;
  std::vector<std::string> command_;
};

std::vector<std::string> mayfly_command(const std::string& mayfly) {
  return {mayfly, "serve", "--log-level", "warning", "--port", std::string(ServerProcess::port_here)};
}

void keep_best(Load& best, const Load& load) {
  const bool first = best.requests_per_second == 0;
  best.requests_per_second = std::max(best.requests_per_second, load.requests_per_second);
  best.p50_us = first ? load.p50_us : std::min(best.p50_us, load.p50_us);
  best.p99_us = first ? load.p99_us : std::min(best.p99_us, load.p99_us);
}

void requests_a_second(const std::string& self, const std::string& mayfly) {
  const ServerProcess server(mayfly_command(mayfly));
  fill(server.port());
  Report throughput("over HTTP, items of 1 KB, one server thread", "requests/s");
  Report median("over HTTP, latency", "p50 us");
  Report tail("over HTTP, latency", "p99 us");
  for (const Row& row : rows()) {
    const FixedAnswer answer(self, exchange(server.port(), row.requests.front()));
    const ServerProcess ceiling(answer.command());
    for (std::size_t connections : {1, 16}) {
      std::size_t next = 0;
      const Requests requests = [&]() -> const std::string& {
        return row.requests[next++ % row.requests.size()];
      };
      // Turn about, so that both see the same machine; the best of each.
      Load ours{}, best{};
      for (int turn = 0; turn < turns; ++turn) {
        const Load a = generate_load(server.port(), connections, turn_duration, requests);
        const Load b = generate_load(ceiling.port(), connections, turn_duration, requests);
        keep_best(ours, a);
        keep_best(best, b);
      }
      const std::string name = row.operation + (row.operation == "Query" ? " of 20 items" : "") + ", " +
                               std::to_string(connections) +
                               (connections == 1 ? " connection" : " connections");
      throughput.row(name, ours.requests_per_second, best.requests_per_second);
      median.row(name, ours.p50_us, best.p50_us, true);
      tail.row(name, ours.p99_us, best.p99_us, true);
    }
  }
  throughput.print();
  median.print();
  tail.print();
}

double median_start_ms(const std::vector<std::string>& command) {
  std::vector<double> starts;
  for (int i = 0; i < start_count; ++i) starts.push_back(ServerProcess(command).start_ms().count());
  std::nth_element(starts.begin(), starts.begin() + start_count / 2, starts.end());
  return starts[start_count / 2];
}

void start_and_memory(const std::string& self, const std::string& mayfly) {
  const FixedAnswer answer(self, "{}");
  Report start("cold start, exec to first answer", "median ms");
  start.row("in memory", median_start_ms(mayfly_command(mayfly)), median_start_ms(answer.command()), true);
  start.print();
  Report memory("idle memory, after one answer", "MB resident");
  memory.row("in memory", ServerProcess(mayfly_command(mayfly)).memory_mb(),
             ServerProcess(answer.command()).memory_mb(), true);
  memory.print();
}

}  // namespace
}  // namespace mayfly::bench

int main(int argc, char** argv) {
  using namespace mayfly::bench;
  if (argc == 4 && std::strcmp(argv[1], "fixed-answer") == 0) {
    std::ifstream file(argv[3]);
    serve_fixed_answer(static_cast<std::uint16_t>(std::atoi(argv[2])),
                       std::string(std::istreambuf_iterator<char>(file), {}));
  }
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s MAYFLY\n", argv[0]);
    return 2;
  }
  requests_a_second(argv[0], argv[1]);
  start_and_memory(argv[0], argv[1]);
}
