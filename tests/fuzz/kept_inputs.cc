// Runs a target on stored inputs: `kept_inputs TARGET DIRECTORY…` runs the target once on each file in
// DIRECTORY/TARGET, if that directory exists. The name of each file is printed before the target runs on it,
// so the last line of a failed run names the input that failed.
//
// If an argument is a file instead of a directory, the file is a recorded long run (long_run.h), and its
// inputs run in order. The number of each input is printed before the input runs.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "tests/fuzz/long_run.h"
#include "tests/fuzz/targets.h"

namespace mayfly::testing {
namespace {

// Returns the file in an exactly sized buffer, so that a sanitizer reports reads beyond the end.
std::vector<char> bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void run(const FuzzTarget& target, const std::filesystem::path& path) {
  std::printf("%s\n", path.c_str());
  std::fflush(stdout);
  const std::vector<char> bytes = bytes_of(path);
  target.run({bytes.data(), bytes.size()});
}

// Runs the inputs in order. Each input is an exactly sized copy, so that a sanitizer reports reads beyond
// the end.
std::size_t run_sequence(const FuzzTarget& target, const std::filesystem::path& path) {
  LongRun::get().be_long();
  const std::vector<char> bytes = bytes_of(path);
  std::size_t count = 0;
  for (const std::string_view input : inputs_of_sequence({bytes.data(), bytes.size()})) {
    std::printf("%s: input %zu\n", path.c_str(), ++count);
    std::fflush(stdout);
    const std::vector<char> copy(input.begin(), input.end());
    target.run({copy.data(), copy.size()});
  }
  return count;
}

int run_all(const FuzzTarget& target, const std::vector<std::filesystem::path>& directories) {
  std::size_t inputs = 0;
  for (const auto& directory : directories) {
    if (std::filesystem::is_regular_file(directory)) inputs += run_sequence(target, directory);
    if (!std::filesystem::is_directory(directory / target.name)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(directory / target.name)) {
      run(target, entry.path());
      ++inputs;
    }
  }
  std::printf("%zu inputs\n", inputs);
  return inputs == 0 ? 1 : 0;  // without inputs nothing was tested
}

}  // namespace
}  // namespace mayfly::testing

int main(int count, char** arguments) {
  using namespace mayfly::testing;
  if (count >= 3) {
    for (const FuzzTarget& target : fuzz_targets)
      if (target.name == arguments[1]) return run_all(target, {arguments + 2, arguments + count});
  }
  std::fprintf(stderr, "usage: kept_inputs TARGET DIRECTORY|SEQUENCE...\n");
  return 2;
}
