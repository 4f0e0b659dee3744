// attempt() runs a unit of work and handles the two exceptions that work may throw. The rules below apply to
// every thread. They say which exceptions are thrown, where these exceptions are caught, and what happens to
// all other exceptions.
//
// Any unit of work can fail for two reasons that are not bugs: storage fails (StorageFault), or memory runs
// out (std::bad_alloc). Code that runs such units one after another (requests, steps of tasks, batches of
// expiries) runs each unit in attempt() and decides what to do if the unit fails: return a 500, or pause and
// retry. A unit that failed has changed nothing, or has left a state from which work can continue.
//
// Errors of a client or of the network are values (expected.h) and are never thrown. Any other exception is
// therefore a bug in Mayfly. It is not caught, so the process ends where the exception was thrown, with the
// exception's message on stderr and the stack intact. Mayfly neither continues with half-done work nor hides
// the bug behind a 500.
//
//   const bool done = attempt([&] { return walk.step(items); }, [&](std::string_view) { return false; });
#pragma once

#include <new>
#include <string_view>
#include <utility>

#include "engine/base/storage_fault.h"

namespace mayfly::engine {

// Returns the result of `work`. If `work` fails, returns the result of `failed`, which gets the reason as a
// sentence.
template <class Work, class Failed>
decltype(auto) attempt(Work&& work, Failed&& failed) {
  try {
    return std::forward<Work>(work)();
  } catch (const StorageFault& fault) {
    return std::forward<Failed>(failed)(std::string_view(fault.what()));
  } catch (const std::bad_alloc&) {
    return std::forward<Failed>(failed)(std::string_view("out of memory"));
  }
}

}  // namespace mayfly::engine
