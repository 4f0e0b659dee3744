// Runs a target on what is kept for it in directories, each file once: `kept_inputs TARGET DIRECTORY…` takes
// what is in DIRECTORY/TARGET, if that is there. Which file it is at it says first, so that the last line of
// a run that failed is the file's that did it.
//
// Of a file in a directory's place it runs the inputs as a long run had them, one after the other
// (long_run.h), and says how many have gone by.
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

// In bytes of their own, so that a sanitizer sees each that is read beyond them.
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

// In bytes of their own, each.
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
  return inputs == 0 ? 1 : 0;  // who keeps none tests nothing
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
