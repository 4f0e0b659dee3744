// Implements mayfly/mayfly_c.h.
#include "mayfly/mayfly_c.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compat/emulator.h"
#include "compat/json/json_tree.h"
#include "embed/calls.h"
#include "embed/options_json.h"
#include "engine/base/attempt.h"
#include "engine/base/gate.h"
#include "engine/base/mutex.h"
#include "engine/base/storage_fault.h"
#include "engine/values/account_id.h"
#include "engine/values/region.h"
#include "http/connections/server.h"
#include "http/requests/request.h"
#include "mayfly/mayfly.h"
#include "os/process.h"
#include "os/signals.h"

namespace mayfly::embed {
namespace {

constexpr std::size_t word_bytes_max = 65'535, endpoints_max = 64;

// The pointers through which the caller receives the answer.
class Out {
 public:
  Out(char** answer, std::size_t* bytes) : answer_(answer), bytes_(bytes) { set(nullptr, 0); }

  // Sets the answer to `text` and returns `result`. If the answer cannot be allocated, returns
  // MAYFLY_NO_MEMORY instead, unless `result` is an error.
  int say(int result, std::string_view text) {
    if (answer_ == nullptr) {
      if (bytes_ != nullptr) *bytes_ = text.size();
      return result;
    }
    char* const copy = static_cast<char*>(std::malloc(text.size() + 1));
    if (copy == nullptr) return result < 0 ? result : MAYFLY_NO_MEMORY;
    if (!text.empty()) std::memcpy(copy, text.data(), text.size());
    copy[text.size()] = '\0';
    set(copy, text.size());
    return result;
  }

 private:
  void set(char* text, std::size_t bytes) {
    if (answer_ != nullptr) *answer_ = text;
    if (bytes_ != nullptr) *bytes_ = bytes;
  }
  char** answer_;
  std::size_t* bytes_;
};

int say_closed(Out& out) { return out.say(MAYFLY_CLOSED, "this handle is not open"); }
int say_forked(Out& out) {
  return out.say(
      MAYFLY_FORKED,
      "Mayfly was opened before fork(), and its threads exist only in the parent process; use the parent's "
      "endpoint or call exec()");
}

// The emulator and the endpoints of a handle, until the handle is closed.
class Opened {
 public:
  explicit Opened(std::unique_ptr<compat::Emulator> emulator) : emulator_(std::move(emulator)) {}

  // Calls `call` with the emulator. The emulator cannot be closed during the call.
  template <class Call>
  int with_emulator(Out& out, Call call) {
    const std::shared_lock held(calls_);
    return emulator_ == nullptr ? say_closed(out) : call(*emulator_, stop_.get_token());
  }

  // Returns false if the limit on endpoints is reached.
  // Requires: the caller is a `call` of with_emulator().
  bool keep(std::unique_ptr<http::Server> endpoint) {
    const engine::Lock lock(mutex_);
    if (endpoints_.size() == endpoints_max) return false;
    endpoints_.push_back(std::move(endpoint));
    return true;
  }

  // Waits for calls in progress, stops the endpoints and closes the emulator.
  void close() {
    stop_.request_stop();
    const std::lock_guard alone(calls_);
    {
      const engine::Lock lock(mutex_);
      endpoints_.clear();
    }
    emulator_.reset();
  }

 private:
  engine::Gate calls_;  // calls hold it shared, and close() holds it exclusively
  std::stop_source stop_;
  std::unique_ptr<compat::Emulator> emulator_;
  engine::Mutex mutex_;
  std::vector<std::unique_ptr<http::Server>> endpoints_ GUARDED_BY(mutex_);
};

// Handles are numbers cast to pointers, because C does not stop a caller from using a pointer after it was
// freed.
class Handles {
 public:
  mayfly_handle* add(std::shared_ptr<Opened> opened) {
    const engine::Lock lock(mutex_);
    opened_.emplace(++last_, std::move(opened));
    return reinterpret_cast<mayfly_handle*>(last_);
  }
  // Returns nullptr if the handle is not open.
  std::shared_ptr<Opened> find(const mayfly_handle* handle) {
    const engine::Lock lock(mutex_);
    const auto found = opened_.find(reinterpret_cast<std::uintptr_t>(handle));
    return found == opened_.end() ? nullptr : found->second;
  }
  // Like find(), but also removes the handle.
  std::shared_ptr<Opened> take(const mayfly_handle* handle) {
    const engine::Lock lock(mutex_);
    auto taken = opened_.extract(reinterpret_cast<std::uintptr_t>(handle));
    return taken ? std::move(taken.mapped()) : nullptr;
  }
  std::map<std::uintptr_t, std::shared_ptr<Opened>> take_all() {
    const engine::Lock lock(mutex_);
    return std::exchange(opened_, {});
  }

 private:
  engine::Mutex mutex_;
  std::uintptr_t last_ GUARDED_BY(mutex_) = 0;
  std::map<std::uintptr_t, std::shared_ptr<Opened>> opened_ GUARDED_BY(mutex_);
};

// Returns all handles of the process. They are global because C callers have no object that could own them,
// and are never destroyed because a thread may use them until the process exits.
Handles& handles() {
  static auto* const all = new Handles;
  return *all;
}

// The ID of the process that opened the first handle, or 0 if no handle has been opened.
std::atomic<std::uint64_t> owner{0};

bool is_forked() {
  const std::uint64_t opened_in = owner.load(std::memory_order_relaxed);
  return opened_in != 0 && opened_in != os::process_id();
}

// Runs at process exit, before the objects that open emulators depend on are destroyed.
void close_all() {
  if (is_forked()) return;
  for (const auto& [number, opened] : handles().take_all()) opened->close();
}

// Returns `text`, which ends with a NUL, as a string. Returns nullopt if `text` is NULL or too long.
std::optional<std::string_view> word(const char* text) {
  if (text == nullptr) return std::nullopt;
  const std::size_t bytes = strnlen(text, word_bytes_max + 1);
  return bytes > word_bytes_max ? std::nullopt : std::optional(std::string_view(text, bytes));
}

// Returns the `bytes` bytes at `text` as a string. Returns nullopt if `text` is NULL and `bytes` is not zero.
std::optional<std::string_view> body_of(const char* text, std::size_t bytes) {
  if (text == nullptr) return bytes == 0 ? std::optional(std::string_view()) : std::nullopt;
  return std::string_view(text, bytes);
}

// Returns an error message, or an empty string if both arguments are valid. NULL is valid.
std::string_view problem_of(const char* account, const char* region) {
  if (account != nullptr && !engine::is_account_id(word(account).value_or("")))
    return "account must be NULL or twelve digits";
  if (region != nullptr && !engine::is_region(word(region).value_or("")))
    return "region must be NULL or up to 64 letters, digits, '-', '_' and '.'";
  return {};
}

// Every function of the C API does its work through this function, which reports storage failures and lack of
// memory. Any other exception is a bug and ends the process (engine/base/attempt.h).
template <class Work>
int guarded(Out& out, Work work) noexcept {
  if (is_forked()) return say_forked(out);
  try {
    return work();
  } catch (const engine::StorageFault& fault) {
    return out.say(MAYFLY_FAILED, fault.what());
  } catch (const std::bad_alloc&) {
    return out.say(MAYFLY_NO_MEMORY, "out of memory");
  }
}

// Makes a call for an account of an open emulator and sets the answer.
template <class Call>
int answered(mayfly_handle* handle, const char* account, const char* region, Out& out, Call call) {
  if (const auto problem = problem_of(account, region); !problem.empty())
    return out.say(MAYFLY_INVALID, problem);
  const auto opened = handles().find(handle);
  if (opened == nullptr) return say_closed(out);
  return opened->with_emulator(out, [&](compat::Emulator& emulator, const std::stop_token& stop) {
    const engine::Scope scope =
        scope_of(account == nullptr ? "" : account, region == nullptr ? "" : region, emulator);
    const compat::Answer answer = engine::attempt(
        [&] { return call(emulator, scope, stop); },
        [](std::string_view) { return compat::error_answer(compat::error::internal_server_error().error); });
    if (answer.status == compat::Answer::no_status) return out.say(MAYFLY_NO_ANSWER, compat::closed_by_fault);
    return out.say(answer.status, answer.body);
  });
}

int controlled(mayfly_handle* handle, const char* account, const char* region, Out& out,
               std::string_view method, std::string_view path, std::string_view body) {
  return answered(handle, account, region, out,
                  [&](compat::Emulator& emulator, const engine::Scope& scope, const std::stop_token& stop) {
                    return control(emulator, scope, method, path, body, stop);
                  });
}

// Returns 413, as an HTTP endpoint does.
int say_too_large(Out& out) { return out.say(413, ""); }

}  // namespace
}  // namespace mayfly::embed

using namespace mayfly;         // NOLINT(*-using-namespace): C has none
using namespace mayfly::embed;  // NOLINT(*-using-namespace)

const char* mayfly_version(void) { return MAYFLY_VERSION; }

int mayfly_open(const char* options, size_t options_bytes, mayfly_handle** handle, char** answer,
                size_t* answer_bytes) {
  Out out(answer, answer_bytes);
  if (handle == nullptr) return out.say(MAYFLY_INVALID, "handle must not be NULL");
  *handle = nullptr;
  return guarded(out, [&] {
    const auto text = body_of(options, options_bytes);
    if (!text) return out.say(MAYFLY_INVALID, "options is NULL, but options_bytes is not 0");
    auto settings = open_options(*text);
    if (!settings) return out.say(MAYFLY_INVALID, settings.error());
    owner = os::process_id();
    const os::SignalsBlocked signals_blocked;
    auto emulator = compat::Emulator::open(*std::move(settings));
    if (!emulator) return out.say(MAYFLY_FAILED, emulator.error());
    *handle = handles().add(std::make_shared<Opened>(*std::move(emulator)));
    // Register close_all() now, so that it runs before the objects of the first emulator are destroyed.
    [[maybe_unused]] static const bool registered = (os::at_exit(&close_all), true);
    return static_cast<int>(MAYFLY_DONE);
  });
}

int mayfly_execute(mayfly_handle* handle, const char* account, const char* region, const char* operation,
                   const char* body, size_t body_bytes, char** answer, size_t* answer_bytes) {
  Out out(answer, answer_bytes);
  return guarded(out, [&] {
    const auto name = word(operation), text = body_of(body, body_bytes);
    if (!name || !text) return out.say(MAYFLY_INVALID, "operation and body are required");
    if (text->size() > http::body_bytes_max) return say_too_large(out);
    return answered(handle, account, region, out,
                    [&](compat::Emulator& emulator, const engine::Scope& scope, const std::stop_token& stop) {
                      return execute(emulator, scope, *name, *text, stop);
                    });
  });
}

int mayfly_control(mayfly_handle* handle, const char* account, const char* region, const char* method,
                   const char* path, const char* body, size_t body_bytes, char** answer,
                   size_t* answer_bytes) {
  Out out(answer, answer_bytes);
  return guarded(out, [&] {
    const auto verb = word(method), where = word(path), text = body_of(body, body_bytes);
    if (!verb || !where || !text) return out.say(MAYFLY_INVALID, "method, path and body are required");
    if (text->size() > http::body_bytes_max) return say_too_large(out);
    return controlled(handle, account, region, out, *verb, *where, *text);
  });
}

int mayfly_advance(mayfly_handle* handle, const char* account, const char* region, int64_t milliseconds,
                   char** answer, size_t* answer_bytes) {
  Out out(answer, answer_bytes);
  return guarded(out, [&] {
    return controlled(handle, account, region, out, "POST", "/_mayfly/clock/advance",
                      json::print({{"seconds", json::seconds(milliseconds)}}));
  });
}

int mayfly_serve(mayfly_handle* handle, const char* options, size_t options_bytes, char** answer,
                 size_t* answer_bytes) {
  Out out(answer, answer_bytes);
  return guarded(out, [&] {
    const auto text = body_of(options, options_bytes);
    if (!text) return out.say(MAYFLY_INVALID, "options is NULL, but options_bytes is not 0");
    const auto opened = handles().find(handle);
    if (opened == nullptr) return say_closed(out);
    auto settings = serve_options(*text);
    if (!settings) return out.say(MAYFLY_INVALID, settings.error());
    return opened->with_emulator(out, [&](compat::Emulator& emulator, const std::stop_token&) {
      const os::SignalsBlocked signals_blocked;
      auto server = http::Server::start(emulator, *std::move(settings));
      if (!server) return out.say(MAYFLY_FAILED, server.error());
      const std::string said = json::print({{"url", (*server)->url()}, {"port", (*server)->port()}});
      if (!opened->keep(*std::move(server)))
        return out.say(MAYFLY_FAILED, "this handle already has 64 endpoints, the maximum");
      return out.say(MAYFLY_DONE, said);
    });
  });
}

int mayfly_close(mayfly_handle* handle) {
  Out out(nullptr, nullptr);
  return guarded(out, [&] {
    const auto opened = handles().take(handle);
    if (opened == nullptr) return static_cast<int>(MAYFLY_CLOSED);
    opened->close();
    return static_cast<int>(MAYFLY_DONE);
  });
}

void mayfly_free(char* answer) { std::free(answer); }

int mayfly_set_check_handler(mayfly_check_handler handler, void* context) {
  Out out(nullptr, nullptr);
  return guarded(out, [&] {
    if (handler == nullptr) {
      set_check_handler(nullptr);
    } else {
      set_check_handler([handler, context](const FailedCheck& failed) {
        handler(failed.expression.data(), failed.file.data(), failed.line, context);  // both end with a NUL
      });
    }
    return static_cast<int>(MAYFLY_DONE);
  });
}
