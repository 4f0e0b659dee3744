// Functions and buckets over HTTP: one request a call, on a connection of its own; one thread for all of
// them, from the first on.
//
// The URL is asked for exactly as it was given, with Content-Length, never chunked; where an answer leads to
// another place, nobody follows. Hosts are addresses,
// localhost, or names that name_lookup.h finds. So many calls are under way at once that a quarter of the
// process' file descriptors is enough, `calls_max` at most; those that come when there are as many wait in a
// line, and their time runs from when they begin.
//
//   HttpInvoker invoker;
//   auto answer = invoker.post({.url = *Url::parse("http://127.0.0.1:9000/"), .body = "{}"}, {});
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "compat/outbound/invoker.h"
#include "http/keys.h"

namespace mayfly::http {

class HttpInvoker final : public compat::outbound::Invoker {
 public:
  static constexpr std::size_t calls_max = 1024;

  // `key`: with which calls are signed that ask for it; without one they go unsigned.
  explicit HttpInvoker(std::optional<Key> key = {});
  ~HttpInvoker() override;  // nobody hears of what is under way
  void start(compat::outbound::Invocation invocation, std::stop_token stop, Done done) override;
  Expected<void, std::string> prepare() override;

 private:
  class Call;
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace mayfly::http
