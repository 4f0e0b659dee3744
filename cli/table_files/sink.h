// The target of a transfer: a server, a directory or a file.
//
// Errors are human-readable sentences. When `write` returns, the items are written, even if the process exits
// immediately afterwards. A caller can record what `write` returned and give it to the next run's sink, which
// continues from there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cli/table_files/described_table.h"
#include "engine/base/expected.h"
#include "engine/values/attribute_value.h"

namespace mayfly::transfer {

enum class IfExists : std::uint8_t { fail, skip, append, replace };

// The progress of a file. For a server, `file` is empty.
struct Written {
  std::string file{};
  std::size_t table = 0;
  std::uint64_t bytes = 0, items = 0;
};

// The progress of a table's creation.
enum class Stage : std::uint8_t {
  nothing,   // if the table exists, this transfer may not have created it
  making,    // if the table exists, this transfer created it
  made,      // ready for items
  found,     // it existed before, is ready for items, and keeps its settings
  finished,  // complete with settings and items
  skipped    // it existed before and is not changed
};

class Sink {
 public:
  virtual ~Sink() = default;
  // Checks whether everything can be done, and changes nothing except `stages`: a table's stage can become
  // `found` or `skipped`. `resumed` is true if `stages` are the stages that an earlier run reached.
  virtual Expected<void, std::string> check(const std::vector<DescribedTable>& tables,
                                            std::vector<Stage>& stages, bool resumed) = 0;
  // `written`: the progress that the earlier run recorded.
  virtual Expected<void, std::string> resume(const std::vector<Written>& written) = 0;
  virtual Expected<void, std::string> begin(const std::vector<DescribedTable>& tables) = 0;
  // Fails if an item can never be written, for example because it lacks its key. `before` is the number of
  // items that precede `items` in the source. Requires: check() was called.
  [[nodiscard]] virtual Expected<void, std::string> accept(std::size_t /*table*/,
                                                           std::span<const engine::Item> /*items*/,
                                                           std::uint64_t /*before*/) const {
    return {};
  }
  // Creates a table. Requires: its stage is `making`.
  virtual Expected<void, std::string> make(const DescribedTable& table) = 0;
  // Thread-safe for different parts. `table` is the table's index, and `part` is the part of the source that
  // contains the items.
  virtual Expected<Written, std::string> write(std::size_t table, std::size_t part,
                                               std::span<const engine::Item> items) = 0;
  // Whether all writes go to one file in order. If so, the caller must record each write before the next
  // write begins.
  [[nodiscard]] virtual bool is_one_row() const { return false; }
  // Called when all items of a table that was made are written. Thread-safe; called once per table.
  virtual Expected<void, std::string> complete(const DescribedTable& table) = 0;
  // Called when all tables are finished.
  virtual Expected<void, std::string> end() = 0;
  // The paths of the files that hold a table's items; empty for a server. Requires: end() was called.
  [[nodiscard]] virtual std::vector<std::string> files_of(std::size_t /*table*/) { return {}; }
  // Returns sentences about what was left out. Thread-safe.
  [[nodiscard]] virtual std::vector<std::string> notices() { return {}; }
};

}  // namespace mayfly::transfer
