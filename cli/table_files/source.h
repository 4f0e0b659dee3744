// The source of a transfer: a server, a directory, a file or an AWS export.
//
//   for (std::size_t part = 0; part < source->parts(); ++part) {       // possibly in parallel
//     auto pages = source->open(part, "");                             // or from a page's cursor
//     for (bool last = false; !last;) { auto page = (*pages)->next(); … last = page->last; }
//   }
//
// A page has at most about a megabyte. Errors are human-readable sentences.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/table_files/described_table.h"
#include "engine/base/clock.h"
#include "engine/base/expected.h"
#include "engine/values/attribute_value.h"

namespace mayfly::transfer {

struct Page {
  std::size_t table = 0;  // an index in Source::tables
  std::vector<engine::Item> items;
  std::string cursor;  // the next page begins there
  bool last = false;   // there is no next page
};

class Pages {
 public:
  virtual ~Pages() = default;
  virtual Expected<Page, std::string> next() = 0;  // Requires: the previous page was not the last one.
};

class Source {
 public:
  virtual ~Source() = default;
  [[nodiscard]] virtual const std::vector<DescribedTable>& tables() const = 0;
  [[nodiscard]] virtual std::size_t parts() const = 0;
  // Returns the indexes of the tables whose items a part may contain.
  [[nodiscard]] virtual std::vector<std::size_t> tables_of(std::size_t part) const = 0;
  // Thread-safe. An empty `cursor` means the beginning.
  virtual Expected<std::unique_ptr<Pages>, std::string> open(std::size_t part, const std::string& cursor) = 0;
  [[nodiscard]] virtual bool can_resume() const { return true; }
  // The first page if it was read when the source was opened; otherwise nullptr.
  [[nodiscard]] virtual const Page* first_page() const { return nullptr; }
  // Whether a retry would fail with the same errors, because they are caused by a file's contents.
  [[nodiscard]] virtual bool fails_for_good() const { return false; }
  // When the items were read, if that was before this transfer.
  [[nodiscard]] virtual std::optional<engine::Instant> taken_at() const { return std::nullopt; }
  // Sentences about table settings that could not be read.
  [[nodiscard]] virtual std::vector<std::string> notices() const { return {}; }
};

// Limits for one transfer. AWS allows at most 10,000 tables per account.
inline constexpr std::size_t tables_max = 10'000;
inline constexpr std::size_t data_files_max = 100'000;
inline constexpr std::size_t page_items_max = 1000;
inline constexpr std::size_t page_bytes_max = 1024 * 1024;

// The tables to transfer: names, or patterns with * and ?.
class Selection {
 public:
  Selection(std::vector<std::string> patterns, bool all) : patterns_(std::move(patterns)), all_(all) {}
  [[nodiscard]] bool has(const std::string& table) const;
  [[nodiscard]] bool is_all() const { return all_; }
  [[nodiscard]] const std::vector<std::string>& patterns() const { return patterns_; }
  // Returns a sentence about the patterns that match none of `tables`, or an empty string if each pattern
  // matches a table.
  [[nodiscard]] std::string unmet(const std::vector<DescribedTable>& tables, const std::string& where) const;

 private:
  std::vector<std::string> patterns_;
  bool all_;
};

}  // namespace mayfly::transfer
