// Owns the database and its clock; answers operations. What http serves and mayfly.h embeds.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "compat/dispatch.h"
#include "compat/table_changes.h"
#include "engine/database.h"

namespace mayfly::compat {

struct EmulatorOptions {
  engine::DatabaseOptions database;
  std::string region = "us-east-1";  // of requests that name none
  // How long tables stay CREATING, UPDATING and DELETING, in real time. None: they settle at once.
  std::chrono::milliseconds table_delay{0};
};

class Emulator {
 public:
  // The error is a sentence for people.
  static Expected<std::unique_ptr<Emulator>, std::string> open(EmulatorOptions options);

  // Thread-safe. `target` is X-Amz-Target: "DynamoDB_20120810.PutItem". `host` is the Host header, which
  // DescribeEndpoints answers.
  Answer execute(const engine::Scope& scope, std::string_view target, std::string_view body,
                 std::string_view host = {});

  [[nodiscard]] engine::Database& database() { return *database_; }
  [[nodiscard]] const std::string& region() const { return region_; }

 private:
  Emulator(std::unique_ptr<engine::Database> database, EmulatorOptions options)
      : database_(std::move(database)), table_changes_(options.table_delay), region_(std::move(options.region)) {}
  std::unique_ptr<engine::Database> database_;
  TableChanges table_changes_;
  std::string region_;
};

}  // namespace mayfly::compat
