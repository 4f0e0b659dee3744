// Programs that this process starts. Only tests and `--function` start programs.
//
//   Child child = Child::start({.command = {"/usr/bin/sort", "-n"}}, error);
//   if (error) …                                // there is no such program
//   while (const std::size_t got = child.output().read(piece, error)) …
//   if (child.wait() == 0) …
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "os/file.h"

namespace mayfly::os {

struct Command {
  std::vector<std::string> command;      // a program's path and its arguments
  std::vector<std::string> environment;  // all of the child's variables, as "NAME=value"
  std::string directory{};               // in which it runs; empty: this process's
  bool errors_to_output = false;         // its standard error is its standard output
  // Ends the child, and the programs that it has started, when this process ends, even if it is killed. The
  // programs also end with the child. On POSIX, this needs /bin/sh, and excludes programs that have left the
  // child's process group.
  bool ends_with_this_process = false;
};

// The path of the program with this name: the name itself if it contains a slash, otherwise the first one in
// the directories of `path` (the variable PATH). Empty: there is none. On Windows, a name without an
// extension is the name of an .exe file.
std::string program_path(const std::string& name, std::string_view path);

// A child has no standard input. The destructor kills a child that is still running, and waits for it. It
// also kills the programs that such a child has started: all of them on Windows, those that stayed in the
// child's process group on POSIX.
//
// Not thread-safe, except for the two files.
class Child {
 public:
  Child();
  Child(Child&&) noexcept;
  Child& operator=(Child&&) noexcept;
  ~Child();

  // Also fails if the program cannot be run.
  static Child start(const Command& command, std::error_code& error);

  // The child's output, and that of the programs that it has started. The file ends when all of them have
  // ended.
  [[nodiscard]] const File& output() const;
  [[nodiscard]] const File& errors() const;

  // Asks the child to end: SIGTERM, or Ctrl-Break on Windows. Without a console, kills it there. For a child
  // that ends with this process, also asks the programs that it has started.
  void terminate();
  // Asks the child to end: SIGINT, or Ctrl-Break on Windows.
  void interrupt();
  // Ends the child at once, but not the programs that it has started, unless they end with this process.
  void kill();
  // Waits for the child up to `time`, or without limit. Returns the exit status (if a signal ended the child,
  // 128 plus the signal's number, as shells do; 255 if the status is unknown), or nullopt if the child is
  // still running.
  std::optional<int> wait(std::optional<std::chrono::milliseconds> time = {});

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace mayfly::os
