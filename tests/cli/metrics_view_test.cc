// Tests how metrics are converted to JSON.
#include "cli/views/metrics_view.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "http/base/log.h"

namespace mayfly::testing {

namespace {

std::string metrics_tree(std::string_view text) {
  const auto read = cli::metrics_tree(text);
  return read ? json::print(*read) : read.error();
}

}  // namespace

TEST_CASE("comments are omitted and each metric becomes a member that contains its samples") {
  CHECK(metrics_tree("# HELP a_total Things.\n# TYPE a_total counter\n"
                     "a_total{by=\"client\",operation=\"PutItem\"} 3\n"
                     "b 0.25\n"
                     "a_total{} -1\n"
                     "c_bucket{le=\"+Inf\"} +Inf\n"
                     "\n"
                     "d 7 1700000000000") ==
        R"({"a_total":[{"labels":{"by":"client","operation":"PutItem"},"value":3},{"labels":{},"value":-1}],)"
        R"("b":[{"labels":{},"value":0.25}],"c_bucket":[{"labels":{"le":"+Inf"},"value":"+Inf"}],)"
        R"("d":[{"labels":{},"value":7}]})");
  CHECK(metrics_tree("") == "{}");
}

TEST_CASE("escape sequences in label values are decoded") {
  CHECK(metrics_tree(R"(a{x="q\"b\\n\n,}",y=""} 1)") ==
        R"({"a":[{"labels":{"x":"q\"b\\n\n,}","y":""},"value":1}]})");
}

TEST_CASE("a malformed line of metrics is quoted in the error") {
  for (const char* line : {"a", "a ", " 1", "{x=\"1\"} 1", "a{x=\"1\" 1", "a{x=\"1} 1", "a{x} 1",
                           "a{=\"1\"} 1", "a{x=\"1\\", "a{x=\"1\"}1", "<html>"}) {
    INFO(line);
    CHECK(metrics_tree("b 1\n" + std::string(line) + "\n") ==
          "The server's metrics have a malformed line: '" + http::log::printable(line) + "'.");
  }
  const std::string sentence = metrics_tree("\x1b" + std::string(1000, 'x'));
  CHECK(sentence.size() < 300);
  CHECK(sentence.find('\x1b') == std::string::npos);
}

}  // namespace mayfly::testing
