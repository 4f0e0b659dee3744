// Makes requests for tests of signature checks.
//
//   http::Request request = signed_request({.now = noon});            // POST /, ListTables, signed
//   authenticate(request, "us-east-1", {.keys = &keys, .now = noon})
#pragma once

#include <string>

#include "engine/base/clock.h"
#include "http/access/keys.h"
#include "http/requests/request.h"
#include "tests/support/http_client.h"

namespace mayfly::testing {

// An unsigned request that keeps every header unchanged.
http::Request request_of(std::string_view method, std::string_view target, const Headers& headers,
                         std::string_view body = {});

struct Signing {
  http::Key key{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"};
  std::string method = "POST", target = "/", host = "127.0.0.1:8000", region = "us-east-1";
  Headers headers = {{"X-Amz-Target", "DynamoDB_20120810.ListTables"}};
  std::string body = "{}";
  engine::Instant now = 0;
};
// A request signed by the commands' signer (http/outbound/signer.h).
http::Request signed_request(const Signing& signing);
// The bytes of that request.
std::string signed_bytes(const Signing& signing);

}  // namespace mayfly::testing
