// A hostile client. It sends the golden scripts' requests to a server over loopback, with random changes
// (message.h), in pieces, pipelined, and cut off in the middle. It checks that:
//
// - The server responds or closes the connection within seconds.
// - Each response is valid HTTP, and the only 5xx is for a body with a Content-Encoding.
// - After each batch, the server answers a valid request, and another account's table is unchanged.
// - Memory growth is limited.
//
//   hostile_client DIRECTORY [--requests N] [--seed S]
//
// DIRECTORY has requests that seeds.py made from golden scripts. A failure reports the seed and the batch.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#include "compat/emulator.h"
#include "engine/base/whole_number.h"
#include "http/connections/server.h"
#include "http/requests/request.h"
#include "tests/hostile/message.h"
#include "tests/support/http_client.h"

namespace mayfly::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t growth_bytes_max = std::size_t{1} << 30;  // sanitizers delay the reuse of freed memory
#else
constexpr std::size_t growth_bytes_max = std::size_t{192} << 20;
#endif
constexpr std::size_t conversations_in_a_batch = 250;
constexpr std::size_t messages_max = 4;  // in a conversation
constexpr std::size_t batches_to_warm_up = 4;

struct Settings {
  std::string directory;
  std::uint64_t requests = 20'000;
  std::uint64_t seed = 1;
};

// Requests that golden scripts do not contain.
constexpr std::string_view control_requests[] = {
    "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "GET /_mayfly/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "GET /_mayfly/metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "GET /_mayfly/clock HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Mayfly-Account: 000000000042\r\n\r\n",
    "POST /_mayfly/clock/advance HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    "X-Mayfly-Account: 000000000042\r\n\r\n{\"seconds\":60}",
    "GET /_mayfly/ttl HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Mayfly-Account: 000000000042\r\n\r\n",
    "GET /_mayfly/events HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Mayfly-Account: 000000000042\r\n\r\n",
    "POST /_mayfly/snapshots HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    "X-Mayfly-Account: 000000000042\r\n\r\n",
    "GET /_mayfly/failpoints HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Mayfly-Account: 000000000042\r\n\r\n",
    "GET /2015-03-31/event-source-mappings/?MaxItems=1 HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: "
    "AWS4-HMAC-SHA256 Credential=000000000042/20240101/us-east-1/lambda/aws4_request, SignedHeaders=host, "
    "Signature=0\r\nX-Amz-Date: 20240101T000000Z\r\n\r\n",
    "OPTIONS / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://127.0.0.1\r\n"
    "Access-Control-Request-Method: POST\r\n\r\n"};

std::vector<Message> messages_of(const std::filesystem::path& directory) {
  std::vector<Message> messages;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const std::string_view request = std::string_view(bytes).substr(std::min<std::size_t>(2, bytes.size()));
    if (auto message = Message::of(request)) messages.push_back(*std::move(message));
  }
  if (messages.empty()) throw std::runtime_error("there are no requests in " + directory.string());
  for (const auto request : control_requests) messages.push_back(*Message::of(request));
  return messages;
}

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// Counts the statuses of the responses on a connection. A response to HEAD has no body despite its
// Content-Length, so the client cannot tell where later responses end.
std::map<int, std::size_t> statuses_of(std::string_view said, bool heads) {
  std::map<int, std::size_t> statuses;
  while (!said.empty()) {
    if (!said.starts_with("HTTP/1.1 ")) {
      if (heads) break;
      throw std::runtime_error("malformed response: " + std::string(said.substr(0, 200)));
    }
    const int status = std::atoi(std::string(said.substr(9, 3)).c_str());
    const auto head_end = said.find("\r\n\r\n");
    if (head_end == std::string_view::npos) break;  // truncated, because the client disconnected
    ++statuses[status];
    const std::string head(said.substr(0, head_end + 2));
    said.remove_prefix(head_end + 4);
    if (status == 100 || status == 204 || status == 304) continue;
    const auto length = head.find("Content-Length: ");
    if (length != std::string::npos) {
      const auto bytes = std::strtoul(head.c_str() + length + 16, nullptr, 10);
      if (heads && said.starts_with("HTTP/1.1 ")) continue;
      said.remove_prefix(std::min<std::size_t>(bytes, said.size()));
    } else {
      break;  // an event stream, which is chunked and the last response on its connection
    }
  }
  return statuses;
}

// Escapes bytes as in Python and C.
std::string printable(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    char text[8];
    const bool plain = (c >= ' ' && c <= '~' && c != '\\') || c == '\n';
    std::snprintf(text, sizeof text, plain ? "%c" : "\\x%02x", static_cast<unsigned char>(c));
    out += text;
  }
  return out;
}

class Client {
 public:
  explicit Client(Settings settings)
      : settings_(std::move(settings)),
        messages_(messages_of(settings_.directory)),
        emulator_(*compat::Emulator::open({})),
        server_(*http::Server::start(*emulator_, {})),
        chance_(settings_.seed) {}

  void run() {
    const auto begun = std::chrono::steady_clock::now();
    make_what_is_left_alone();
    std::size_t resident = 0;
    for (std::size_t batch = 0; sent_ < settings_.requests; ++batch) {
      batch_ = batch;
      // Each batch has its own random seed and starts with an empty account, so that a batch can be repeated
      // alone.
      chance_.seed(settings_.seed * 1'000'003 + batch);
      create_tables();
      for (std::size_t i = 0; i < conversations_in_a_batch && sent_ < settings_.requests; ++i) converse();
      look_after();
      if (batch + 1 == batches_to_warm_up) resident = resident_bytes();
      if (resident > 0 && resident_bytes() > resident + growth_bytes_max)
        throw std::runtime_error("memory grew from " + std::to_string(resident) + " bytes to " +
                                 std::to_string(resident_bytes()));
      if (batch % 20 == 0) say(begun);
    }
    say(begun);
    for (const auto& [status, count] : statuses_) std::printf("  %d: %zu\n", status, count);
    if (statuses_[200] * 16 < sent_ || statuses_[400] * 16 < sent_)
      throw std::runtime_error("too few requests were accepted or too few rejected to test much");
  }
  [[nodiscard]] std::size_t batch() const { return batch_; }

 private:
  void say(std::chrono::steady_clock::time_point begun) const {
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begun;
    std::printf("%llu requests, %.1f s, %zu MB\n", static_cast<unsigned long long>(sent_), seconds.count(),
                resident_bytes() >> 20);
    std::fflush(stdout);
  }

  // Creates the golden scripts' tables. If several tables have the same name, the server keeps the first and
  // rejects the others.
  void create_tables() {
    HttpClient client(server_->port());
    for (const Message& message : messages_) {
      if (http_header(message, "X-Amz-Target") != "DynamoDB_20120810.CreateTable") continue;
      client.send(bytes_of(message, chance_));
      (void)client.receive();
    }
  }
  static std::string_view http_header(const Message& message, std::string_view name) {
    for (const auto& [each, value] : message.headers)
      if (each == name) return value;
    return {};
  }

  void converse() {
    std::string bytes;
    bool heads = false;
    for (auto count = 1 + chance_() % messages_max; count > 0; --count, ++sent_) {
      Message message = messages_[chance_() % messages_.size()];
      for (auto changes = chance_() % 3; changes > 0; --changes) change(message, chance_, messages_);
      heads = heads || message.method.find("HEAD") != std::string::npos;
      bytes += bytes_of(message, chance_);
    }
    if (chance_() % 8 == 0) change_bytes(bytes, chance_);
    if (chance_() % 16 == 0) bytes.resize(chance_() % (bytes.size() + 1));
    heads = heads || bytes.find("HEAD ") != std::string::npos;

    try {
      send(bytes, heads);
    } catch (const std::runtime_error& failure) {
      throw std::runtime_error(std::string(failure.what()) + ", after sending:\n" + printable(bytes));
    }
  }

  void send(std::string_view bytes, bool heads) {
    HttpClient client(server_->port());
    const std::size_t pieces = chance_() % 4 == 0 ? 1 + chance_() % 8 : 1;
    const std::size_t piece = bytes.size() / pieces + 1;
    for (std::string_view rest = bytes; !rest.empty(); rest.remove_prefix(std::min(piece, rest.size())))
      client.send(rest.substr(0, piece));
    // Sometimes disconnects without waiting for responses.
    if (chance_() % 16 == 0) return chance_() % 2 == 0 ? client.reset() : void();
    client.finish_sending();
    for (const auto& [status, count] : statuses_of(client.read_all(), heads)) {
      statuses_[status] += count;
      if (status >= 500 && !(status == 500 && says_it_is_packed(bytes)))
        throw std::runtime_error("the server responded with " + std::to_string(status));
    }
  }

  // DynamoDB also responds with 500 to a body that does not have the encoding that its header declares
  // (http/connections/server.cc).
  static bool says_it_is_packed(std::string_view bytes) {
    return http::lower_case(bytes).find("content-encoding") != std::string::npos;
  }

  // --- another account

  std::string good(std::string_view operation, std::string_view body) {
    HttpClient client(server_->port());
    std::string bytes = operation_request(operation, body);
    constexpr std::string_view key = "AKIDEXAMPLE";
    client.send(bytes.replace(bytes.find(key), key.size(), "999999999999"));
    const HttpAnswer answer = client.receive();
    if (answer.status != 200)
      throw std::runtime_error("a good " + std::string(operation) + " gets " + std::to_string(answer.status) +
                               " " + answer.body);
    return answer.body;
  }
  void make_what_is_left_alone() {
    good("CreateTable", R"({"TableName":"alone","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]})");
    good("PutItem", R"({"TableName":"alone","Item":{"id":{"S":"a"},"n":{"N":"1.5"}}})");
  }
  void look_after() {
    const std::string item = good("GetItem", R"({"TableName":"alone","Key":{"id":{"S":"a"}}})");
    if (item != R"({"Item":{"id":{"S":"a"},"n":{"N":"1.5"}}})")
      throw std::runtime_error("another account's item has become " + item);
    if (good("ListTables", "{}") != R"({"TableNames":["alone"]})")
      throw std::runtime_error("another account's tables have changed");
    // Requests whose access key does not name a valid account belong to the first account.
    for (const char* account : {"000000000000", "000000000042", "000000000043"}) {
      HttpClient client(server_->port());
      client.send(http_request("POST", "/_mayfly/reset",
                               {{"Content-Type", "application/json"}, {"X-Mayfly-Account", account}}));
      if (const HttpAnswer answer = client.receive(); answer.status != 200)
        throw std::runtime_error("an account cannot be reset: " + answer.body);
    }
  }

  const Settings settings_;
  const std::vector<Message> messages_;
  const std::unique_ptr<compat::Emulator> emulator_;
  const std::unique_ptr<http::Server> server_;
  Chance chance_;
  std::uint64_t sent_ = 0;
  std::size_t batch_ = 0;
  std::map<int, std::size_t> statuses_;
};

std::optional<Settings> settings_of(int count, char** arguments) {
  Settings settings;
  if (count < 2 || count % 2 != 0) return std::nullopt;
  settings.directory = arguments[1];
  for (int i = 2; i < count; i += 2) {
    const std::string_view name = arguments[i];
    const auto value = engine::whole_number<std::uint64_t>(arguments[i + 1]);
    if (!value || (name != "--requests" && name != "--seed")) return std::nullopt;
    (name == "--seed" ? settings.seed : settings.requests) = *value;
  }
  return settings;
}

int run(int count, char** arguments) {
  const auto settings = settings_of(count, arguments);
  if (!settings) {
    std::fprintf(stderr, "usage: hostile_client DIRECTORY [--requests N] [--seed S]\n");
    return 2;
  }
  Client client(*settings);
  try {
    client.run();
  } catch (const std::exception& failure) {
    const std::string text = "with --seed " + std::to_string(settings->seed) + ", in batch " +
                             std::to_string(client.batch()) + ": " + failure.what() + "\n";
    std::fwrite(text.data(), 1, text.size(), stderr);
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace mayfly::testing

int main(int count, char** arguments) { return mayfly::testing::run(count, arguments); }
