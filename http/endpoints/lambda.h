// The HTTP side of Lambda's REST API: maps headers, and selects the account and region of the mappings that
// the request is about. compat/triggers/rest makes the answers.
#pragma once

#include <stop_token>

#include "http/requests/reply.h"
#include "http/requests/request.h"

namespace mayfly::compat {
class Emulator;
}

namespace mayfly::http {

struct SignatureRules;

// Requires: the request's route is an invocation or lambda.
Reply lambda(const Request& request, compat::Emulator& emulator, const SignatureRules& rules,
             std::stop_token stop);

}  // namespace mayfly::http
