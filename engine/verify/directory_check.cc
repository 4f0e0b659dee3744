#include "engine/verify/directory_check.h"

#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/base/attempt.h"
#include "engine/schema/readable_key.h"
#include "engine/storage/data_directory.h"
#include "engine/storage/storage.h"
#include "engine/storage/storage_damage.h"
#include "engine/verify/findings.h"
#include "engine/verify/verification.h"
#include "os/file.h"

namespace mayfly::engine {
namespace {

constexpr std::string_view damaged_file = "a damaged file";
constexpr std::size_t mends_at_once = 256;
// A repair can reveal further findings, such as an index entry of an item that was moved out. The next pass
// repairs those findings.
constexpr int passes_max = 8;

// A directory that is open for reading. open_whole() returns nullopt if files are damaged, after it has told
// the listener which files are damaged.
struct Opened {
  DirectoryLock lock;
  std::unique_ptr<Storage> storage;
};
Expected<std::optional<Opened>, std::string> open_whole(const std::string& path,
                                                        const CheckListener& listener, std::uint64_t& wrong) {
  TRY(const DataDirectory found, recognise_data_directory(path));
  TRY(DirectoryLock lock, DirectoryLock::take(path));
  const auto tell = [&](std::string_view line) {
    ++wrong;
    listener.wrong(damaged_file, line);
  };
  auto storage = Storage::open_to_read(path);
  if (!storage && !storage.error().damaged) return Unexpected{storage.error().sentence};
  if (storage && found == DataDirectory::unmarked && !(*storage)->has_our_keys())
    return Unexpected{not_ours(path)};
  TRY(const std::vector<std::string> damaged,
      damaged_files(path, storage ? std::optional((*storage)->table_files()) : std::nullopt));
  if (!storage) tell(storage.error().sentence);
  for (const std::string& line : damaged) tell(line);
  if (!storage || !damaged.empty()) return std::optional<Opened>();
  return std::optional<Opened>({std::move(lock), *std::move(storage)});
}

// Checks the whole directory once.
Expected<Checked, std::string> pass(const Storage& storage, const Findings::Found& found,
                                    const CheckListener& listener) {
  const std::uint64_t estimate = storage.key_count_estimate();
  Findings findings(found, [&](std::uint64_t keys) {
    if (listener.progress) listener.progress(keys, estimate);
  });
  using Outcome = Expected<Checked, std::string>;
  return attempt(
      [&]() -> Outcome {
        const Storage::Snapshot at(storage);
        verify(storage, at, {}, findings);
        return findings.checked;
      },
      [](std::string_view why) -> Outcome { return Unexpected{std::string(why)}; });
}

// A file to which lines are appended. The lines are on disk before the entries that they record are erased.
class MovedOut {
 public:
  static Expected<std::unique_ptr<MovedOut>, std::string> open(const std::string& path) {
    if (path.empty()) return std::unique_ptr<MovedOut>();
    std::error_code error;
    // In a directory such as /tmp, a link could belong to another user and point to any file.
    os::File file = os::File::open(path, {.access = os::Access::append, .make = os::Make::if_missing}, error);
    if (error == std::errc::too_many_symbolic_link_levels)
      return Unexpected{"cannot write to " + path + ": it is a symbolic link"};
    if (error) return Unexpected{"cannot write to " + path + ": " + error.message()};
    if (!file.facts(error).is_only_here())
      return Unexpected{"cannot write to " + path + ": it must be a regular file without other hard links"};
    return std::make_unique<MovedOut>(path, std::move(file));
  }
  MovedOut(std::string path, os::File file) : path_(std::move(path)), file_(std::move(file)) {}

  void add(std::string_view key, std::string_view value) {
    lines_ += hexadecimal(key) + ' ' + hexadecimal(value) + '\n';
  }
  Expected<void, std::string> write() {
    if (lines_.empty()) return {};
    std::error_code error;
    file_.write(lines_, error);
    if (!error) file_.sync(error);
    if (error) return Unexpected{"cannot write to " + path_ + ": " + error.message()};
    lines_.clear();
    return {};
  }

 private:
  const std::string path_;
  const os::File file_;
  std::string lines_;
};

// Repairs what a pass finds.
class Repair {
 public:
  Repair(Storage& storage, MovedOut* moved_out, const CheckListener& listener)
      : storage_(storage), moved_out_(moved_out), listener_(listener) {}

  // Returns how many findings were repaired. The error is a human-readable sentence.
  Expected<std::uint64_t, std::string> run() {
    TRY(const Checked checked, pass(
                                   storage_, [&](const Finding& finding) { take(finding); }, listener_));
    (void)checked;
    CHECK_OK(write());
    if (!failure_.empty()) return Unexpected{failure_};
    return mended_;
  }

 private:
  void take(const Finding& finding) {
    if (!failure_.empty()) return;
    const bool moves = finding.mend.empty() && moved_out_ != nullptr && !finding.keys.empty();
    if (finding.mend.empty() && !moves) return;
    batch_.append(finding.mend);
    if (moves)
      for (const std::string& key : finding.keys) move_out(key);
    ++mended_;
    if (listener_.mended) listener_.mended(finding.kind, finding.text + (moves ? "; it was moved out" : ""));
    if (++staged_ < mends_at_once) return;
    if (auto written = write(); !written) failure_ = written.error();
  }
  void move_out(const std::string& key) {
    std::string value;
    if (!storage_.get(key, value)) return;
    moved_out_->add(key, value);
    batch_.erase(key);
  }
  Expected<void, std::string> write() {
    if (moved_out_) CHECK_OK(moved_out_->write());
    if (!batch_.empty()) storage_.write(batch_);
    batch_.clear();
    staged_ = 0;
    return {};
  }

  Storage& storage_;
  MovedOut* const moved_out_;
  const CheckListener& listener_;
  Batch batch_;
  std::size_t staged_ = 0;
  std::uint64_t mended_ = 0;
  std::string failure_;
};

Expected<void, std::string> give_up_damaged_files(const std::string& path, const CheckListener& listener,
                                                  DirectoryChecked& outcome) {
  outcome.wrong = 0;
  TRY(const std::vector<std::string> done, set_aside_damaged_files(path));
  for (const std::string& line : done) {
    ++outcome.mended;
    if (listener.mended) listener.mended(damaged_file, line);
  }
  return {};
}

}  // namespace

Expected<DirectoryChecked, std::string> verify_directory(const std::string& path,
                                                         const CheckListener& listener) {
  DirectoryChecked outcome;
  TRY(const std::optional<Opened> opened, open_whole(path, listener, outcome.wrong));
  if (!opened) return outcome;
  const auto found = [&](const Finding& finding) {
    ++outcome.wrong;
    listener.wrong(finding.kind, finding.text);
  };
  TRY(outcome.checked, pass(*opened->storage, found, listener));
  return outcome;
}

Expected<DirectoryChecked, std::string> repair_directory(const std::string& path,
                                                         const RepairOptions& options,
                                                         const CheckListener& listener) {
  DirectoryChecked outcome;
  bool whole = false;
  {
    CheckListener first = listener;
    if (options.give_up_damaged_files) first.wrong = [](std::string_view, std::string_view) {};
    TRY(const std::optional<Opened> opened, open_whole(path, first, outcome.wrong));
    whole = opened.has_value();
  }
  if (!whole) {
    if (!options.give_up_damaged_files) return outcome;
    CHECK_OK(give_up_damaged_files(path, listener, outcome));
  }
  TRY(const std::unique_ptr<MovedOut> moved_out, MovedOut::open(options.move_out_file));
  TRY(const std::unique_ptr<Storage> storage, Storage::open({.directory = path, .fsync = true}));
  for (int passes = 0; passes < passes_max; ++passes) {
    Repair repair(*storage, moved_out.get(), listener);
    using Outcome = Expected<std::uint64_t, std::string>;
    TRY(const std::uint64_t mended,
        attempt([&]() -> Outcome { return repair.run(); },
                [](std::string_view why) -> Outcome { return Unexpected{std::string(why)}; }));
    if (mended == 0) break;
    outcome.mended += mended;
  }
  const auto found = [&](const Finding& finding) {
    ++outcome.wrong;
    listener.wrong(finding.kind, finding.text);
  };
  TRY(outcome.checked, pass(*storage, found, listener));
  return outcome;
}

}  // namespace mayfly::engine
