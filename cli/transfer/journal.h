// Records a transfer's progress in an append-only file, one line for each page written, so that a run can
// continue where the previous one stopped, even after kill -9.
//
//   auto journal = Journal::begin("orders.journal", plan);     // or Journal::resume
//   journal->page({.part = 3, .cursor = …, .last = false, .items = 25}, written, {});
//   journal->remove();                                         // the transfer is complete
//
// The first line is the plan. An incomplete last line is ignored. Only one process at a time can have the
// journal open. Only the file's owner can read it, because it may contain a secret. It must be a regular
// file: a link is rejected. The plan is written before the file gets its name. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/table_files/sink.h"
#include "compat/json/json_tree.h"
#include "engine/base/expected.h"
#include "engine/base/mutex.h"
#include "os/file.h"

namespace mayfly::transfer {

struct Reached {
  std::size_t part = 0;
  std::string cursor;
  bool last = false;        // the part is finished
  std::uint64_t items = 0;  // total for the part
};

class Journal {
 public:
  // `asked`: the command's options, which a resumed run must repeat. `settled`: decisions that the first run
  // made.
  struct Plan {
    json::Tree asked = json::Tree::object(), settled = json::Tree::object();
  };

  static Expected<std::unique_ptr<Journal>, std::string> begin(const std::string& path, Plan plan);
  // Also fails if `asked` differs from the original plan.
  static Expected<std::unique_ptr<Journal>, std::string> resume(const std::string& path,
                                                                const json::Tree& asked);
  // Returns a journal that records nothing.
  static std::unique_ptr<Journal> none(Plan plan);
  // Returns a sentence that says why a journal cannot be created at `path`, or an empty string if it can.
  static std::string in_the_way(const std::string& path);

  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] bool is_kept() const { return file_.is_open(); }
  // The state when the journal was opened.
  [[nodiscard]] const std::map<std::size_t, Reached>& parts() const { return parts_; }
  [[nodiscard]] const std::map<std::size_t, Stage>& stages() const { return stages_; }
  [[nodiscard]] std::vector<Written> written() const;
  [[nodiscard]] const std::map<std::string, std::uint64_t>& counts() const { return counts_; }

  Expected<void, std::string> stage(std::size_t table, Stage stage);
  // `counts` are added to the counts recorded earlier.
  Expected<void, std::string> page(const Reached& reached, const Written& written,
                                   const std::map<std::string, std::uint64_t>& counts);
  void remove();

 private:
  Journal(std::string path, os::File file, Plan plan);
  bool replay(const json::Tree& line);  // false: `line` does not belong in a journal
  Expected<void, std::string> append(const json::Tree& line);

  const std::string path_;
  const os::File file_;  // not open: nothing is recorded
  const Plan plan_;
  std::map<std::size_t, Reached> parts_;
  std::map<std::size_t, Stage> stages_;
  std::map<std::string, Written> written_;
  std::map<std::string, std::uint64_t> counts_;
  engine::Mutex mutex_;  // prevents writers from mixing lines
};

}  // namespace mayfly::transfer
