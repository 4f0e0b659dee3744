#include "tests/support/trigger_world.h"

#include <catch2/catch.hpp>
#include <condition_variable>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "compat/calls/times.h"
#include "compat/control/control.h"

namespace mayfly::testing {

using compat::outbound::Invocation;
using compat::outbound::InvocationFailure;

namespace {

constexpr engine::Instant start = 1'700'000'000'000;  // 2023-11-14T22:13:20Z

}  // namespace

// Runs each call on its own thread, because a handler can wait for the test.
class TriggerWorld::Invoker final : public compat::outbound::Invoker {
 public:
  ~Invoker() override {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return under_way_ == 0; });
  }

  void start(Invocation invocation, std::stop_token, Done done) override {
    const std::lock_guard lock(mutex_);
    ++under_way_;
    std::thread([this, invocation = std::move(invocation), done = std::move(done)] {
      done(call(invocation));
      const std::lock_guard ended(mutex_);
      --under_way_;
      ended_.notify_all();
    }).detach();
  }

  void set(const std::string& name, Handler handler) {
    const std::lock_guard lock(mutex_);
    handlers_[name] = std::move(handler);
  }
  std::vector<json> calls(const std::string& name) {
    const std::lock_guard lock(mutex_);
    return calls_[name];
  }

 private:
  Answer call(const Invocation& invocation) {
    const std::string name = invocation.url.target.substr(1);
    const json event = json::parse(invocation.body);
    Handler handler;
    {
      const std::lock_guard lock(mutex_);
      calls_[name].push_back(event);
      handler = handlers_[name];
    }
    if (!handler)
      return Unexpected{InvocationFailure{InvocationFailure::Kind::unreachable, "nobody is there"}};
    return handler(event);
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  int under_way_ = 0;
  std::map<std::string, Handler> handlers_;
  std::map<std::string, std::vector<json>> calls_;
};

TriggerWorld::TriggerWorld(std::string directory, std::string destination_directory, std::size_t mappings_max,
                           std::function<bool()> write_fails, std::size_t held_bytes_max)
    : clock_(std::make_shared<engine::ManualClock>(start)), invoker_(std::make_shared<Invoker>()) {
  compat::EmulatorOptions options;
  options.database.clock = clock_;
  options.database.directory = std::move(directory);
  options.database.write_fails = std::move(write_fails);
  options.triggers.invoker = invoker_;
  options.triggers.destination_directory = std::move(destination_directory);
  options.triggers.mappings_max = mappings_max;
  options.triggers.held_bytes_max = std::getenv("MAYFLY_TEST_HOLDS_NO_RECORDS") ? 0 : held_bytes_max;
  auto opened = compat::Emulator::open(std::move(options));
  REQUIRE(opened);
  emulator_ = *std::move(opened);
}

TriggerWorld::~TriggerWorld() = default;

void TriggerWorld::endpoint(const std::string& name, Handler handler) {
  invoker_->set(name, std::move(handler));
}

void TriggerWorld::function(const std::string& name, Handler handler) {
  endpoint(name, std::move(handler));
  triggers().functions().set(scope.account, name,
                             {*compat::outbound::Url::parse("http://functions/" + name)});
}

std::vector<nlohmann::json> TriggerWorld::calls(const std::string& name) const {
  return invoker_->calls(name);
}

std::string TriggerWorld::sizes(const std::string& name) const {
  std::string out;
  for (const json& event : calls(name))
    out += (out.empty() ? "" : " ") + std::to_string(event["Records"].size());
  return out;
}

std::string TriggerWorld::delivered(const std::string& name) const {
  std::string out;
  for (const json& event : calls(name)) {
    for (const json& record : event["Records"]) {
      out += (out.empty() ? "" : " ") + record["dynamodb"]["Keys"]["id"]["S"].get<std::string>();
    }
  }
  return out;
}

nlohmann::json TriggerWorld::operation(const std::string& name, const std::string& body) {
  const auto answer = emulator_->execute(scope, "DynamoDB_20120810." + name, body);
  INFO(name << " " << body << " -> " << answer.body);
  REQUIRE(answer.status == 200);
  return answer.body.empty() ? json() : json::parse(answer.body);
}

std::string TriggerWorld::create_table(const std::string& name) {
  const json table =
      operation("CreateTable", R"({"TableName":")" + name + R"(","BillingMode":"PAY_PER_REQUEST",
      "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
      "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
      "StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"}})");
  operation("UpdateTimeToLive", R"({"TableName":")" + name +
                                    R"(","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"ttl"}})");
  return table["TableDescription"]["LatestStreamArn"];
}

void TriggerWorld::put(const std::string& table, const std::string& id, const std::string& more) {
  operation("PutItem", R"({"TableName":")" + table + R"(","Item":{"id":{"S":")" + id + "\"}" + more + "}}");
}

void TriggerWorld::remove(const std::string& table, const std::string& id) {
  operation("DeleteItem", R"({"TableName":")" + table + R"(","Key":{"id":{"S":")" + id + "\"}}}");
}

std::string TriggerWorld::rest(const std::string& target, const std::string& body,
                               const std::string& invocation_type) {
  const auto space = target.find(' ');
  const std::string method = target.substr(0, space), whole = target.substr(space + 1);
  const auto mark = std::min(whole.find('?'), whole.size());
  const std::string path = whole.substr(0, mark), query = whole.substr(std::min(mark + 1, whole.size()));
  const auto answer = compat::triggers::answer_rest(triggers(), {.scope = scope,
                                                                 .method = method,
                                                                 .path = path,
                                                                 .query = query,
                                                                 .body = body,
                                                                 .invocation_type = invocation_type});
  std::string out = std::to_string(answer.status);
  for (const auto& [name, value] : answer.headers) out += " " + name + ": " + value;
  return answer.body.empty() ? out : out + " " + answer.body;
}

std::string TriggerWorld::map(const std::string& arn, const std::string& function,
                              const std::string& settings) {
  const std::string answer =
      rest("POST /2015-03-31/event-source-mappings",
           R"({"EventSourceArn":")" + arn + R"(","FunctionName":")" + function +
               (settings.find("StartingPosition") == settings.npos ? R"(","StartingPosition":"TRIM_HORIZON")"
                                                                   : "\"") +
               (settings.empty() ? "" : "," + settings) + "}");
  INFO(answer);
  REQUIRE(answer.starts_with("202 "));
  return json::parse(answer.substr(4))["UUID"];
}

nlohmann::json TriggerWorld::mapping(const std::string& uuid) {
  const std::string answer = rest("GET /2015-03-31/event-source-mappings/" + uuid);
  INFO(answer);
  REQUIRE(answer.starts_with("200 "));
  return json::parse(answer.substr(4));
}

nlohmann::json TriggerWorld::control(const std::string& target, const std::string& body) {
  const auto space = target.find(' ');
  const std::string method = target.substr(0, space), path = target.substr(space + 1);
  const auto answer = compat::control::answer(
      *emulator_, {.method = method, .path = path, .query = {}, .body = body, .scope = scope});
  // Tests call this from other threads, where Catch's macros must not be used.
  if (answer.status != 200) throw std::runtime_error(target + " -> " + answer.body);
  return json::parse(answer.body);
}

std::vector<compat::triggers::Triggers::Unfinished> TriggerWorld::settle(std::chrono::milliseconds time_max) {
  return triggers().settle(scope.account, time_max).unfinished;
}

void TriggerWorld::advance(std::chrono::milliseconds by, bool age_streams) {
  engine::Database& database = emulator_->database();
  database.time_travel().advance(scope.account, database.accounts().of(scope.account).now() + by.count(),
                                 age_streams);
}

}  // namespace mayfly::testing
