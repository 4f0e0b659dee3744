#include "engine/storage/storage_damage.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "engine/storage/storage.h"
#include "engine/storage/write_ahead_log.h"
#include "os/path.h"
#include "os/reason.h"

namespace mayfly::engine {
namespace {

namespace fs = std::filesystem;

// Returns the paths sorted by name, and thus from the oldest file to the newest.
std::vector<std::string> files_ending(const std::string& directory, std::string_view ending) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator files(os::path_of(directory), error), end; !error && files != end;
       files.increment(error))
    if (files->path().extension() == ending) paths.push_back(os::text_of(files->path()));
  std::sort(paths.begin(), paths.end());
  return paths;
}

Expected<std::string, std::string> made_lost_directory(const std::string& directory) {
  const std::string lost = directory + "/lost";
  std::error_code error;
  fs::create_directory(os::path_of(lost), error);
  if (error) return Unexpected{"cannot create " + lost + ": " + os::reason(error)};
  return lost;
}

Expected<void, std::string> move_to(const std::string& lost, const std::string& path,
                                    std::vector<std::string>& done) {
  std::error_code error;
  const std::string to = lost + "/" + os::text_of(os::path_of(path).filename());
  fs::rename(os::path_of(path), os::path_of(to), error);
  if (error) return Unexpected{"cannot move " + path + " to " + to + ": " + os::reason(error)};
  done.push_back("moved " + path + " to " + to);
  return {};
}

// Cuts off the first damaged log before the damage and moves later logs away. The records before the damage
// remain, as after a power failure.
Expected<void, std::string> cut_logs(const std::string& directory, const std::string& lost,
                                     std::vector<std::string>& done) {
  TRY(const std::vector<LogFlaw> flaws, flawed_logs(directory));
  const auto damaged =
      std::find_if(flaws.begin(), flaws.end(), [](const LogFlaw& flaw) { return flaw.damaged; });
  if (damaged == flaws.end()) return {};
  // Move the later logs first: if this function is interrupted, the next call still finds the damaged log.
  for (const std::string& log : files_ending(directory, ".log"))
    if (log > damaged->path) CHECK_OK(move_to(lost, log, done));
  std::error_code error;
  const std::string copy = lost + "/" + os::text_of(os::path_of(damaged->path).filename());
  fs::copy_file(os::path_of(damaged->path), os::path_of(copy), fs::copy_options::overwrite_existing, error);
  if (!error) fs::resize_file(os::path_of(damaged->path), damaged->offset, error);
  if (error) return Unexpected{"cannot truncate " + damaged->path + ": " + os::reason(error)};
  done.push_back("truncated " + damaged->path + " at byte " + std::to_string(damaged->offset) +
                 "; a full copy is in " + copy);
  return mend_write_ahead_logs(directory);
}

}  // namespace

Expected<std::vector<std::string>, std::string> damaged_files(
    const std::string& directory, const std::optional<std::vector<std::string>>& tables) {
  std::vector<std::string> sentences;
  TRY(const std::vector<LogFlaw> logs, flawed_logs(directory));
  for (const LogFlaw& log : logs)
    if (log.damaged) sentences.push_back(sentence(log));
  for (const std::string& table : tables ? *tables : files_ending(directory, ".sst"))
    if (const std::string flaw = Storage::table_file_flaw(table); !flaw.empty())
      sentences.push_back(table + " cannot be read: " + flaw);
  return sentences;
}

Expected<std::vector<std::string>, std::string> set_aside_damaged_files(const std::string& directory) {
  std::vector<std::string> done;
  TRY(const std::string lost, made_lost_directory(directory));
  CHECK_OK(cut_logs(directory, lost, done));
  for (const std::string& table : files_ending(directory, ".sst"))
    if (!Storage::table_file_flaw(table).empty()) CHECK_OK(move_to(lost, table, done));
  if (!Storage::open_to_read(directory)) {
    CHECK_OK(Storage::put_together(directory));
    done.push_back("rebuilt the directory from the remaining files");
  }
  return done;
}

}  // namespace mayfly::engine
