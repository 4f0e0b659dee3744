// Every handler of the control API, by the file that defines it. control.cc says what calls it.
#pragma once

#include "compat/control/call.h"

namespace mayfly::compat::control {

// health.cc
Result<void> show_health(Call& call, json::Writer& out);

// await.cc
Result<void> await_change(Call& call, json::Writer& out);

// events.cc
Result<void> follow_events(Call& call, json::Writer& out);

// clock_calls.cc
Result<void> show_clock(Call& call, json::Writer& out);
Result<void> set_clock(Call& call, json::Writer& out);
Result<void> advance_clock(Call& call, json::Writer& out);

// explain.cc
Result<void> explain_item(Call& call, json::Writer& out);

// failpoint_calls.cc
Result<void> show_failpoints(Call& call, json::Writer& out);
Result<void> arm_failpoint(Call& call, json::Writer& out);
Result<void> release_failpoints(Call& call, json::Writer& out);

// shard_calls.cc
Result<void> show_shards(Call& call, json::Writer& out);
Result<void> split_shards(Call& call, json::Writer& out);
Result<void> roll_shards(Call& call, json::Writer& out);

// function_calls.cc
Result<void> show_functions(Call& call, json::Writer& out);
Result<void> put_function(Call& call, json::Writer& out);
Result<void> remove_function(Call& call, json::Writer& out);

// fault_calls.cc
Result<void> show_faults(Call& call, json::Writer& out);
Result<void> put_faults(Call& call, json::Writer& out);
Result<void> clear_faults(Call& call, json::Writer& out);

// metrics_call.cc
Result<void> show_metrics(Call& call, json::Writer& out);

// snapshot_calls.cc
Result<void> take_snapshot(Call& call, json::Writer& out);
Result<void> list_snapshots(Call& call, json::Writer& out);
Result<void> restore_snapshot(Call& call, json::Writer& out);
Result<void> delete_snapshot(Call& call, json::Writer& out);
Result<void> reset_account(Call& call, json::Writer& out);

// ttl_calls.cc
Result<void> show_all_ttl(Call& call, json::Writer& out);
Result<void> show_ttl(Call& call, json::Writer& out);
Result<void> set_ttl_mode(Call& call, json::Writer& out);
Result<void> sweep_table(Call& call, json::Writer& out);
Result<void> show_upcoming(Call& call, json::Writer& out);

}  // namespace mayfly::compat::control
