// Declares all handlers of the control API, by the file that defines them. control.cc maps routes to them.
#pragma once

#include "compat/control/call.h"

namespace mayfly::compat::control {

// account_calls.cc
Result<json::Tree> list_accounts(Call& call);

// trigger_calls.cc
Result<json::Tree> list_triggers(Call& call);

// health.cc
Result<json::Tree> show_health(Call& call);

// await.cc
Result<json::Tree> await_change(Call& call);

// events.cc
Result<json::Tree> follow_events(Call& call);

// clock_calls.cc
Result<json::Tree> show_clock(Call& call);
Result<json::Tree> set_clock(Call& call);
Result<json::Tree> advance_clock(Call& call);

// explain.cc
Result<json::Tree> explain_item(Call& call);

// failpoint_calls.cc
Result<json::Tree> show_failpoints(Call& call);
Result<json::Tree> arm_failpoint(Call& call);
Result<json::Tree> release_failpoints(Call& call);

// shard_calls.cc
Result<json::Tree> show_shards(Call& call);
Result<json::Tree> split_shards(Call& call);
Result<json::Tree> roll_shards(Call& call);

// function_calls.cc
Result<json::Tree> show_functions(Call& call);
Result<json::Tree> put_function(Call& call);
Result<json::Tree> remove_function(Call& call);

// fault_calls.cc
Result<json::Tree> show_faults(Call& call);
Result<json::Tree> put_faults(Call& call);
Result<json::Tree> clear_faults(Call& call);

// job_calls.cc
Result<json::Tree> list_jobs(Call& call);
Result<json::Tree> show_job(Call& call);
Result<json::Tree> show_job_log(Call& call);
Result<json::Tree> await_jobs(Call& call);

// metrics_call.cc
Result<json::Tree> show_metrics(Call& call);

// snapshot_calls.cc
Result<json::Tree> take_snapshot(Call& call);
Result<json::Tree> list_snapshots(Call& call);
Result<json::Tree> restore_snapshot(Call& call);
Result<json::Tree> delete_snapshot(Call& call);
Result<json::Tree> reset_account(Call& call);

// replication_calls.cc
Result<json::Tree> show_replication(Call& call);
Result<json::Tree> set_replication(Call& call);
Result<json::Tree> reset_replication(Call& call);
Result<json::Tree> settle_replication(Call& call);

// ttl_calls.cc
Result<json::Tree> show_all_ttl(Call& call);
Result<json::Tree> show_ttl(Call& call);
Result<json::Tree> set_ttl_mode(Call& call);
Result<json::Tree> sweep_table(Call& call);
Result<json::Tree> show_upcoming(Call& call);

}  // namespace mayfly::compat::control
