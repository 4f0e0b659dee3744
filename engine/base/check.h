// Checks of invariants, enabled in every build.
//
//   MAYFLY_CHECK(!old_image.empty() || !new_image.empty());
//
// A failed check is a bug in Mayfly: no request, file or fault can make a check fail. The handler is called
// with the expression and its location, on the thread that found the failure. When the handler returns or
// throws, the process aborts, because nothing after the check can be relied upon. Without a handler, the
// expression and its location are printed to standard error.
//
// MAYFLY_DEBUG_CHECK is for checks that cost more than 0.5 % of a hot path's instructions. Only engine/values
// has such checks. They are enabled if MAYFLY_DEBUG_CHECKS is defined. It is defined in builds with
// sanitizers, in builds for fuzzing, and in a second build of engine/values, which test programs and the
// simulation link.
#pragma once

namespace mayfly::engine {

struct FailedCheck {
  const char* expression;
  const char* file;  // for example "engine/items/cursor.cc"
  int line;
};

// `context` is the value that was passed to set_check_handler.
using CheckHandler = void (*)(const FailedCheck& failed, void* context);

// Sets the handler of the whole process. nullptr restores the default, which prints to standard error.
// Thread-safe.
void set_check_handler(CheckHandler handler, void* context = nullptr);

[[noreturn, gnu::cold]] void check_failed(const char* expression, const char* file, int line) noexcept;

}  // namespace mayfly::engine

#define MAYFLY_CHECK(...) \
  (static_cast<bool>(__VA_ARGS__) ? void() : ::mayfly::engine::check_failed(#__VA_ARGS__, __FILE__, __LINE__))

#ifdef MAYFLY_DEBUG_CHECKS
#define MAYFLY_DEBUG_CHECK(...) MAYFLY_CHECK(__VA_ARGS__)
#else
#define MAYFLY_DEBUG_CHECK(...) (true ? void() : void(__VA_ARGS__))
#endif
