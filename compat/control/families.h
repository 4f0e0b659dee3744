// The families of control calls. Each family has a file that describes the family's calls and handles them.
#pragma once

#include "compat/calls/call.h"
#include "compat/calls/description.h"

namespace mayfly::compat::control {

std::span<const ControlCall> account_calls();
std::span<const ControlCall> await_calls();
std::span<const ControlCall> clock_calls();
std::span<const ControlCall> event_calls();
std::span<const ControlCall> explain_calls();
std::span<const ControlCall> failpoint_calls();
std::span<const ControlCall> fault_calls();
std::span<const ControlCall> function_calls();
std::span<const ControlCall> health_calls();
std::span<const ControlCall> job_calls();
std::span<const ControlCall> metrics_calls();
std::span<const ControlCall> replication_calls();
std::span<const ControlCall> shard_calls();
std::span<const ControlCall> snapshot_calls();
std::span<const ControlCall> trigger_calls();
std::span<const ControlCall> ttl_calls();

}  // namespace mayfly::compat::control
