// Functions that are programs: their commands and the environment in which the programs run.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace mayfly::http {

struct FunctionProgram {
  enum class Language : std::uint8_t { other, python, node, java };

  std::string name;
  std::vector<std::string> command;  // a program and its arguments; the program is looked up in PATH
  std::string directory;             // in which it runs, LAMBDA_TASK_ROOT; empty: this process's
  std::string handler;               // _HANDLER; empty: not set
  std::string runtime;               // Lambda's name, such as "python3.12"; empty: a program of one's own
  std::vector<std::pair<std::string, std::string>> variables;  // override Mayfly's own
  std::string missing;  // a sentence: what to install if the program exits before its first invocation
  std::chrono::milliseconds time_max{60'000};  // for one invocation; 0: no limit, for debuggers
  std::chrono::milliseconds init_time_max{10'000};
  std::size_t processes_max = 8;  // one for each concurrent invocation
  unsigned memory_mb = 128;       // only told to the function; Lambda's default
  Language language = Language::other;
  std::vector<std::string> watched;  // files and directories with its code; empty: the code cannot change
  std::string problem;  // a sentence: why no command can run the function; each invocation fails with it
};

// The account and region that invoke a function. Each has its own processes, because the credentials in a
// process's environment name the account.
struct FunctionScope {
  std::string account, region;
  friend bool operator==(const FunctionScope&, const FunctionScope&) = default;
};

// Where a function finds the services that it calls.
struct FunctionEndpoints {
  std::string mayfly;        // "http://127.0.0.1:8000": DynamoDB, its streams, and Lambda
  std::string others;        // every other service: refuses with a sentence
  std::string certificates;  // a file that SDKs use instead of the certificates they trust; empty: not set
};

// The time that functions see. By default, it is the host's.
struct FunctionClock {
  std::string library;  // the path of libfaketime; empty: the host's time
  std::function<std::chrono::milliseconds(const std::string& account)> ahead{};  // of the host's time
};

// The URL of a server on this machine, for its own programs: they cannot connect to "http://0.0.0.0:8000" on
// every system, but to "http://127.0.0.1:8000".
std::string local_url(std::string url);

// Adds a variable that is written as NAME=VALUE.
void add_variable(FunctionProgram& program, const std::string& text);

// A variable of this process's environment; empty: it is not set.
std::string host_variable(const char* name);

// The environment in which a function's process runs, as "NAME=value". It has only those variables of this
// process that programs need to run (PATH, HOME, and SystemRoot and others on Windows), so the developer's
// credentials do not reach the function. The other names are those of
// https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html.
std::vector<std::string> function_environment(const FunctionProgram& program, const FunctionScope& scope,
                                              const FunctionEndpoints& endpoints,
                                              const std::string& runtime_api, const std::string& log_stream);

// Splits a command line into words at spaces, as a shell does without expanding anything. Words can contain
// spaces in single or double quotes. A backslash outside of single quotes keeps the next character, except on
// Windows, where paths contain backslashes. Returns no words if a quote is not closed.
std::vector<std::string> command_words(std::string_view text);

}  // namespace mayfly::http
