// Tables in one file or pipe, which contains lines of plain text and may be compressed with gzip or
// Zstandard.
//
//   {"Tables":[{"Table":{"TableName":"carts",…}},…]}      the first line describes the tables
//                                                         (described_table.h)
//   {"Table":"carts"}                                     the items that follow are of this table
//   {"Item":{"id":{"S":"1"},…}}
//   {"End":{"carts":1}}                                   the last line has the numbers of items
//
// A file that has only {"Item":…} lines, as for ImportTable, has items of the one table that the user named.
// The same is true of the layouts of item_file.h that hold items of only one table.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/table_files/directory.h"
#include "cli/table_files/files.h"
#include "cli/table_files/item_file.h"
#include "cli/table_files/sink.h"
#include "cli/table_files/source.h"
#include "cli/table_files/unpacked_text.h"
#include "engine/base/mutex.h"

namespace mayfly::transfer {

class Lines;  // in table_file.cc

class TableFileSource final : public Source {
 public:
  // The path "-" means standard input. Unless the transfer is resumed, this function reads the first page, so
  // that a file of another kind is rejected before anything is changed.
  static Expected<std::unique_ptr<Source>, std::string> open(const std::string& path,
                                                             const Selection& selection, bool is_resumed);
  explicit TableFileSource(std::string path);
  ~TableFileSource() override;

  [[nodiscard]] const std::vector<DescribedTable>& tables() const override { return tables_; }
  [[nodiscard]] std::size_t parts() const override { return 1; }
  [[nodiscard]] std::vector<std::size_t> tables_of(std::size_t part) const override;
  // Requires: called at most once.
  Expected<std::unique_ptr<Pages>, std::string> open(std::size_t part, const std::string& cursor) override;
  [[nodiscard]] bool can_resume() const override { return path_ != "-"; }
  [[nodiscard]] std::optional<engine::Instant> taken_at() const override { return taken_at_; }
  [[nodiscard]] std::vector<std::string> notices() const override;
  [[nodiscard]] const Page* first_page() const override { return first_ ? &*first_ : nullptr; }
  [[nodiscard]] bool fails_for_good() const override { return true; }

 private:
  Expected<void, std::string> keep_batch(const Selection& selection);
  Expected<void, std::string> name_table(const Selection& selection, const std::string& name);
  Expected<void, std::string> read_first_line(const Selection& selection);
  Expected<std::unique_ptr<Pages>, std::string> pages_from(std::uint64_t passed);

  const std::string path_;
  std::vector<DescribedTable> tables_;
  std::optional<engine::Instant> taken_at_;
  std::optional<ItemLayout> layout_;
  std::unique_ptr<UnpackedText> text_;           // for a file in a layout of item_file.h
  std::vector<std::vector<engine::Item>> kept_;  // items of a batch-write-item file, by table
  std::unique_ptr<Lines> lines_;                 // for other files: the lines after the first one
  std::string first_line_;                       // the first line, if the file has only {"Item":…} lines
  bool items_only_ = false;
  std::unique_ptr<Pages> pages_;  // the pages after the first one
  std::optional<Page> first_;
  bool is_cut_short_ = false;
};

class TableFileSink final : public Sink {
 public:
  // The path "-" means standard output.
  explicit TableFileSink(FileSinkOptions options, bool replaces)
      : options_(std::move(options)), replaces_(replaces) {}

  Expected<void, std::string> check(const std::vector<DescribedTable>& tables, std::vector<Stage>& stages,
                                    bool resumed) override;
  Expected<void, std::string> resume(const std::vector<Written>& written) override;
  Expected<void, std::string> begin(const std::vector<DescribedTable>& tables) override;
  Expected<void, std::string> make(const DescribedTable& table) override;
  Expected<Written, std::string> write(std::size_t table, std::size_t part,
                                       std::span<const engine::Item> items) override;
  [[nodiscard]] bool is_one_row() const override { return true; }
  Expected<void, std::string> complete(const DescribedTable& table) override;
  Expected<void, std::string> end() override;
  [[nodiscard]] std::vector<std::string> files_of(std::size_t /*table*/) override { return {options_.path}; }

 private:
  Expected<void, std::string> append(const std::string& text) REQUIRES(mutex_);

  const FileSinkOptions options_;
  const bool replaces_;
  std::vector<std::string> names_;
  engine::Mutex mutex_;
  std::unique_ptr<GrowingFile> file_ GUARDED_BY(mutex_);
  std::map<std::size_t, std::uint64_t> items_ GUARDED_BY(mutex_);  // by table
};

}  // namespace mayfly::transfer
