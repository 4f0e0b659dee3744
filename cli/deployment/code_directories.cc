#include "cli/deployment/code_directories.h"

#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>

#include "cli/deployment/unzip.h"
#include "engine/base/random.h"
#include "engine/base/uuid.h"
#include "os/file.h"
#include "os/path.h"
#include "os/reason.h"

namespace mayfly::deployment {

namespace {

namespace fs = std::filesystem;

}  // namespace

CodeDirectories::~CodeDirectories() {
  // On Windows, a directory can only be removed once no program runs in it any longer, and those of the
  // functions are just ending.
  constexpr int tries_max = 20;
  constexpr std::chrono::milliseconds pause{50};
  std::error_code error;
  for (int tries = 0; !root_.empty() && tries < tries_max; ++tries) {
    fs::remove_all(os::path_of(root_), error);
    if (!error) return;
    std::this_thread::sleep_for(pause);
  }
}

Expected<std::string, std::string> CodeDirectories::make() {
  std::error_code error;
  if (root_.empty()) {
    const fs::path temporary = fs::temp_directory_path(error);
    if (error) return Unexpected{"there is no directory for temporary files: " + os::reason(error)};
    engine::SystemRandom random;
    // Other users cannot know the name, and so cannot have made the directory.
    root_ = os::text_of(temporary / ("mayfly-functions-" + engine::random_uuid(random)));
    os::make_directory(root_, error);
    if (error) return Unexpected{"cannot make " + std::exchange(root_, {}) + ": " + os::reason(error)};
  }
  const std::string directory = os::text_of(os::path_of(root_) / std::to_string(++made_));
  os::make_directory(directory, error);
  if (error) return Unexpected{"cannot make " + directory + ": " + os::reason(error)};
  return directory;
}

Expected<std::string, std::string> CodeDirectories::unpacked(const std::string& archive) {
  if (const auto known = unpacked_.find(archive); known != unpacked_.end()) return known->second;
  TRY(std::string directory, make());
  CHECK_OK(unzip(archive, directory));
  unpacked_[archive] = directory;
  return directory;
}

Expected<std::string, std::string> CodeDirectories::with_file(const std::string& name,
                                                              const std::string& text) {
  TRY(std::string directory, make());
  const std::string path = os::text_of(os::path_of(directory) / name);
  std::error_code error;
  os::File file = os::File::open(path, {.access = os::Access::write, .make = os::Make::must_be_new}, error);
  if (!error) file.write(text, error);
  if (!error) file.close(error);
  if (error) return Unexpected{"cannot write " + path + ": " + os::reason(error)};
  return directory;
}

}  // namespace mayfly::deployment
