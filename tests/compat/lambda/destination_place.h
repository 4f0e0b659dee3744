// A directory for failed batches, next to files that destinations must not reach.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "compat/lambda/destination_directory.h"
#include "tests/support/temporary_directory.h"

namespace mayfly::testing {

inline std::string destination_text(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Returns "" if the destination is allowed, otherwise the reason why it is not.
inline std::string destination_problem(const compat::triggers::DestinationDirectory& directory,
                                       const std::string& destination) {
  const auto checked = directory.check(destination);
  return checked ? "" : checked.error();
}

inline const std::string no_regular_file = "The existing file is not a regular file or has other hard links";
inline const std::string no_directory = "The file's directory does not exist or is reached through a link";

// The directory "failed" is the only directory for destinations. Everything else is outside of it.
struct DestinationPlace {
  TemporaryDirectory around;
  std::string path = around.path() + "/failed";
  std::unique_ptr<compat::triggers::DestinationDirectory> directory;

  explicit DestinationPlace(
      std::int64_t file_bytes_max = compat::triggers::DestinationDirectory::file_bytes_max_default) {
    std::filesystem::create_directories(path + "/below");
    directory = *compat::triggers::DestinationDirectory::open(path, file_bytes_max);
  }
  // The destination is rejected both when a mapping is created and when a batch is written.
  void refuses(const std::string& destination, const std::string& why) const {
    INFO(destination);
    CHECK(destination_problem(*directory, destination) == why);
    CHECK_FALSE(directory->append(destination, "{}"));
  }
};

}  // namespace mayfly::testing
