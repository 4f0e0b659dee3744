// Owns the database and its clock; answers operations. What http serves and mayfly.h embeds.
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
#include "compat/limits.h"
#include "compat/metrics.h"
#include "compat/request_memory.h"
#include "compat/server_metrics.h"
#include "compat/streams/live_changes.h"
#include "compat/tables/changes.h"
#include "compat/triggers/trigger_options.h"
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
  // Told of what looks like a user's mistake, in a sentence: a TTL that can never expire its item. By any
  // thread, which may hold locks.
  std::function<void(std::string_view)> warn;
  std::string region = "us-east-1";  // of requests that name none
  bool shared_regions = false;       // all requests are about that region, whichever they name
  // How long tables stay CREATING, UPDATING and DELETING, in real time. None: they settle at once.
  std::chrono::milliseconds table_delay{0};
  TableChanges::HostClock host_clock = &engine::host_time;  // by which that delay passes
  // How long UpdateTimeToLive refuses to change a table again, by its account's clock. AWS: half an hour.
  std::chrono::milliseconds ttl_cooldown{0};
  // How large an item collection may grow; nothing: nobody looks at that.
  std::optional<std::size_t> collection_bytes_max;
  // Tables can be gone back to their present, not only to what they were five minutes ago, as on AWS.
  bool exact_recovery = false;
  // Items that a restore brings back before it is answered; the rest comes in the background.
  std::size_t restored_at_once_max = 250'000;
  Limits limits;
  triggers::TriggerOptions triggers;
  kinesis::KinesisOptions kinesis;
  buckets::BucketOptions buckets;
};

// How long an operation keeps its thread.
enum class Expectation : unsigned char {
  short_work,
  long_work,
  waiting,       // for locks of its tables, or for the disk
  whole_tables,  // as long as a table is large
};

class Emulator {
 public:
  // The error is a sentence for people.
  static Expected<std::unique_ptr<Emulator>, std::string> open(EmulatorOptions options);
  ~Emulator();

  // Thread-safe. `target` is X-Amz-Target: "DynamoDB_20120810.PutItem". `host` is the Host header, which
  // DescribeEndpoints answers. A fault may make it wait until `stop` is requested, or leave the client
  // without an answer: then the status is Answer::no_status.
  Answer execute(const engine::Scope& scope, std::string_view target, std::string_view body,
                 std::string_view host = {}, const std::stop_token& stop = {});

  // By the operation alone. An operation can take longer than expected: then `execute` in a Hurry
  // (engine/hurry.h) gives it up.
  [[nodiscard]] Expectation expectation(std::string_view target) const;

  [[nodiscard]] engine::Database& database() { return *database_; }
  [[nodiscard]] TableChanges& table_changes() { return table_changes_; }
  [[nodiscard]] kinesis::Destinations& kinesis() { return *kinesis_; }
  [[nodiscard]] jobs::Jobs& jobs() { return *jobs_; }
  [[nodiscard]] const backups::Backups& backups() const { return *backups_; }
  [[nodiscard]] backups::Restores& restores() { return *restores_; }
  [[nodiscard]] triggers::Triggers& triggers() { return *triggers_; }
  [[nodiscard]] const buckets::Buckets& buckets() const { return *buckets_; }
  [[nodiscard]] const std::string& region() const { return region_; }
  // What a request is about that names `asked`. Who asks in the name of a request goes by it.
  [[nodiscard]] engine::Scope scope_of(engine::Scope asked) const {
    if (shared_regions_) asked.region = region_;
    return asked;
  }
  [[nodiscard]] Faults& faults() { return faults_; }
  [[nodiscard]] const Faults& faults() const { return faults_; }
  [[nodiscard]] const Metrics& metrics() const { return metrics_; }
  [[nodiscard]] const Limits& limits() const { return limits_; }
  // Who calls anything else than `execute` for an account asks first.
  [[nodiscard]] KnownAccounts& accounts() { return accounts_; }
  [[nodiscard]] ServerMetrics& server_metrics() { return server_metrics_; }
  // For who parses a request's body outside of `execute`.
  [[nodiscard]] RequestMemory& request_memory() { return request_memory_; }
  [[nodiscard]] LiveChanges& live_changes() { return live_changes_; }

 private:
  Answer execute(const engine::Scope& scope, const Operation& operation, std::string_view body,
                 std::string_view host, const std::stop_token& stop);
  Answer run(Context& context, const Operation& operation, std::string_view body);
  Answer run_with_faults(Context& context, const Operation& operation, std::string_view body,
                         const std::stop_token& stop);
  Emulator(std::unique_ptr<engine::Database> database, EmulatorOptions options,
           std::unique_ptr<triggers::DestinationDirectory> files, std::unique_ptr<buckets::Buckets> buckets);

  std::unique_ptr<engine::Database> database_;
  TableChanges table_changes_;
  std::chrono::milliseconds ttl_cooldown_;
  std::optional<std::size_t> collection_bytes_max_;
  const Limits limits_;
  KnownAccounts accounts_{limits_.accounts_max};
  std::string region_;
  bool shared_regions_;
  LateAnswers late_answers_;
  Faults faults_{database_->recent_writes()};
  RequestMemory request_memory_{limits_.parsed_bytes_max};
  Metrics metrics_{all_operations().size()};
  ServerMetrics server_metrics_;
  LiveChanges live_changes_{*database_};
  const std::unique_ptr<buckets::Buckets> buckets_;
  std::unique_ptr<kinesis::Destinations> kinesis_;
  std::unique_ptr<jobs::Jobs> jobs_;
  std::unique_ptr<backups::Backups> backups_;
  std::unique_ptr<backups::Restores> restores_;
  std::unique_ptr<triggers::Triggers> triggers_;
};

}  // namespace mayfly::compat
