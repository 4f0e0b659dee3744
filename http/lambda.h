// Lambda's REST API over HTTP: compat/triggers/rest answers, here are its headers and whose mappings it is
// about.
#pragma once

#include <stop_token>

#include "http/reply.h"
#include "http/request.h"

namespace mayfly::compat {
class Emulator;
}

namespace mayfly::http {

struct SignatureRules;

// Requires: is_rest_path knows the request's path.
Reply lambda(const Request& request, compat::Emulator& emulator, const SignatureRules& rules,
             std::stop_token stop);

}  // namespace mayfly::http
