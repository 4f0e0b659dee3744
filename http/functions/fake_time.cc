#include "http/functions/fake_time.h"

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "engine/base/random.h"
#include "engine/base/uuid.h"
#include "http/base/log.h"
#include "os/file.h"
#include "os/path.h"

namespace mayfly::http {
namespace {

namespace fs = std::filesystem;

// Writes the file atomically, because the process may read it at any time.
void replace_text(const std::string& path, const std::string& text, std::error_code& error) {
  const std::string temporary = path + ".new";
  os::remove(temporary, error);  // one that an earlier failure has left
  os::File file =
      os::File::open(temporary, {.access = os::Access::write, .make = os::Make::must_be_new}, error);
  if (!error) file.write(text, error);
  if (!error) file.close(error);
  if (!error) os::rename(temporary, path, error);
}

}  // namespace

std::string fake_time_library() {
  std::vector<fs::path> directories{"/usr/lib", "/usr/lib64", "/usr/local/lib"};
  std::error_code error;
  // Debian has a directory for each kind of processor.
  for (fs::directory_iterator entry("/usr/lib", error), end; !error && entry != end; entry.increment(error))
    if (os::text_of(entry->path().filename()).ends_with("-linux-gnu")) directories.push_back(entry->path());
  for (const fs::path& directory : directories) {
    const fs::path library = directory / "faketime" / "libfaketimeMT.so.1";  // for programs with threads
    if (fs::exists(library, error)) return os::text_of(library);
  }
  return {};
}

FakeTime::FakeTime(const FunctionClock& clock) : clock_(clock) {
  if (clock.library.empty()) return;
  std::error_code error;
  engine::SystemRandom random;
  const fs::path temporary = fs::temp_directory_path(error);
  if (!error) file_ = os::text_of(temporary / ("mayfly-time-" + engine::random_uuid(random)));
}

FakeTime::~FakeTime() {
  std::error_code ignored;
  if (!file_.empty()) os::remove(file_, ignored);
}

std::vector<std::pair<std::string, std::string>> FakeTime::variables() const {
  if (file_.empty()) return {};
  return {{"LD_PRELOAD", clock_.library},
          {"FAKETIME_TIMESTAMP_FILE", file_},
          {"FAKETIME_NO_CACHE", "1"},
          {"FAKETIME_DONT_FAKE_MONOTONIC", "1"}};  // runtimes measure time-outs with it
}

std::chrono::milliseconds FakeTime::set(const std::string& account) {
  if (file_.empty() || !clock_.ahead) return {};
  const auto ahead = clock_.ahead(account);
  char text[48];
  std::snprintf(text, sizeof text, "%+.3f\n", static_cast<double>(ahead.count()) / 1000);
  std::error_code error;
  replace_text(file_, text, error);
  if (error) log::write(log::Level::warning, "cannot write " + file_ + ": " + error.message());
  return ahead;
}

}  // namespace mayfly::http
