#include "cli/options/function_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cli/options/control_options.h"
#include "cli/options/option_text.h"
#include "http/functions/runtimes.h"

namespace mayfly::cli {
namespace {

void add_invoke_command(CLI::App& app, InvokeCommand& command) {
  CLI::App& invoke = *app.add_subcommand("invoke", "Call a function and print its response");
  invoke.add_option("NAME", command.function, "Name of the function")->required();
  invoke.add_option("EVENT", command.event, "File with the event in JSON; -: standard input (default: {})");
  const auto add_flag = [&](const std::string& name, InvokeCommand::How how, const std::string& help) {
    return invoke.add_flag_callback(
        name, [&command, how] { command.how = how; }, help);
  };
  CLI::Option* later =
      add_flag("--async", InvokeCommand::How::later, "Queue the event and do not wait for the function");
  add_flag("--dry-run", InvokeCommand::How::check, "Check that the function exists, and do not call it")
      ->excludes(later);
  add_server_options(invoke, command.server);
  invoke.footer(
      "Exits with 1 if the function fails.\n\n"
      "Examples:\n"
      "  mayfly invoke reminder event.json\n"
      "  mayfly event dynamodb --from carts | mayfly invoke reminder -");
}

void add_event_command(CLI::App& app, EventCommand& command) {
  CLI::App& event =
      *app.add_subcommand("event", "Print an event to call a function with")->require_subcommand(1);
  CLI::App& dynamodb = *event.add_subcommand("dynamodb", "Print the event for the newest changes of a table");
  dynamodb.add_option("--from", command.table, "Table")->type_name("TABLE")->required();
  dynamodb.add_option("--limit", command.limit, "Maximum records in the event")
      ->check(between(1, event_records_max))
      ->type_name("N")
      ->capture_default_str();
  add_server_options(dynamodb, command.server);
  dynamodb.footer(
      "The records are those of the table's stream. If it has none, they are INSERT records of the table's\n"
      "items.\n\n"
      "Example:\n"
      "  mayfly event dynamodb --from carts --limit 10 >event.json");
}

// The arguments of `function run` as they were typed.
struct Typed {
  std::string name, handler;
  std::vector<std::string> words, variables;
};

// Throws CLI::ValidationError.
http::FunctionProgram program_of(const Typed& typed, const http::FunctionProgram& limits) {
  http::FunctionProgram program = limits;
  if (!http::is_function_program(typed.words.front())) {
    program.name = typed.name;
    program.command = typed.words;
  } else {
    if (typed.words.size() > 1)
      throw CLI::ValidationError("COMMAND",
                                 "must be one argument if it begins with exec:, python:, node: or "
                                 "java:, got " +
                                     std::to_string(typed.words.size()) + ". Put it in quotes.");
    auto read = http::function_program(typed.name, typed.words.front());
    if (!read) throw CLI::ValidationError("COMMAND", read.error());
    program = *std::move(read);
    program.time_max = limits.time_max;
    program.processes_max = limits.processes_max;
    if (!typed.handler.empty() && !program.handler.empty())
      throw CLI::ValidationError("--handler", "cannot be combined with " + typed.words.front() + ".");
  }
  if (!typed.handler.empty()) program.handler = typed.handler;
  for (const std::string& variable : typed.variables) http::add_variable(program, variable);
  return program;
}

void add_run_command(CLI::App& app, FunctionRun& command, const std::vector<std::string>& program) {
  CLI::App& run = *app.get_subcommand("function")
                       ->add_subcommand("run", "Run a Lambda handler here, for a server on this machine");
  const auto typed = std::make_shared<Typed>();
  run.add_option("NAME", typed->name, "Name of the function")->required();
  run.add_option("COMMAND", typed->words,
                 "python:MODULE.HANDLER, node:FILE.HANDLER, java:JAR::CLASS, or -- and a program with its "
                 "arguments")
      ->required(program.empty());
  run.add_option("--handler", typed->handler, "Variable _HANDLER of the program")->type_name("NAME");
  run.add_option("--env", typed->variables, "Set a variable in the environment of the processes")
      ->check(check_function_env)
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  run.add_option_function<std::int64_t>(
         "--seconds-max",
         [&command](std::int64_t seconds) { command.program.time_max = std::chrono::seconds(seconds); },
         "Time limit for an invocation (default: 60; 0: none, for debuggers)")
      ->check(between(0, 900))
      ->type_name("N");
  run.add_option("--processes-max", command.program.processes_max,
                 "Maximum processes; one process for each concurrent invocation")
      ->check(between(1, 100))
      ->type_name("N")
      ->capture_default_str();
  add_server_options(run, command.server);
  run.footer(
      "Runs until SIGTERM or SIGINT. Options with ... can be repeated.\n\n"
      "Examples:\n"
      "  mayfly function run reminder python:app.handler\n"
      "  mayfly function run reminder --env STAGE=test -- ./bootstrap");
  run.callback([typed, program, &command] {
    typed->words.insert(typed->words.end(), program.begin(), program.end());
    command.program = program_of(*typed, command.program);
  });
}

}  // namespace

void add_function_commands(CLI::App& app, InvokeCommand& invoke, EventCommand& event, FunctionRun& run,
                           const std::vector<std::string>& program) {
  add_invoke_command(app, invoke);
  add_event_command(app, event);
  add_run_command(app, run, program);
}

std::vector<std::string> cut_program(std::vector<std::string>& words) {
  if (words.size() < 2 || words[0] != "function" || words[1] != "run") return {};
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes == words.end()) return {};
  std::vector<std::string> program(dashes + 1, words.end());
  words.erase(dashes, words.end());
  return program;
}

std::string check_function_env(const std::string& text) {
  const auto equals = text.find('=');
  return equals != 0 && equals != std::string::npos ? "" : must_be("NAME=VALUE", text);
}

}  // namespace mayfly::cli
