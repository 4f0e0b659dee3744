// Writes tables to a server: creates the tables as described_table.h says, and fills them with
// BatchWriteItem.
//
// Items that a batch leaves unprocessed are put again until all are written. If a page has several items with
// the same key, the last one is written.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/table_files/sink.h"
#include "cli/transfer/endpoint.h"
#include "engine/base/mutex.h"

namespace mayfly::transfer {

struct EndpointSinkOptions {
  IfExists if_exists = IfExists::fail;
  bool items_only = false;
  bool with_ttl = true;
  bool from_server = false;    // the source is a server, so check that no table is its own target
  double write_units_max = 0;  // per second; 0: no limit
};

class EndpointSink final : public Sink {
 public:
  EndpointSink(std::unique_ptr<Endpoint> endpoint, EndpointSinkOptions options)
      : endpoint_(std::move(endpoint)), options_(options), allowance_(options.write_units_max) {}

  Expected<void, std::string> check(const std::vector<DescribedTable>& tables, std::vector<Stage>& stages,
                                    bool resumed) override;
  Expected<void, std::string> resume(const std::vector<Written>& written) override;
  Expected<void, std::string> begin(const std::vector<DescribedTable>& tables) override;
  [[nodiscard]] Expected<void, std::string> accept(std::size_t table, std::span<const engine::Item> items,
                                                   std::uint64_t before) const override;
  Expected<void, std::string> make(const DescribedTable& table) override;
  Expected<Written, std::string> write(std::size_t table, std::size_t part,
                                       std::span<const engine::Item> items) override;
  Expected<void, std::string> complete(const DescribedTable& table) override;
  Expected<void, std::string> end() override { return {}; }
  [[nodiscard]] std::vector<std::string> notices() override;

 private:
  struct Table {
    std::string name;
    std::vector<std::string> keys;
    bool is_ours = false;  // if the table exists, an earlier run created it
  };
  [[nodiscard]] bool has_settings(const DescribedTable& table) const {
    return !options_.items_only && table.is_described();
  }
  // Returns the table's status, or an empty string if the table does not exist. If `found` is not nullptr, it
  // receives the description.
  Expected<std::string, std::string> status_of(const std::string& table, DescribedTable* found = nullptr);
  [[nodiscard]] Unexpected<std::string> is_there_already(const std::string& table) const;
  Expected<void, std::string> await(const std::string& table, const std::string& status);
  Expected<void, std::string> delete_table(const std::string& table);
  Expected<void, std::string> put(const std::string& table, std::span<const std::string> items);
  void notice(std::string sentence);

  const std::unique_ptr<Endpoint> endpoint_;
  const EndpointSinkOptions options_;
  Allowance allowance_;
  std::vector<Table> tables_;  // in the order of the source's tables
  engine::Mutex mutex_;
  std::vector<std::string> notices_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::transfer
