// Replaces the calling process with this test program, for tests whose process is killed.
#pragma once

#include <array>
#include <cstdlib>
#include <string>
#include <unistd.h>
#include <vector>

namespace mayfly::testing {

// `words` are the arguments, starting with the program's name. Returns only on failure. MAYFLY_TEST_EMULATOR
// names the emulator if the program is for another processor.
inline void become_this_program(std::vector<std::string> words) {
  std::string path = "/proc/self/exe";
  if (const char* emulator = std::getenv("MAYFLY_TEST_EMULATOR")) {
    std::array<char, 4096> own{};
    if (readlink(path.c_str(), own.data(), own.size() - 1) < 0) return;
    words.insert(words.begin(), {emulator, own.data()});
    words.erase(words.begin() + 2);  // the program's name, which the emulator takes from the path
    path = emulator;
  }
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(path.c_str(), pointers.data());
}

}  // namespace mayfly::testing
