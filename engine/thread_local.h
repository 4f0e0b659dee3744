// THREAD_LOCAL, not thread_local: so libmayfly.so is linked of the same objects as the program.
//
// All that it needs beyond what a program's objects have is that a thread's variables can be anywhere. This
// says so; in a program the linker writes what the compiler would have, but for an instruction or two.
// Rejected: to compile everything a second time, position-independent.
#pragma once

#define THREAD_LOCAL thread_local __attribute__((tls_model("global-dynamic")))
