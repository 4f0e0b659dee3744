#include "cli/deployment/programs.h"

#include <filesystem>
#include <string>
#include <system_error>

#include "http/functions/runtimes.h"
#include "os/path.h"

namespace mayfly::deployment {

namespace {

namespace fs = std::filesystem;

// Lambda's names for code that is written into a template.
Expected<std::string, std::string> inlined(const schemas::FunctionSchema& function,
                                           CodeDirectories& directories) {
  if (function.runtime.starts_with("python")) return directories.with_file("index.py", function.code.text);
  if (function.runtime.starts_with("nodejs")) return directories.with_file("index.js", function.code.text);
  return Unexpected{"its code is in the template, which Lambda accepts only for Python and Node.js"};
}

// The directory with the function's code, or a jar.
Expected<std::string, std::string> code_of(const schemas::FunctionSchema& function,
                                           CodeDirectories& directories) {
  if (!function.code.problem.empty()) return Unexpected{function.code.problem};
  if (!function.code.text.empty()) return inlined(function, directories);
  std::error_code error;
  const fs::path path = fs::absolute(os::path_of(function.code.path), error);
  if (fs::is_directory(path, error) || path.extension() == ".jar") return os::text_of(path);
  return directories.unpacked(os::text_of(path));
}

// Whether the function runs where the build tool has left it, and not from a copy.
bool is_local(const schemas::FunctionSchema& function) {
  std::error_code error;
  const fs::path path = os::path_of(function.code.path);
  return !function.code.path.empty() && (fs::is_directory(path, error) || path.extension() == ".jar");
}

}  // namespace

http::FunctionProgram program_of(const schemas::FunctionSchema& function, CodeDirectories& directories) {
  http::FunctionProgram program{.name = function.name};
  const auto fail = [&](const std::string& why) {
    program.problem = function.where + ": function " + function.name + " cannot be run: " + why;
  };
  // Lambda's ranges.
  const bool fits = function.seconds_max >= 1 && function.seconds_max <= 900 && function.memory_mb >= 128 &&
                    function.memory_mb <= 10'240;
  if (!fits) {
    fail("its Timeout must be between 1 and 900, and its MemorySize between 128 and 10240");
    return program;
  }
  if (const auto code = code_of(function, directories)) {
    auto made = http::managed_program({function.runtime, function.handler, *code});
    if (made) {
      made->name = program.name;
      if (!is_local(function)) made->watched.clear();  // a copy
      program = *std::move(made);
    } else {
      fail(made.error());
    }
  } else {
    fail(code.error());
  }
  program.time_max = std::chrono::seconds(function.seconds_max);
  program.memory_mb = static_cast<unsigned>(function.memory_mb);
  for (const auto& [name, value] : function.variables) program.variables.emplace_back(name, value);
  return program;
}

}  // namespace mayfly::deployment
