// Reads an export by AWS (ExportTableToPointInTime) or by Mayfly, as copied by `aws s3 sync`: a directory
// with manifest-summary.json, manifest-files.json and data/*.gz, in DynamoDB JSON or Ion.
//
//   TRY(const auto summary, AwsExportSource::summary_at("exports"));
//   AwsExportSource::open("exports", summary, selection)
//
// The export names its table and says nothing else about the table. If a directory has several exports, the
// path must select one. Incremental exports are rejected, because they contain changes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/table_files/data_pages.h"
#include "cli/table_files/source.h"

namespace mayfly::transfer {

class AwsExportSource final : public Source {
 public:
  // Returns the path of the manifest-summary.json that `path` refers to, or an empty string if there is no
  // such file. Several such files are an error.
  static Expected<std::string, std::string> summary_at(const std::string& path);
  // `path` is the path that the user gave, and `summary_path` is the result of summary_at(path).
  static Expected<std::unique_ptr<Source>, std::string> open(const std::string& path,
                                                             const std::string& summary_path,
                                                             const Selection& selection);

  [[nodiscard]] const std::vector<DescribedTable>& tables() const override { return tables_; }
  [[nodiscard]] std::size_t parts() const override { return files_.size(); }
  [[nodiscard]] std::vector<std::size_t> tables_of(std::size_t /*part*/) const override { return {0}; }
  Expected<std::unique_ptr<Pages>, std::string> open(std::size_t part, const std::string& cursor) override;
  [[nodiscard]] std::optional<engine::Instant> taken_at() const override { return taken_at_; }

 private:
  std::optional<engine::Instant> taken_at_;
  std::vector<DescribedTable> tables_;
  std::vector<DataFile> files_;
};

}  // namespace mayfly::transfer
