// node_runtime.js: Mayfly's client of the Runtime API for Node.js, because the official one has to be
// compiled on the user's machine.
#pragma once

namespace mayfly::http {

extern const char* const node_runtime;

}  // namespace mayfly::http
