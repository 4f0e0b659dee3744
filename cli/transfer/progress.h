// Shows a transfer's progress. On a terminal it draws bars like those of `mayfly jobs` and updates them.
// Elsewhere it prints lines from time to time.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/mutex.h"
#include "engine/base/stopwatch.h"

namespace mayfly::transfer {

class Progress {
 public:
  static constexpr std::size_t lines_max = 10;  // for tables in progress

  enum class Shows : std::uint8_t { nothing, lines, bars };
  static Shows for_standard_error(bool is_quiet);

  Progress(std::string kind, Shows shows) : kind_(std::move(kind)), shows_(shows) {}
  ~Progress();

  // `expected`: the number of items if it is known, otherwise 0.
  std::size_t add_table(const std::string& name, std::uint64_t expected, std::uint64_t items);
  void advance(std::size_t table, std::uint64_t items);
  void end(std::size_t table);
  void show();  // call this often; it draws only at intervals

 private:
  struct Table {
    std::string name;
    std::uint64_t expected = 0, items = 0;
    bool over = false, told = false;
  };
  [[nodiscard]] std::string text(bool all, std::size_t& lines) REQUIRES(mutex_);
  void draw() REQUIRES(mutex_);

  const std::string kind_;
  const Shows shows_;
  engine::Mutex mutex_;
  std::vector<Table> tables_ GUARDED_BY(mutex_);
  engine::Stopwatch since_shown_ GUARDED_BY(mutex_);
  std::size_t drawn_ GUARDED_BY(mutex_) = 0;
};

}  // namespace mayfly::transfer
