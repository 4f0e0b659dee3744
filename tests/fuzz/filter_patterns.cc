// Uses the first line as an event source mapping's filter pattern, and the rest as a record.
#include <string>

#include "compat/json/json.h"
#include "compat/lambda/filter_pattern.h"
#include "tests/fuzz/must.h"
#include "tests/fuzz/pieces.h"
#include "tests/fuzz/targets.h"

namespace mayfly::testing {

using compat::triggers::FilterPattern;
using compat::triggers::FilterWork;

void fuzz_filter_patterns(std::string_view input) {
  const std::string text(take_until(input));
  const auto pattern = FilterPattern::parse(text);
  must(!pattern || json::parse(text) != nullptr, "a pattern is JSON", text);
  const auto document = json::parse(input);
  if (!pattern || document == nullptr) return;

  FilterWork work;
  const bool matches = pattern->matches(document->root(), work);
  // Each part of the pattern examines each part of the record at most once.
  const std::size_t most = (text.size() + 1) * (input.size() + 1);
  must(work.steps() <= most, "the work is bounded", std::to_string(work.steps()));
  must(!work.stopped(), "the matching was not stopped");

  const auto either = FilterPattern::parse(R"({"$or":[)" + text + "," + text + "]}");
  FilterWork twice;
  if (either)
    must(either->matches(document->root(), twice) == matches,
         "a pattern and its disjunction with itself match alike", text);
  const auto never = FilterPattern::parse(R"({"$or":[)" + text + R"(,{"no such":["name"]}]})");
  FilterWork once;
  if (never && input.find("no such") == std::string_view::npos && input.find('\\') == std::string_view::npos)
    must(never->matches(document->root(), once) == matches,
         "an alternative that never matches changes nothing", text);
}

}  // namespace mayfly::testing
