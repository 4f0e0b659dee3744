// A directory of tables, as written by `mayfly export --to DIR` and read by import and `serve --schema`.
//
//   DIR/manifest.json                 the contents, with counts and SHA-256 sums; written last
//   DIR/carts/table.json              the table (described_table.h)
//   DIR/carts/data/0000.json.gz       one {"Item":{…}} per line, one gzip member per page
//
// A directory without a manifest is incomplete.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/table_files/data_pages.h"
#include "cli/table_files/files.h"
#include "cli/table_files/sink.h"
#include "cli/table_files/source.h"
#include "engine/base/mutex.h"

namespace mayfly::transfer {

inline constexpr const char* directory_manifest = "manifest.json";
inline constexpr const char* directory_journal = "export.journal";

class DirectorySource final : public Source {
 public:
  static Expected<std::unique_ptr<Source>, std::string> open(const std::string& path,
                                                             const Selection& selection);

  [[nodiscard]] const std::vector<DescribedTable>& tables() const override { return tables_; }
  [[nodiscard]] std::size_t parts() const override { return files_.size(); }
  [[nodiscard]] std::vector<std::size_t> tables_of(std::size_t part) const override {
    return {files_[part].first};
  }
  Expected<std::unique_ptr<Pages>, std::string> open(std::size_t part, const std::string& cursor) override;
  [[nodiscard]] std::optional<engine::Instant> taken_at() const override { return taken_at_; }

 private:
  std::optional<engine::Instant> taken_at_;
  std::vector<DescribedTable> tables_;
  std::vector<std::pair<std::size_t, DataFile>> files_;  // each file with the index of its table
};

struct FileSinkOptions {
  std::string path;
  bool items_only = false;
  bool compressed = true;
  json::Tree about = json::Tree::object();  // members of the manifest: the source and the time
};

class DirectorySink final : public Sink {
 public:
  explicit DirectorySink(FileSinkOptions options) : options_(std::move(options)) {}

  Expected<void, std::string> check(const std::vector<DescribedTable>& tables, std::vector<Stage>& stages,
                                    bool resumed) override;
  Expected<void, std::string> resume(const std::vector<Written>& written) override;
  Expected<void, std::string> begin(const std::vector<DescribedTable>& tables) override;
  Expected<void, std::string> make(const DescribedTable& table) override;
  Expected<Written, std::string> write(std::size_t table, std::size_t part,
                                       std::span<const engine::Item> items) override;
  Expected<void, std::string> complete(const DescribedTable& table) override;
  Expected<void, std::string> end() override;
  [[nodiscard]] std::vector<std::string> files_of(std::size_t table) override;

 private:
  struct Open {
    std::unique_ptr<GrowingFile> file;
    Written written;
  };
  Expected<Open*, std::string> file_of(std::size_t table, std::size_t part);

  const FileSinkOptions options_;
  std::shared_ptr<const Directory> directory_;  // set by resume()
  std::vector<std::string> names_;              // names of the tables
  engine::Mutex mutex_;
  std::map<std::string, Open> files_ GUARDED_BY(mutex_);  // an entry is used only by its part
};

// Whether the path does not exist or is an empty directory.
bool is_vacant(const std::string& path);

}  // namespace mayfly::transfer
