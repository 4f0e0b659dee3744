// Reads tables of a server by parallel Scans, each table in several segments.
//
// If clients write during the scan, the result need not be a state that the table ever had: an item that is
// written during the scan may be missing or present.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/table_files/source.h"
#include "cli/transfer/endpoint.h"

namespace mayfly::transfer {

struct EndpointSourceOptions {
  std::size_t segments = 4;
  bool consistent = false;
  bool items_only = false;    // request nothing about a table except its description
  double read_units_max = 0;  // per second; 0: no limit
};

class EndpointSource final : public Source {
 public:
  static Expected<std::unique_ptr<Source>, std::string> open(std::unique_ptr<Endpoint> endpoint,
                                                             const Selection& selection,
                                                             EndpointSourceOptions options);
  EndpointSource(std::unique_ptr<Endpoint> endpoint, EndpointSourceOptions options)
      : endpoint_(std::move(endpoint)), options_(options), allowance_(options.read_units_max) {}

  [[nodiscard]] const std::vector<DescribedTable>& tables() const override { return tables_; }
  [[nodiscard]] std::size_t parts() const override { return tables_.size() * options_.segments; }
  [[nodiscard]] std::vector<std::size_t> tables_of(std::size_t part) const override {
    return {part / options_.segments};
  }
  Expected<std::unique_ptr<Pages>, std::string> open(std::size_t part, const std::string& cursor) override;
  [[nodiscard]] std::vector<std::string> notices() const override { return notices_; }

 private:
  Expected<void, std::string> find_tables(const Selection& selection);
  Expected<void, std::string> describe(DescribedTable& table);
  // Requests something that a server may not support or may deny. On failure, returns null and adds a notice,
  // unless the failure's name is in `means_none`.
  json::Tree ask_if_known(const char* operation, const json::Tree& body, const std::string& table,
                          std::initializer_list<std::string_view> means_none = {});
  // Returns the member `list`, joined from all pages of the answer.
  json::Tree ask_for_all(const char* operation, json::Tree request, const char* list,
                         const std::string& table);
  // Adds notices about settings that are not copied because they make sense only at the source.
  void name_what_stays(const DescribedTable& table);

  const std::unique_ptr<Endpoint> endpoint_;
  const EndpointSourceOptions options_;
  Allowance allowance_;
  std::vector<DescribedTable> tables_;
  std::vector<std::string> notices_;
};

}  // namespace mayfly::transfer
