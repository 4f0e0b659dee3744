// Where tables go: a server, a directory, a file.
//
// Errors are sentences. What was written is there when `write` returns, whatever becomes of the process then:
// who writes down what it returned, and hands it to the next run's sink, goes on from there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cli/transfer/described_table.h"
#include "engine/attribute_value.h"
#include "engine/expected.h"

namespace mayfly::transfer {

enum class IfExists : std::uint8_t { fail, skip, append, replace };

// How far a file has come; of a server it has no name.
struct Written {
  std::string file{};
  std::size_t table = 0;
  std::uint64_t bytes = 0, items = 0;
};

// How far a table's making has come.
enum class Stage : std::uint8_t {
  nothing,   // it may be there, and be somebody else's
  making,    // if it is there, it is ours
  made,      // items may come
  found,     // it was there, items may come, and its settings stay
  finished,  // with all its settings and items
  skipped    // it was there, and stays as it is
};

class Sink {
 public:
  virtual ~Sink() = default;
  // Looks whether all can be done, and changes nothing; a table's stage becomes `found` or `skipped`.
  // `resumed`: the stages are those that another run came to.
  virtual Expected<void, std::string> check(const std::vector<DescribedTable>& tables,
                                            std::vector<Stage>& stages, bool resumed) = 0;
  // What the run before has written.
  virtual Expected<void, std::string> resume(const std::vector<Written>& written) = 0;
  virtual Expected<void, std::string> begin(const std::vector<DescribedTable>& tables) = 0;
  // An error if an item can never be written, such as one without its key. `before`: how many items of the
  // source precede them. Requires: check() was called.
  [[nodiscard]] virtual Expected<void, std::string> accept(std::size_t /*table*/,
                                                           std::span<const engine::Item> /*items*/,
                                                           std::uint64_t /*before*/) const {
    return {};
  }
  // Of a table in the stage `making`.
  virtual Expected<void, std::string> make(const DescribedTable& table) = 0;
  // Thread-safe, but for one part. `table`: its index; `part`: the source's.
  virtual Expected<Written, std::string> write(std::size_t table, std::size_t part,
                                               std::span<const engine::Item> items) = 0;
  // What is written is in one row: who writes it down does so before anybody else writes.
  [[nodiscard]] virtual bool is_one_row() const { return false; }
  // All items are in, of a table that was made. Thread-safe, one call a table.
  virtual Expected<void, std::string> complete(const DescribedTable& table) = 0;
  // All tables are finished.
  virtual Expected<void, std::string> end() = 0;
  // The paths of the files that hold a table's items; none if it is a server. Requires: end() was called.
  [[nodiscard]] virtual std::vector<std::string> files_of(std::size_t /*table*/) { return {}; }
  // Sentences about what it left out. Thread-safe.
  [[nodiscard]] virtual std::vector<std::string> notices() { return {}; }
};

}  // namespace mayfly::transfer
