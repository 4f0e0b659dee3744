// How far a transfer has come: a file that only grows, a line for each page that was written, so that a
// process that ended anyhow, by kill -9 too, is gone on with where it was.
//
//   auto journal = Journal::begin("orders.journal", plan);     // or Journal::resume
//   journal->page({.part = 3, .cursor = …, .last = false, .items = 25}, written, {});
//   journal->remove();                                         // it is done
//
// The first line is the plan; a last line that is not whole is as if it were not there. One process at a time
// has it. Only its owner can read it, since it may have a secret. It is a regular file: a link is refused,
// and the plan is in it before it has its name. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/transfer/sink.h"
#include "compat/wire/json_tree.h"
#include "engine/expected.h"
#include "engine/mutex.h"

namespace mayfly::transfer {

struct Reached {
  std::size_t part = 0;
  std::string cursor;
  bool last = false;        // the part is over
  std::uint64_t items = 0;  // of the part, altogether
};

class Journal {
 public:
  // What was asked for, which who goes on asks for again, and what was settled on then.
  struct Plan {
    json::Tree asked = json::Tree::object(), settled = json::Tree::object();
  };

  static Expected<std::unique_ptr<Journal>, std::string> begin(const std::string& path, Plan plan);
  // The error, too, if what is asked for is not what was asked for then.
  static Expected<std::unique_ptr<Journal>, std::string> resume(const std::string& path,
                                                                const json::Tree& asked);
  // Writes nothing down.
  static std::unique_ptr<Journal> none(Plan plan);
  // Why none can begin there, a sentence; empty: one can.
  static std::string in_the_way(const std::string& path);
  ~Journal();

  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] bool is_kept() const { return descriptor_ >= 0; }
  // As it was when this was opened.
  [[nodiscard]] const std::map<std::size_t, Reached>& parts() const { return parts_; }
  [[nodiscard]] const std::map<std::size_t, Stage>& stages() const { return stages_; }
  [[nodiscard]] std::vector<Written> written() const;
  [[nodiscard]] const std::map<std::string, std::uint64_t>& counts() const { return counts_; }

  Expected<void, std::string> stage(std::size_t table, Stage stage);
  // `counts`: to be added to those of before.
  Expected<void, std::string> page(const Reached& reached, const Written& written,
                                   const std::map<std::string, std::uint64_t>& counts);
  void remove();

 private:
  Journal(std::string path, int descriptor, Plan plan);
  bool replay(const json::Tree& line);  // false: it is none of ours
  Expected<void, std::string> append(const json::Tree& line);

  const std::string path_;
  const int descriptor_;  // below 0: none
  const Plan plan_;
  std::map<std::size_t, Reached> parts_;
  std::map<std::size_t, Stage> stages_;
  std::map<std::string, Written> written_;
  std::map<std::string, std::uint64_t> counts_;
  engine::Mutex mutex_;  // lines are whole
};

}  // namespace mayfly::transfer
