// Functions over HTTP: one POST a call, on a connection of its own.
//
// The URL is posted exactly as it was given, with Content-Length, never chunked. Hosts are addresses, localhost, or
// names that name_lookup.h finds.
//
//   HttpInvoker invoker;
//   auto answer = invoker.post({.url = *Url::parse("http://127.0.0.1:9000/"), .body = "{}"}, {});
#pragma once

#include "compat/triggers/invoker.h"

namespace mayfly::http {

class HttpInvoker final : public compat::triggers::Invoker {
 public:
  Expected<compat::triggers::InvocationAnswer, compat::triggers::InvocationFailure> post(
      const compat::triggers::Invocation& invocation, std::stop_token stop) override;
};

}  // namespace mayfly::http
