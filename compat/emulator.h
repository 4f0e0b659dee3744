// Runs operations on a database, which the Emulator owns. The HTTP server serves an Emulator, and mayfly.h
// embeds one.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "compat/buckets/buckets.h"
#include "compat/dispatch.h"
#include "compat/faults.h"
#include "compat/kinesis/kinesis_options.h"
#include "compat/known_accounts.h"
#include "compat/lambda/trigger_options.h"
#include "compat/limits.h"
#include "compat/metrics.h"
#include "compat/request_memory.h"
#include "compat/server_metrics.h"
#include "compat/streams/live_changes.h"
#include "compat/tables/changes.h"
#include "engine/database.h"

namespace mayfly::compat {

namespace backups {
class Backups;
class Restores;
}  // namespace backups
namespace jobs {
class Jobs;
}
namespace triggers {
class DestinationDirectory;
class Triggers;
}  // namespace triggers

struct EmulatorOptions {
  engine::DatabaseOptions database;
  // Called with a message when data looks like a user's mistake, such as a TTL that can never expire its
  // item. May be called by any thread, possibly one that holds locks.
  std::function<void(std::string_view)> warn;
  std::string region = "us-east-1";  // for requests that do not name a region
  bool shared_regions = false;       // use `region` for all requests, even if they name another region
  // How long tables stay CREATING, UPDATING and DELETING, in real time. Zero: changes take effect
  // immediately.
  std::chrono::milliseconds table_delay{0};
  TableChanges::HostClock host_clock = &engine::host_time;  // measures table_delay
  // How long UpdateTimeToLive rejects another change to the same table, by the account's clock. AWS rejects
  // such changes for half an hour.
  std::chrono::milliseconds ttl_cooldown{0};
  // The maximum size of an item collection; nullopt: unlimited.
  std::optional<std::size_t> collection_bytes_max;
  // Whether tables can be restored to the current time. If false, the latest restorable time is five minutes
  // ago, as on AWS.
  bool exact_recovery = false;
  // How many items a restore copies before it responds; it copies the rest in the background.
  std::size_t restored_at_once_max = 250'000;
  Limits limits;
  triggers::TriggerOptions triggers;
  kinesis::KinesisOptions kinesis;
  buckets::BucketOptions buckets;
};

// How long an operation occupies its thread.
enum class Expectation : unsigned char {
  short_work,
  long_work,
  waiting,       // waits for locks on its tables, or for the disk
  whole_tables,  // takes time proportional to the size of a table
};

class Emulator {
 public:
  // On failure, returns a human-readable message.
  static Expected<std::unique_ptr<Emulator>, std::string> open(EmulatorOptions options);
  ~Emulator();

  // Runs one operation. `target` is X-Amz-Target, such as "DynamoDB_20120810.PutItem". `host` is the Host
  // header, which DescribeEndpoints returns. A fault can delay the call until `stop` is requested, or leave
  // the client without a response: the status is then Answer::no_status. Thread-safe.
  Answer execute(const engine::Scope& scope, std::string_view target, std::string_view body,
                 std::string_view host = {}, const std::stop_token& stop = {});
  // Like the overload above, for an operation that the caller has already looked up (dispatch.h). nullopt
  // means that the operation does not exist.
  Answer execute(const engine::Scope& scope, std::optional<OperationNumber> operation, std::string_view body,
                 std::string_view host = {}, const std::stop_token& stop = {});

  // Returns how long a request for this operation usually takes. A particular request can take longer; if the
  // caller of `execute` has a Hurry (engine/base/hurry.h), the request is then abandoned.
  [[nodiscard]] Expectation expectation(OperationNumber operation) const;

  [[nodiscard]] engine::Database& database() { return *database_; }
  [[nodiscard]] TableChanges& table_changes() { return table_changes_; }
  [[nodiscard]] kinesis::Destinations& kinesis() { return *kinesis_; }
  [[nodiscard]] jobs::Jobs& jobs() { return *jobs_; }
  [[nodiscard]] const backups::Backups& backups() const { return *backups_; }
  [[nodiscard]] backups::Restores& restores() { return *restores_; }
  [[nodiscard]] triggers::Triggers& triggers() { return *triggers_; }
  [[nodiscard]] const buckets::Buckets& buckets() const { return *buckets_; }
  [[nodiscard]] const std::string& region() const { return region_; }
  // Returns the scope that a request for `asked` acts on. Callers that act on behalf of a request must use
  // the returned scope.
  [[nodiscard]] engine::Scope scope_of(engine::Scope asked) const {
    if (shared_regions_) asked.region = region_;
    return asked;
  }
  [[nodiscard]] Faults& faults() { return faults_; }
  [[nodiscard]] const Faults& faults() const { return faults_; }
  [[nodiscard]] const Metrics& metrics() const { return metrics_; }
  [[nodiscard]] const Limits& limits() const { return limits_; }
  // Requires: a caller that does not go through `execute` calls admit() before it uses an account. The calls
  // in triggers/rest.h are exempt, because they act only on accounts that already have a stream or a mapping.
  [[nodiscard]] KnownAccounts& accounts() { return accounts_; }
  [[nodiscard]] ServerMetrics& server_metrics() { return server_metrics_; }
  // For code that parses request bodies outside `execute`.
  [[nodiscard]] RequestMemory& request_memory() { return request_memory_; }
  [[nodiscard]] LiveChanges& live_changes() { return live_changes_; }

 private:
  Answer run(const engine::Scope& scope, const Operation& operation, std::string_view body,
             std::string_view host, const std::stop_token& stop);
  Emulator(std::unique_ptr<engine::Database> database, EmulatorOptions options,
           std::unique_ptr<triggers::DestinationDirectory> files, std::unique_ptr<buckets::Buckets> buckets);

  std::unique_ptr<engine::Database> database_;
  TableChanges table_changes_;
  const Limits limits_;
  KnownAccounts accounts_{limits_.accounts_max};
  std::string region_;
  bool shared_regions_;
  RequestMemory request_memory_{limits_.parsed_bytes_max};
  Faults faults_{*database_, request_memory_};
  Metrics metrics_{all_operations().size()};
  ServerMetrics server_metrics_;
  LiveChanges live_changes_{*database_};
  const std::unique_ptr<buckets::Buckets> buckets_;
  std::unique_ptr<kinesis::Destinations> kinesis_;
  std::unique_ptr<jobs::Jobs> jobs_;
  std::unique_ptr<backups::Backups> backups_;
  std::unique_ptr<backups::Restores> restores_;
  std::unique_ptr<triggers::Triggers> triggers_;
  const Services services_;
};

}  // namespace mayfly::compat
