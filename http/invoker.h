// Functions and buckets over HTTP: one request a call, on a connection of its own; one thread for all of
// them, from the first on.
//
// The URL is asked for exactly as it was given, with Content-Length, never chunked; where an answer leads to
// another place, nobody follows. Hosts are addresses,
// localhost, or names that name_lookup.h finds. So many calls are under way at once that a quarter of the
// process' file descriptors is enough, `calls_max` at most; those that come when there are as many wait in a
// line, and their time runs from when they begin. Answers are bounded, each and all that are on their way
// together: one that is too long is none, and one that finds no room ends its call as unable.
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
  // Of an answer's body: a function's, which is Lambda's limit, and that of who is asked by signed calls, as
  // S3 is.
  static constexpr std::size_t function_answer_bytes_max = 6 * 1024 * 1024 + 100;
  static constexpr std::size_t signed_answer_bytes_max = 16 * 1024 * 1024;
  // Of all together, as far as they have come, or say how long they are.
  static constexpr std::size_t answers_bytes_max = 256 * 1024 * 1024;

  // `key`: with which calls are signed that ask for it; without one they go unsigned. `bytes_max`: other than
  // answers_bytes_max.
  explicit HttpInvoker(std::optional<Key> key = {}, std::size_t bytes_max = answers_bytes_max);
  ~HttpInvoker() override;  // nobody hears of what is under way
  void start(compat::outbound::Invocation invocation, std::stop_token stop, Done done) override;
  Expected<void, std::string> prepare() override;

 private:
  class Call;
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace mayfly::http
