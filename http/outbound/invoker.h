// Calls functions and buckets over HTTP: one request per call, each on its own connection. One thread serves
// all calls; it starts with the first call.
//
// - The URL is requested exactly as given, with Content-Length and never chunked. Redirects are not followed.
// - Hosts are addresses, localhost, or names that name_lookup.h finds.
// - At most `calls_max` calls run at once, or a quarter of the limit on file descriptors if that is lower.
//   Further calls wait in a queue; their time limit starts when they begin.
// - Each response is limited in size, and so is the total of all pending responses. A response that is too
//   long is discarded. A call whose response would exceed the total fails with Kind::unable.
//
//   HttpInvoker invoker;
//   auto answer = invoker.post({.url = *Url::parse("http://127.0.0.1:9000/"), .body = "{}"}, {});
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "compat/outbound/invoker.h"
#include "http/access/keys.h"

namespace mayfly::http {

class HttpInvoker final : public compat::outbound::Invoker {
 public:
  static constexpr std::size_t calls_max = 1024;
  // Maximum size of a response's body: from a function (Lambda's limit), and from a service that is called
  // with a signature, such as S3.
  static constexpr std::size_t function_answer_bytes_max = 6 * 1024 * 1024 + 100;
  static constexpr std::size_t signed_answer_bytes_max = 16 * 1024 * 1024;
  // Maximum size of all responses together, counting the bytes that have arrived or that Content-Length has
  // announced.
  static constexpr std::size_t answers_bytes_max = 256 * 1024 * 1024;

  // `key` signs the calls that ask for a signature; without a key, these calls are sent unsigned. `bytes_max`
  // replaces answers_bytes_max.
  explicit HttpInvoker(std::optional<Key> key = {}, std::size_t bytes_max = answers_bytes_max);
  ~HttpInvoker() override;  // `done` of pending calls is not called
  void start(compat::outbound::Invocation invocation, std::stop_token stop, Done done) override;
  Expected<void, std::string> prepare() override;

 private:
  class Call;
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace mayfly::http
