// THREAD_LOCAL replaces thread_local, so that libmayfly.so can be linked from the same object files as the
// program.
//
// The only thing that a shared library needs beyond a program's objects is that thread-local variables can be
// anywhere, and the global-dynamic TLS model provides that. When linking a program, the linker relaxes it to
// nearly the code that the compiler would have generated otherwise (an instruction or two more).
//
// Rejected: compiling everything a second time as position-independent code.
#pragma once

#define THREAD_LOCAL thread_local __attribute__((tls_model("global-dynamic")))
