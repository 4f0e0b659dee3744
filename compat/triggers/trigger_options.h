// What the triggers are given when Mayfly starts.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "compat/outbound/invoker.h"
#include "compat/triggers/functions.h"

namespace mayfly::compat::triggers {

struct TriggerOptions {
  std::shared_ptr<outbound::Invoker> invoker;  // empty: no function can be reached
  std::map<std::string, Function> functions;   // of every account
  std::size_t functions_max = 1'000;           // that all accounts may register
  std::size_t mappings_max = 1'000;            // of all accounts
  std::string destination_directory;           // below it failed batches may go to files; empty: nowhere
};

}  // namespace mayfly::compat::triggers
