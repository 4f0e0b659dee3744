#include "compat/emulator.h"

#include <system_error>
#include <utility>

#include "compat/backups/backups.h"
#include "compat/backups/restores.h"
#include "compat/jobs/jobs.h"
#include "compat/kinesis/destinations.h"
#include "compat/lambda/destination_directory.h"
#include "compat/settings/settings.h"
#include "compat/tables/ttl_mistakes.h"
#include "compat/triggers/triggers.h"
#include "engine/base/stopwatch.h"
#include "engine/base/storage_fault.h"
#include "engine/tables/catalog.h"

namespace mayfly::compat {

Expected<std::unique_ptr<Emulator>, std::string> Emulator::open(EmulatorOptions options) {
  TRY(auto files, triggers::DestinationDirectory::open(options.triggers.destination_directory));
  TRY(auto buckets, buckets::Buckets::open(std::move(options.buckets)));
  try {
    if (options.warn) {
      options.database.never_expires = [warn = std::move(options.warn)](
                                           const engine::Table& table, const engine::Item& key,
                                           engine::NeverReason reason, const engine::AttributeValue& ttl) {
        warn(never_warning(table, key, reason, ttl));
      };
    }
    auto report = options.database.report;
    TRY(auto database, engine::Database::open(std::move(options.database)));
    options.database.report = std::move(report);  // for Jobs and Restores (jobs/jobs.h)
    return std::unique_ptr<Emulator>(
        new Emulator(std::move(database), std::move(options), std::move(files), std::move(buckets)));
  } catch (const engine::StorageFault& fault) {
    return Unexpected{std::string("cannot read the data directory: ") + fault.what()};
  } catch (const std::system_error& failure) {
    return Unexpected{std::string("cannot start a thread: ") + failure.what()};
  }
}

Emulator::Emulator(std::unique_ptr<engine::Database> database, EmulatorOptions options,
                   std::unique_ptr<triggers::DestinationDirectory> files,
                   std::unique_ptr<buckets::Buckets> buckets)
    : database_(std::move(database)),
      table_changes_(options.table_delay, std::move(options.host_clock)),
      limits_(options.limits),
      region_(std::move(options.region)),
      shared_regions_(options.shared_regions),
      buckets_(std::move(buckets)),
      kinesis_(std::make_unique<kinesis::Destinations>(*database_, std::move(options.kinesis))),
      jobs_(std::make_unique<jobs::Jobs>(*database_, options.database.report)),
      backups_(std::make_unique<backups::Backups>(*database_, limits_.backups_max, options.exact_recovery)),
      restores_(std::make_unique<backups::Restores>(*database_, *backups_, table_changes_,
                                                    std::move(options.database.report),
                                                    options.restored_at_once_max)),
      triggers_(
          std::make_unique<triggers::Triggers>(*database_, std::move(options.triggers), std::move(files))),
      services_{*database_,
                table_changes_,
                *kinesis_,
                *jobs_,
                *buckets_,
                *backups_,
                *restores_,
                options.ttl_cooldown,
                options.collection_bytes_max,
                limits_.tables_max} {
  for (const std::string& account : database_->accounts().ids()) accounts_.add(account);
}

Emulator::~Emulator() = default;

Answer Emulator::execute(const engine::Scope& scope, std::string_view target, std::string_view body,
                         std::string_view host, const std::stop_token& stop) {
  return execute(scope, operation_number(target), body, host, stop);
}

Answer Emulator::execute(const engine::Scope& scope, std::optional<OperationNumber> number,
                         std::string_view body, std::string_view host, const std::stop_token& stop) {
  if (!number) return error_answer(error::unknown_operation().error);
  const engine::Stopwatch stopwatch;
  Answer answer = run(scope, *all_operations()[*number], body, host, stop);
  metrics_.record(*number, answer.status, stopwatch.elapsed());
  return answer;
}

Expectation Emulator::expectation(OperationNumber number) const {
  const Operation* const operation = all_operations()[number];
  if (operation->extent == Extent::whole_tables) return Expectation::whole_tables;
  const bool waits_for_disk = operation->access == Access::writes && database_->health().syncs();
  if (operation->access == Access::control || waits_for_disk) return Expectation::waiting;
  return operation->extent == Extent::several_commits ? Expectation::long_work : Expectation::short_work;
}

Answer Emulator::run(const engine::Scope& scope, const Operation& operation, std::string_view body,
                     std::string_view host, const std::stop_token& stop) {
  if (const auto admitted = accounts_.admit(scope.account); !admitted) return error_answer(admitted.error());
  Context context{services_, scope, host};
  const auto run = [&] {
    const auto request = database_->accounts().of(scope.account).begin_request();
    const auto room = request_memory_.room_for(body);
    return dispatch(context, operation, body);
  };
  return faults_.any() ? faults_.run(context, operation, body, stop, run) : run();
}

}  // namespace mayfly::compat
