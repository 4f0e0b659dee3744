// This process: its identity, its parent, its limits, its environment and its end.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace mayfly::os {

// Differs in a child process after fork().
std::uint64_t process_id();
std::string host_name();

// The process that started this one.
class Parent {
 public:
  Parent();  // call it early, because the parent can exit at any time
  [[nodiscard]] bool has_exited() const;

 private:
  std::uint64_t id_;
};

// The arguments of main() in UTF-8, which they are not on every Windows.
std::vector<std::string> arguments(int count, char** values);

// All variables of this process, as "NAME=value".
std::vector<std::string> environment();

// Allows as many open files and connections as the system allows this process.
void raise_open_files_max();
std::uint64_t open_files_max();

// Without this call, a write to a closed pipe or connection ends the process, and so does a write that makes
// a file larger than `ulimit -f` allows. Afterwards, such a write fails.
void let_writes_fail();

// Calls `run` when the process exits normally, before the objects that already exist are destroyed. Not
// called: the process ends in another way.
void at_exit(void (*run)());

// Ends the process immediately, without destroying any object.
[[noreturn]] void exit_now(int status);

// Ends the process after `time` as a signal would, unless the end is canceled. Also works if all threads
// block; on POSIX, also if no thread can be started. A second call replaces the first. Requires: `time` is at
// least a second and at most a day.
void end_after(std::chrono::seconds time);
void cancel_end();

}  // namespace mayfly::os
