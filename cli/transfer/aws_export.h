// An export of AWS's (ExportTableToPointInTime, or Mayfly's), as `aws s3 sync` brings it here: a directory
// with manifest-summary.json, manifest-files.json and data/*.gz, in DynamoDB JSON or Ion.
//
//   TRY(const auto summary, AwsExportSource::summary_at("exports"));
//   AwsExportSource::open("exports", summary, selection)
//
// Of the table it says the name alone. Of several exports in one directory the path says which; incremental
// ones, which are changes, are refused.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/transfer/data_pages.h"
#include "cli/transfer/source.h"

namespace mayfly::transfer {

class AwsExportSource final : public Source {
 public:
  // The manifest-summary.json that this path means; empty: it means none. An error: there are several.
  static Expected<std::string, std::string> summary_at(const std::string& path);
  // `path` is the one that was named, and `summary_path` what summary_at says of it.
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
