// Runs the golden scripts, tests/scripts/<operation>/*.txt. A script lists requests and complete responses.
//
//   # What this shows, for a reader.
//   > CreateTable {"TableName":"music", …}
//   < 200 {"TableDescription":{"TableStatus":"CREATING","TableId":"*","...":"*"}}
//   @ advance 61s
//   > GetItem {"TableName":"music","Key":{"id":{"S":"1"}}}
//   < 200 {}
//
// JSON may continue on the following lines. A request's body is sent exactly as written, unless it uses
// $names, so a script can send text that is not JSON. An expected body is compared by meaning and may leave
// parts open (support/json_match.h). `< 400 ValidationException` followed by the message, instead of JSON, is
// short for the usual error body. The namespace before # may be omitted.
//
// In a message, "$name" is replaced by the value that was stored under that name.
//
//   = music put 1                  everything that was written since the last line with > or @, in the
//     music.by_label put RCA -> 1  format of support/effects.h; = alone: nothing was written
//
//   @ advance 61s          moves the clock (ms, s, m, h, d); it starts at 2023-11-14T22:13:20Z = 1700000000
//   @ expired 2            checks how many items the last advance deleted
//   @ as 000000000042 eu-west-1    sets the account and the region of the following requests
//   @ settle               delivers all writes in flight to replicas, and waits until the account's jobs
//                          (exports, imports, bulk puts) have ended
//   @ object data/1.json {"Item":{"id":{"S":"1"}}}    puts a line into the only bucket, "bucket";
//                          \n ends a line and starts another
//
// Each script has its own emulator. `< 200` alone means an empty body.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "compat/jobs/jobs.h"
#include "engine/background/replication.h"
#include "tests/support/bucket_calls.h"
#include "tests/support/effects.h"
#include "tests/support/engine_world.h"
#include "tests/support/json_match.h"
#include "tests/support/places.h"
#include "tests/support/test_emulator.h"

namespace mayfly::testing {

namespace {

using nlohmann::json;

struct Step {
  char kind;  // '>' '<' '=' '@'
  int line;
  std::string text;
};

std::vector<Step> read_steps(const std::filesystem::path& path) {
  std::ifstream file(path);
  REQUIRE(file);
  std::vector<Step> steps;
  std::string line;
  bool open = false;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line[0] == '#') {
      open = false;
    } else if (line.find_first_of("><@=") == 0) {
      steps.push_back({line[0], number, line.substr(1)});
      open = true;
    } else {
      INFO(path << ":" << number << ": a line that belongs to nothing: " << line);
      REQUIRE(open);
      steps.back().text += "\n" + line;
    }
  }
  return steps;
}

std::chrono::milliseconds duration(const std::string& text) {
  std::size_t digits = 0;
  const auto count = std::stoll(text, &digits);
  const auto unit = text.substr(digits);
  if (unit == "ms") return std::chrono::milliseconds(count);
  if (unit == "s") return std::chrono::seconds(count);
  if (unit == "m") return std::chrono::minutes(count);
  if (unit == "h") return std::chrono::hours(count);
  REQUIRE(unit == "d");
  return std::chrono::hours(24 * count);
}

// The first word, and the rest without surrounding blanks.
std::pair<std::string, std::string> split(const std::string& text) {
  const auto start = text.find_first_not_of(" \n");
  if (start == std::string::npos) return {};
  const auto end = text.find_first_of(" \n", start);
  if (end == std::string::npos) return {text.substr(start), ""};
  const auto rest = text.find_first_not_of(" \n", end);
  if (rest == std::string::npos) return {text.substr(start, end - start), ""};
  return {text.substr(start, end - start), text.substr(rest, text.find_last_not_of(" \n") + 1 - rest)};
}

class Script {
 public:
  void run(const std::filesystem::path& path) {
    const auto steps = read_steps(path);
    // Only scripts with `=` lines pay the cost of recording the stored state.
    shows_effects_ =
        std::any_of(steps.begin(), steps.end(), [](const Step& step) { return step.kind == '='; });
    for (const auto& step : steps) {
      INFO(path.string() << ":" << step.line << ": " << step.kind << step.text);
      switch (step.kind) {
        case '>': note_state(), request(step.text); break;
        case '<': expect(step.text); break;
        case '=': expect_effects(step.text); break;
        default: note_state(), direct(step.text); break;
      }
    }
  }

 private:
  void request(const std::string& text) {
    const auto [operation, body] = split(text);
    const auto parsed = json::parse(body, nullptr, false);
    const auto sent = parsed.is_discarded() ? parsed : substitute(parsed, variables_);
    answer_ = emulator_.execute(operation, sent == parsed ? body : sent.dump());
  }

  void expect(const std::string& text) {
    const auto [status, expected] = split(text);
    INFO("answer: " << answer_.status << " " << answer_.body);
    const auto actual = json::parse(answer_.body, nullptr, false);
    if (expected.empty()) {
      REQUIRE(answer_.body.empty());
    } else if (expected[0] != '{') {
      expect_error(expected, actual);
    } else {
      REQUIRE(difference(json::parse(expected), actual, variables_) == "");
    }
    REQUIRE(std::to_string(answer_.status) == status);
  }

  void expect_error(const std::string& expected, const json& actual) const {
    auto [type, message] = split(expected);
    for (const auto& [name, value] : variables_) {
      const std::string mark = "$" + name;
      if (!value.is_string()) continue;
      for (auto at = message.find(mark); at != message.npos; at = message.find(mark))
        message.replace(at, mark.size(), value.get<std::string>());
    }
    const auto full_type = actual.value("__type", "");
    REQUIRE((full_type == type || full_type.substr(full_type.find('#') + 1) == type));
    REQUIRE(actual.value("message", actual.value("Message", "")) == message);
  }

  void note_state() {
    if (shows_effects_) before_ = stored_state(emulator_.emulator().database());
  }

  void expect_effects(const std::string& text) {
    std::istringstream lines(text);
    std::string line, expected;
    while (std::getline(lines, line)) {
      const auto start = line.find_first_not_of(' ');
      if (start != std::string::npos) expected += (expected.empty() ? "" : "\n") + line.substr(start);
    }
    REQUIRE(effects(before_, stored_state(emulator_.emulator().database())) == expected);
  }

  void direct(const std::string& text) {
    const auto [what, rest] = split(text);
    if (what == "advance") {
      expired_ = emulator_.advance(duration(rest));
    } else if (what == "expired") {
      REQUIRE(std::to_string(expired_) == rest);
    } else if (what == "settle") {
      REQUIRE(emulator_.emulator().jobs().settle(emulator_.scope.account,
                                                 engine::host_time() + std::chrono::seconds(60)));
      emulator_.emulator().database().replication().settle_in_slices(emulator_.scope.account);
    } else if (what == "object") {
      auto [key, line] = split(rest);
      for (std::size_t end = 0; (end = line.find("\\n", end)) != std::string::npos;)
        line.replace(end, 2, "\n");
      const auto bucket = emulator_.emulator().buckets().find("bucket");
      REQUIRE(bucket);
      REQUIRE(BucketCalls{**bucket}.put(key, line + "\n").empty());
    } else {
      REQUIRE(what == "as");
      const auto [account, region] = split(rest);
      emulator_.scope = {account, region.empty() ? "us-east-1" : region};
    }
  }

  static compat::EmulatorOptions with_bucket(const std::string& path) {
    compat::EmulatorOptions options;
    options.buckets.directories = {{"bucket", path}};
    return options;
  }

  TemporaryDirectory directory_;
  TestEmulator emulator_{with_bucket(directory_.path())};
  Variables variables_;
  compat::Answer answer_;
  std::int64_t expired_ = 0;
  bool shows_effects_ = false;
  StoredState before_;  // before the last request or directive
};

}  // namespace

TEST_CASE("every golden script gets the responses it lists", "[holds]") {
  const std::string scripts = place("MAYFLY_TEST_SCRIPTS", MAYFLY_TEST_SCRIPTS);
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(scripts)) {
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  }
  REQUIRE_FALSE(paths.empty());
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) {
    DYNAMIC_SECTION(std::filesystem::relative(path, scripts).generic_string()) { Script().run(path); }
  }
}

}  // namespace mayfly::testing
