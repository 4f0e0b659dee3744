#include "cli/views/jobs_view.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace mayfly::testing {

TEST_CASE("a job is shown as one line of printable characters with a progress bar") {
  const auto view = [](std::string_view text) { return cli::view_jobs(*json::parse_tree(text)); };
  const auto running = view(
      R"({"jobs":[{"id":"7-a","kind":"import","table":"carts","percent":52,"status":"IN_PROGRESS"},
                  {"kind":"bulk-put","table":"a\u001bb","percent":100,"status":"FAILED","failure_code":"S3NoSuchKey"}]})");
  CHECK(running.lines == 2);
  CHECK(running.unfinished);
  CHECK(
      running.text.starts_with("import   carts  [##########----------]  52 %  IN_PROGRESS  7-a\nbulk-put a"));
  CHECK(running.text.ends_with("b  [####################] 100 %  FAILED  S3NoSuchKey\n"));
  CHECK(running.text.find('\x1b') == std::string::npos);
  CHECK(view(R"({"jobs":[{"percent":1e9}]})").text.find("[####################] 100 %") == std::string::npos);
  CHECK_FALSE(view(R"({"jobs":[{"percent":1000,"status":"COMPLETED"}]})").unfinished);
  CHECK(view(R"({"jobs":7})").lines == 0);
}

}  // namespace mayfly::testing
