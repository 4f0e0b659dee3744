// Options of the triggers, set when Mayfly starts.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "compat/lambda/functions.h"
#include "compat/outbound/invoker.h"

namespace mayfly::compat::triggers {

// Lambda's quota of filters per mapping, and the maximum to which Lambda raises it.
inline constexpr std::size_t filters_quota = 5, filters_quota_raised = 10;

struct TriggerOptions {
  std::shared_ptr<outbound::Invoker> invoker;          // empty: no function can be reached
  std::map<std::string, Function> functions;           // available to every account
  std::size_t functions_max = 1'000;                   // limit for all accounts together
  std::size_t mappings_max = 1'000;                    // limit for all accounts together
  std::size_t filters_max = filters_quota;             // per mapping; at most filters_quota_raised
  std::size_t held_bytes_max = std::size_t{32} << 20;  // limit for waiting records: held_records.h
  std::string destination_directory;                   // for failed batches; empty: no file destinations
};

}  // namespace mayfly::compat::triggers
