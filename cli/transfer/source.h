// Where tables come from: a server, a directory, a file, an export of AWS's.
//
//   for (std::size_t part = 0; part < source->parts(); ++part) {       // beside each other, if you like
//     auto pages = source->open(part, "");                             // or from a page's cursor on
//     for (bool last = false; !last;) { auto page = (*pages)->next(); … last = page->last; }
//   }
//
// A page has about a megabyte at most. Errors are sentences.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/transfer/described_table.h"
#include "engine/attribute_value.h"
#include "engine/clock.h"
#include "engine/expected.h"

namespace mayfly::transfer {

struct Page {
  std::size_t table = 0;  // in Source::tables
  std::vector<engine::Item> items;
  std::string cursor;  // what comes behind it begins there
  bool last = false;   // nothing comes behind it
};

class Pages {
 public:
  virtual ~Pages() = default;
  virtual Expected<Page, std::string> next() = 0;  // Requires: the one before was not the last.
};

class Source {
 public:
  virtual ~Source() = default;
  [[nodiscard]] virtual const std::vector<DescribedTable>& tables() const = 0;
  [[nodiscard]] virtual std::size_t parts() const = 0;
  // The tables whose items a part may have, by index.
  [[nodiscard]] virtual std::vector<std::size_t> tables_of(std::size_t part) const = 0;
  // Thread-safe. `cursor`: empty, for the beginning.
  virtual Expected<std::unique_ptr<Pages>, std::string> open(std::size_t part, const std::string& cursor) = 0;
  [[nodiscard]] virtual bool can_resume() const { return true; }
  // The first page, where it was read when the source was opened.
  [[nodiscard]] virtual const Page* first_page() const { return nullptr; }
  // Whether an error of its pages would come again: it is about what a file contains.
  [[nodiscard]] virtual bool fails_for_good() const { return false; }
  // When its items were read, where that was before now.
  [[nodiscard]] virtual std::optional<engine::Instant> taken_at() const { return std::nullopt; }
  // Sentences about what it could not say of its tables.
  [[nodiscard]] virtual std::vector<std::string> notices() const { return {}; }
};

// Of one transfer. AWS allows an account 10,000 tables at most.
inline constexpr std::size_t tables_max = 10'000;
inline constexpr std::size_t data_files_max = 100'000;
inline constexpr std::size_t page_items_max = 1000;
inline constexpr std::size_t page_bytes_max = 1024 * 1024;

// Which tables somebody wants: names or patterns with * and ?.
class Selection {
 public:
  Selection(std::vector<std::string> patterns, bool all) : patterns_(std::move(patterns)), all_(all) {}
  [[nodiscard]] bool has(const std::string& table) const;
  [[nodiscard]] bool is_all() const { return all_; }
  [[nodiscard]] const std::vector<std::string>& patterns() const { return patterns_; }
  // The patterns that none of these tables fits, as a sentence; empty: each has one.
  [[nodiscard]] std::string unmet(const std::vector<DescribedTable>& tables, const std::string& where) const;

 private:
  std::vector<std::string> patterns_;
  bool all_;
};

}  // namespace mayfly::transfer
