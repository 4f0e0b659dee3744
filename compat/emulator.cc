#include "compat/emulator.h"

#include <condition_variable>
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
#include "engine/base/mutex.h"
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
    options.database.report = std::move(report);  // Jobs and Restores use it below: jobs/jobs.h
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
      ttl_cooldown_(options.ttl_cooldown),
      collection_bytes_max_(options.collection_bytes_max),
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
          std::make_unique<triggers::Triggers>(*database_, std::move(options.triggers), std::move(files))) {
  for (const std::string& account : database_->accounts().ids()) accounts_.add(account);
}

Emulator::~Emulator() = default;

namespace {

// "a fault struck PutItem of account 000000000000: ThrottlingException"
std::string sentence_of(const Fault& fault, const Operation& operation, const engine::Scope& scope) {
  std::string what;
  const auto add = [&](std::string_view text) { what.append(what.empty() ? "" : ", ").append(text); };
  if (fault.delay().count() > 0) add(std::to_string(fault.delay().count()) + " ms delay");
  if (fault.unprocessed > 0) add("items left unprocessed");
  if (fault.error) add(error_name(fault.error->kind));
  if (fault.closes) add("connection closed");
  if (fault.runs && (fault.error || fault.closes)) add("after the operation ran");
  return "a fault struck " + std::string(operation.name) + " of account " + scope.account + ": " + what;
}

// Sleeps until the time has passed or `stop` is requested.
void sleep(std::chrono::milliseconds time, const std::stop_token& stop) {
  engine::Mutex mutex;
  engine::Lock lock(mutex);
  std::condition_variable_any().wait_for(lock, stop, time, [] { return false; });
}

}  // namespace

Answer Emulator::execute(const engine::Scope& scope, std::string_view target, std::string_view body,
                         std::string_view host, const std::stop_token& stop) {
  return execute(scope, operation_number(target), body, host, stop);
}

Answer Emulator::execute(const engine::Scope& scope, std::optional<OperationNumber> number,
                         std::string_view body, std::string_view host, const std::stop_token& stop) {
  if (!number) return error_answer(error::unknown_operation().error);
  const engine::Stopwatch stopwatch;
  Answer answer = execute_known(scope, *all_operations()[*number], body, host, stop);
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

Answer Emulator::execute_known(const engine::Scope& scope, const Operation& operation, std::string_view body,
                               std::string_view host, const std::stop_token& stop) {
  if (const auto admitted = accounts_.admit(scope.account); !admitted) return error_answer(admitted.error());
  Context context{*database_, table_changes_, *kinesis_, *jobs_, *buckets_,
                  *backups_,  *restores_,     scope,     host};
  context.ttl_cooldown = ttl_cooldown_;
  context.collection_bytes_max = collection_bytes_max_;
  context.tables_max = limits_.tables_max;
  return faults_.any() ? run_with_faults(context, operation, body, stop) : run(context, operation, body);
}

Answer Emulator::run(Context& context, const Operation& operation, std::string_view body) {
  const auto request = database_->accounts().of(context.scope.account).begin_request();
  const auto room = request_memory_.room_for(body);
  return dispatch(context, operation, body);
}

Answer Emulator::run_with_faults(Context& context, const Operation& operation, std::string_view body,
                                 const std::stop_token& stop) {
  const engine::Scope& scope = context.scope;
  const Fault fault = [&] {
    const auto room = request_memory_.room_for(body);
    return faults_.judge(scope, operation, body);
  }();
  if (fault.delay_before.count() > 0) sleep(fault.delay_before, stop);
  context.unprocessed = fault.unprocessed;
  context.lag = [&](std::string_view table) { return faults_.lag(scope, operation, table); };
  Answer answer;
  if (fault.runs) answer = run(context, operation, body);
  if (const auto& notice = database_->options().notice; notice && fault.struck())
    notice(sentence_of(fault, operation, scope));
  if (fault.delay_after.count() > 0 && late_answers_.add(answer.body.capacity())) {
    sleep(fault.delay_after, stop);
    late_answers_.subtract(answer.body.capacity());
  }
  if (fault.closes) return {.status = Answer::no_status};
  return fault.error ? error_answer(*fault.error) : answer;
}

}  // namespace mayfly::compat
