// Tables in one file, or in what flows through a pipe: lines, by itself or in gzip or Zstandard.
//
//   {"Tables":[{"Table":{"TableName":"carts",…}},…]}      the first line: what there is (described_table.h)
//   {"Table":"carts"}                                     items of this table from here on
//   {"Item":{"id":{"S":"1"},…}}
//   {"End":{"carts":1}}                                   the last line: how many there were
//
// A file of items alone, which is what ImportTable takes, is one of the table that was asked for.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/transfer/directory.h"
#include "cli/transfer/files.h"
#include "cli/transfer/sink.h"
#include "cli/transfer/source.h"
#include "engine/mutex.h"

namespace mayfly::transfer {

class Lines;  // in table_file.cc

class TableFileSource final : public Source {
 public:
  // "-": standard input.
  static Expected<std::unique_ptr<Source>, std::string> open(const std::string& path,
                                                             const Selection& selection);
  explicit TableFileSource(std::string path);
  ~TableFileSource() override;

  [[nodiscard]] const std::vector<DescribedTable>& tables() const override { return tables_; }
  [[nodiscard]] std::size_t parts() const override { return 1; }
  [[nodiscard]] std::vector<std::size_t> tables_of(std::size_t part) const override;
  Expected<std::unique_ptr<Pages>, std::string> open(std::size_t part, const std::string& cursor) override;
  [[nodiscard]] bool can_resume() const override { return path_ != "-"; }
  [[nodiscard]] std::optional<engine::Instant> taken_at() const override { return taken_at_; }

 private:
  const std::string path_;
  std::vector<DescribedTable> tables_;
  std::optional<engine::Instant> taken_at_;
  bool items_only_ = false;
  std::unique_ptr<Lines> lines_;  // behind the first line
  std::string first_;             // of a file of items alone: its first line
};

class TableFileSink final : public Sink {
 public:
  // "-": standard output.
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
