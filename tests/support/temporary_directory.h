// A new, empty directory, which is removed with its contents at the end.
#pragma once

#include <filesystem>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>

namespace mayfly::testing {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    constexpr int tries_max = 100;
    std::random_device random;
    for (int tries = 0; tries < tries_max; ++tries) {
      const auto path = std::filesystem::temp_directory_path() / ("mayfly-test-" + std::to_string(random()));
      std::error_code error;
      if (!std::filesystem::create_directory(path, error)) continue;
      std::filesystem::permissions(path, std::filesystem::perms::owner_all);
      path_ = path.string();
      return;
    }
    throw std::runtime_error("cannot create a temporary directory");
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace mayfly::testing
