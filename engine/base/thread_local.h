// THREAD_LOCAL replaces thread_local, so that libmayfly.so can be linked from the same object files as the
// program.
//
// A program's object files lack only one thing that a shared library needs: code that finds thread-local
// variables regardless of the address at which the library is loaded. The global-dynamic TLS model provides
// this code. When linking a program, the linker relaxes this model to nearly the code that the compiler would
// have generated otherwise (an instruction or two more).
//
// Rejected: compiling everything a second time as position-independent code.
#pragma once

#define THREAD_LOCAL thread_local __attribute__((tls_model("global-dynamic")))
