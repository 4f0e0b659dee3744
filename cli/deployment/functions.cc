#include "cli/deployment/functions.h"

#include <charconv>
#include <cstdint>
#include <utility>

#include "cli/deployment/java_library.h"
#include "cli/deployment/programs.h"
#include "compat/lambda/function_name.h"
#include "compat/outbound/url.h"
#include "http/functions/runtimes.h"

namespace mayfly::deployment {

namespace {

using compat::triggers::Function;

// "reminder=5679" names the function reminder and a port, and "reminder" the debugger's usual port.
struct Inspected {
  std::string name;
  std::uint16_t port = 0;
};
Inspected inspected_function(const std::string& text) {
  const auto equals = text.find('=');
  Inspected inspected{text.substr(0, equals)};
  if (equals != std::string::npos)
    std::from_chars(text.data() + equals + 1, text.data() + text.size(), inspected.port);
  return inspected;
}

struct Starter {
  const FunctionOptions& options;
  http::ProgramFunctions& programs;
  const schemas::Reports& reports;
  CodeDirectories& directories;
  std::map<std::string, std::string> debugged{};  // functions, by the address for their debugger

  // Sets what the command line gives to all programs, and registers one.
  Expected<Function, std::string> program(http::FunctionProgram program) {
    if (options.time_max) program.time_max = *options.time_max;
    program.processes_max = options.processes_max;
    for (const std::string& variable : options.variables) http::add_variable(program, variable);
    for (const std::string& text : options.inspected) {
      const Inspected inspected = inspected_function(text);
      if (inspected.name != program.name || !program.problem.empty()) continue;
      const auto how = http::inspect(program, inspected.port);
      if (!how) return Unexpected{"--function-inspect: function " + program.name + " " + how.error()};
      const auto [other, is_free] = debugged.emplace(how->substr(how->rfind(' ') + 1), program.name);
      if (!is_free)
        return Unexpected{"--function-inspect: functions " + other->second + " and " + program.name +
                          " need different ports: --function-inspect " + program.name + "=PORT"};
      reports.notice("function " + program.name + ": its first invocation waits for a debugger, " + *how);
    }
    give_own_java_library(program, directories);
    TRY(const auto address, programs.add(std::move(program)));
    TRY(auto url, compat::outbound::Url::parse(address));
    // The program's own limit comes first.
    return Function{std::move(url), Function::time_max_max};
  }

  // A function of the command line, which is a URL or a program.
  Expected<Function, std::string> written(const std::string& name, std::string_view what) {
    if (!http::is_function_program(what)) {
      TRY(auto url, compat::outbound::Url::parse(what));
      return Function{std::move(url)};
    }
    auto made = http::function_program(name, what);
    if (!made) return Unexpected{"--function " + made.error()};
    return program(*std::move(made));
  }

  // A function of a deployment description.
  Expected<Function, std::string> described(const schemas::FunctionSchema& one) {
    const auto name = compat::triggers::FunctionName::parse(one.name, {});
    if (!name || name->name != one.name)
      return Unexpected{one.where + ": '" + one.name + "' cannot be the name of a function"};
    http::FunctionProgram made = program_of(one, directories);
    auto function = program(made);
    if (!function && made.problem.empty()) {  // its program is not installed
      made.problem = one.where + ": " + function.error();
      function = program(made);
    }
    if (!function) return Unexpected{function.error()};
    if (!made.problem.empty())
      reports.warning(made.problem);
    else if (one.has_layers)
      reports.warning(one.where + ": function " + one.name +
                      " runs without its layers. Install what they contain where the handler finds it");
    return function;
  }
};

}  // namespace

Expected<NamedFunctions, std::string> start_functions(const FunctionOptions& options,
                                                      const std::vector<schemas::FunctionSchema>& described,
                                                      CodeDirectories& directories,
                                                      http::ProgramFunctions& programs,
                                                      const schemas::Reports& reports) {
  Starter start{options, programs, reports, directories};
  NamedFunctions functions;
  for (const std::string& text : options.functions) {
    const auto equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      return Unexpected{"--function must be NAME=URL, got '" + text + "'"};
    const std::string name = text.substr(0, equals);
    TRY(functions[name], start.written(name, std::string_view(text).substr(equals + 1)));
  }
  std::map<std::string, std::string> places;  // of described functions, by name
  for (const schemas::FunctionSchema& one : described) {
    const auto [first, is_new] = places.emplace(one.name, one.where);
    if (!is_new)
      reports.warning(one.where + ": function " + one.name + " is left out, because " + first->second +
                      " has the same name. Give each function a name (FunctionName)");
    else if (!functions.contains(one.name)) {
      TRY(functions[one.name], start.described(one));
    }
  }
  for (const std::string& text : options.inspected)
    if (const std::string name = inspected_function(text).name; !functions.contains(name))
      return Unexpected{"--function-inspect: there is no function " + name};
  if (options.watch) programs.watch();
  return functions;
}

}  // namespace mayfly::deployment
