// THREAD_LOCAL instead of thread_local, so that libmayfly.so is linked of the very objects that the program is linked of.
//
// All that a shared library needs beyond what a program's objects have is that each thread's variables can be anywhere.
// This says so; where a program is linked, the linker writes what the compiler would have written otherwise, but for an
// instruction or two. Rejected: to compile everything a second time, position-independent.
#pragma once

#define THREAD_LOCAL thread_local __attribute__((tls_model("global-dynamic")))
