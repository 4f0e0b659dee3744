#include "cli/transfer/progress.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/views/jobs_view.h"
#include "compat/json/json_tree.h"
#include "os/terminal.h"

namespace mayfly::transfer {
namespace {

constexpr std::chrono::milliseconds between_bars{250};
constexpr std::chrono::seconds between_lines{10};

}  // namespace

Progress::Shows Progress::for_standard_error(bool is_quiet) {
  if (is_quiet) return Shows::nothing;
  return os::is_terminal_error() ? Shows::bars : Shows::lines;
}

Progress::~Progress() {
  const engine::Lock lock(mutex_);
  if (shows_ == Shows::bars) draw();
}

std::size_t Progress::add_table(const std::string& name, std::uint64_t expected, std::uint64_t items) {
  const engine::Lock lock(mutex_);
  tables_.push_back({.name = name, .expected = expected, .items = items});
  return tables_.size() - 1;
}

void Progress::advance(std::size_t table, std::uint64_t items) {
  const engine::Lock lock(mutex_);
  tables_[table].items += items;
}

void Progress::end(std::size_t table) {
  const engine::Lock lock(mutex_);
  tables_[table].over = true;
}

// Returns the lines to print. Each finished table is returned only once, above the unfinished tables.
std::string Progress::text(bool all, std::size_t& lines) {
  std::string above, below;
  for (Table& table : tables_) {
    if (table.told || (!table.over && (!all || table.items == 0 || lines == lines_max))) continue;
    const std::uint64_t percent =
        table.over
            ? 100
            : std::min<std::uint64_t>(99, table.items * 100 / std::max<std::uint64_t>(1, table.expected));
    const json::Tree job = {{"kind", kind_},
                            {"table", table.name},
                            {"percent", table.expected == 0 && !table.over ? 0 : percent},
                            {"status", std::to_string(table.items) + " items"}};
    const std::string line = cli::view_jobs({{"jobs", json::Tree::array({job})}}).text;
    if (table.over) {
      above += line;
      table.told = true;
    } else {
      below += line;
      ++lines;
    }
  }
  return above + below;
}

void Progress::draw() {
  std::size_t lines = 0;
  const std::string drawing = text(true, lines);
  if (drawn_ > 0) std::fprintf(stderr, "\x1b[%zuA\x1b[J", drawn_);
  std::fputs(drawing.c_str(), stderr);
  drawn_ = lines;
}

void Progress::show() {
  const engine::Lock lock(mutex_);
  if (shows_ == Shows::nothing) return;
  const bool is_time =
      since_shown_.elapsed() >= (shows_ == Shows::bars ? std::chrono::nanoseconds(between_bars)
                                                       : std::chrono::nanoseconds(between_lines));
  if (shows_ == Shows::bars) {
    if (!is_time) return;
    draw();
  } else {
    // Finished tables are printed immediately, and the others only at intervals.
    std::size_t lines = 0;
    std::fputs(text(is_time, lines).c_str(), stderr);
    if (!is_time) return;
  }
  since_shown_ = engine::Stopwatch();
}

}  // namespace mayfly::transfer
