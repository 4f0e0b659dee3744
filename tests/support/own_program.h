// This test program once more, in the place of the calling process: for tests whose process is killed.
#pragma once

#include <array>
#include <cstdlib>
#include <string>
#include <unistd.h>
#include <vector>

namespace mayfly::testing {

// `words` are its arguments, the first of them its name. Returns only where that failed. Of a program for
// another processor MAYFLY_TEST_EMULATOR is what runs it: the kernel would not know how.
inline void become_this_program(std::vector<std::string> words) {
  std::string path = "/proc/self/exe";
  if (const char* emulator = std::getenv("MAYFLY_TEST_EMULATOR")) {
    std::array<char, 4096> own{};
    if (readlink(path.c_str(), own.data(), own.size() - 1) < 0) return;
    words.insert(words.begin(), {emulator, own.data()});
    words.erase(words.begin() + 2);  // its name, which the emulator takes from its path
    path = emulator;
  }
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(path.c_str(), pointers.data());
}

}  // namespace mayfly::testing
