// What exceptions may be thrown, who catches them, and what becomes of the others: for every thread.
//
// Two failures can befall any piece of work and are no mistake of its: storage fails (StorageFault), memory
// runs out (std::bad_alloc). Whoever does one piece after the other for somebody else, a request, a task's
// step, a lot of expiries, attempts each of them, and says what is done where one fails: a 500, a pause and
// another try. A piece that failed has changed nothing, or what can be gone on with.
//
// What a client or the network does wrong is a value (expected.h) and thrown by nobody. So whatever else is
// thrown is a mistake of ours. Nobody catches it: it ends the process where it was thrown, with its words on
// stderr and the stack as it was, instead of going on with what is half done or hiding behind a 500.
//
//   const bool done = attempt([&] { return walk.step(items); }, [&](std::string_view) { return false; });
#pragma once

#include <new>
#include <string_view>
#include <utility>

#include "engine/storage_fault.h"

namespace mayfly::engine {

// What `work` returns or, if it fails, what `failed` makes of a sentence that says why.
template <class Work, class Failed>
decltype(auto) attempt(Work&& work, Failed&& failed) {
  try {
    return std::forward<Work>(work)();
  } catch (const StorageFault& fault) {
    return std::forward<Failed>(failed)(std::string_view(fault.what()));
  } catch (const std::bad_alloc&) {
    return std::forward<Failed>(failed)(std::string_view("memory ran out"));
  }
}

}  // namespace mayfly::engine
