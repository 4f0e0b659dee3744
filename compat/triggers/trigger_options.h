// What the triggers are given when Mayfly starts.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "compat/outbound/invoker.h"
#include "compat/triggers/functions.h"

namespace mayfly::compat::triggers {

// Lambda's quota of filters for a mapping, and the most that it raises it to.
inline constexpr std::size_t filters_quota = 5, filters_quota_raised = 10;

struct TriggerOptions {
  std::shared_ptr<outbound::Invoker> invoker;          // empty: no function can be reached
  std::map<std::string, Function> functions;           // of every account
  std::size_t functions_max = 1'000;                   // that all accounts may register
  std::size_t mappings_max = 1'000;                    // of all accounts
  std::size_t filters_max = filters_quota;             // of a mapping, at most filters_quota_raised
  std::size_t held_bytes_max = std::size_t{32} << 20;  // of waiting records: held_records.h
  std::string destination_directory;  // below it failed batches may go to files; empty: nowhere
};

}  // namespace mayfly::compat::triggers
