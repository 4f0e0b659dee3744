// Names the lock of shared state:  std::deque<Window> windows_ GUARDED_BY(mutex_);
// Clang's -Wthread-safety reads it; to other compilers it is a comment that cannot be overlooked.
#pragma once

#if defined(__clang__)
#define GUARDED_BY(mutex) __attribute__((guarded_by(mutex)))
#else
#define GUARDED_BY(mutex)
#endif
