// Signs requests as AWS's SDKs do. The server checks signatures with the same calculation (signature.h).
//
//   sign(request, body, *url, *key_of_environment(), {"dynamodb", "us-east-1"}, now);
//       // adds X-Amz-Date and Authorization; for S3 also X-Amz-Content-Sha256
#pragma once

#include <string_view>

#include "compat/outbound/invoker.h"
#include "compat/outbound/url.h"
#include "engine/base/clock.h"
#include "http/access/keys.h"
#include "http/outbound/client.h"

namespace mayfly::http {

// Signs all headers that the request has, and `body`, which is sent with it. Ignores request.body.
void sign(ClientRequest& request, std::string_view body, const compat::outbound::Url& server, const Key& key,
          const compat::outbound::SigningScope& scope, engine::Instant now);

}  // namespace mayfly::http
