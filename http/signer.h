// Signs requests as AWS's SDKs do, by the calculation that the server checks them with (signature.h).
//
//   sign(request, *url, *key_of_environment(), "us-east-1", now);    // adds X-Amz-Date and Authorization
#pragma once

#include <string_view>

#include "compat/outbound/url.h"
#include "engine/clock.h"
#include "http/client.h"
#include "http/keys.h"

namespace mayfly::http {

// For DynamoDB in a region; all headers that it has are signed.
void sign(ClientRequest& request, const compat::outbound::Url& server, const Key& key,
          std::string_view region, engine::Instant now);

}  // namespace mayfly::http
