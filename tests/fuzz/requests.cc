// Sends an emulator a sequence of requests, which has the format of golden scripts:
//
//   > PutItem {"TableName":"short","Item":{"id":{"S":"c"}}}
//   @ advance 61s
//   > GetRecords {"ShardIterator":"$ShardIterator"}          the value of that member in an earlier response
//
// JSON can continue on the following lines. No request violates an invariant of responses or storage.
#include <string>
#include <string_view>

#include "engine/base/whole_number.h"
#include "tests/fuzz/emulator_for_fuzzing.h"
#include "tests/fuzz/pieces.h"
#include "tests/fuzz/targets.h"

namespace mayfly::testing {
namespace {

// More steps would only slow down the fuzzer, which combines inputs itself.
constexpr int steps_max = 12;

void run(FuzzedEmulator& emulator, std::string_view step) {
  if (step.starts_with("> ")) {
    step.remove_prefix(2);
    const auto operation = take_until(step, ' ');
    emulator.execute(operation, step);
  } else if (step.starts_with("@ advance ")) {
    step.remove_prefix(10);
    const std::string_view digits = step.substr(0, step.find_first_not_of("0123456789"));
    const auto count = engine::whole_number<std::uint32_t>(digits).value_or(1);
    const std::string_view unit = step.substr(digits.size());
    emulator.advance(unit.starts_with("ms") ? std::chrono::milliseconds(count) : std::chrono::seconds(count));
  }
}

}  // namespace

void fuzz_requests(std::string_view input) {
  FuzzedEmulator& emulator = FuzzedEmulator::get();
  emulator.begin(input);
  for (int steps = 0; steps < steps_max && !input.empty(); ++steps) {
    auto end = input.find('\n');
    while (end < input.size() && input.substr(end + 1, 2) != "> " && input.substr(end + 1, 2) != "@ ")
      end = input.find('\n', end + 1);
    run(emulator, input.substr(0, end));
    input.remove_prefix(std::min(end, input.size() - 1) + 1);
  }
  emulator.finish();
}

}  // namespace mayfly::testing
