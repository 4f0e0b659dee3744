#include "http/functions/runtimes.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "http/functions/java_client.h"
#include "http/functions/node_runtime.h"
#include "os/child.h"
#include "os/path.h"

namespace mayfly::http {
namespace {

using Language = FunctionProgram::Language;

struct Form {
  std::string_view begin;
  Language language;
  std::vector<std::string> (*command)(std::string_view rest);
  std::string_view syntax;   // for messages
  std::string_view missing;  // what to install if the program does not start
  char before_handler;       // the handler must have this character; 0: any
};

std::vector<std::string> python(std::string_view handler) {
  return {"python3", "-m", "awslambdaric", std::string(handler)};
}

std::vector<std::string> node(std::string_view handler) {
  return {"node", "--input-type=module", "--eval", node_runtime, std::string(handler)};
}

std::vector<std::string> java_command(std::string class_path, std::string handler) {
  return {"java", "-cp", std::move(class_path), "com.amazonaws.services.lambda.runtime.api.client.AWSLambda",
          std::move(handler)};
}

std::vector<std::string> java(std::string_view rest) {
  const auto colons = rest.find("::");
  return java_command(std::string(rest.substr(0, colons)), std::string(rest.substr(colons + 2)));
}

constexpr Form forms[] = {
    {"exec:", Language::other, command_words, "exec:COMMAND", "", 0},
    {"python:", Language::python, python, "python:MODULE.HANDLER",
     "Python's client of the Runtime API may be missing: pip install awslambdaric", '.'},
    {"node:", Language::node, node, "node:FILE.HANDLER", "", '.'},
    {"java:", Language::java, java, "java:JAR::CLASS",
     "Java's client of the Runtime API may be missing from the jar: add "
     "com.amazonaws:aws-lambda-java-runtime-interface-client to its dependencies",
     ':'},
};

// The files and directories with the code of a function of the command line.
std::vector<std::string> written_code(const FunctionProgram& program, std::string_view rest) {
  std::vector<std::string> paths;
  if (program.language == Language::python || program.language == Language::node) return {"."};
  if (program.language == Language::other) paths = program.command;
  if (program.language == Language::java) paths = class_path_entries(rest.substr(0, rest.find("::")));
  std::erase_if(paths, [](const std::string& path) {
    std::error_code error;
    return !std::filesystem::exists(os::path_of(path), error);
  });
  return paths;
}

const Form* form_of(std::string_view text) {
  for (const Form& form : forms)
    if (text.starts_with(form.begin)) return &form;
  return nullptr;
}

}  // namespace

bool is_function_program(std::string_view text) { return form_of(text) != nullptr; }

Expected<FunctionProgram, std::string> function_program(std::string name, std::string_view text) {
  const Form* form = form_of(text);
  const std::string_view rest = form == nullptr ? "" : text.substr(form->begin.size());
  const bool is_complete = form != nullptr && !rest.empty() &&
                           (form->before_handler != ':' || rest.find("::") != rest.npos) &&
                           (form->before_handler != '.' || rest.find('.') != rest.npos);
  FunctionProgram program{.name = std::move(name)};
  if (is_complete) program.command = form->command(rest);
  if (program.command.empty())
    return Unexpected{"must be " + std::string(form == nullptr ? "a URL" : form->syntax) + ", got '" +
                      std::string(text) + "'"};
  program.missing = form->missing;
  program.language = form->language;
  program.watched = written_code(program, rest);
  if (form->before_handler == '.') program.handler = rest;
  if (form->before_handler == ':') program.handler = program.command.back();
  return program;
}

// --- debuggers

Expected<std::string, std::string> inspect(FunctionProgram& program, std::uint16_t port) {
  struct Debugger {
    Language language;
    const char* name;
    std::uint16_t port;
    std::vector<std::string> (*words)(const std::string& address);  // the program's first arguments
  };
  static constexpr Debugger debuggers[] = {
      {Language::python, "debugpy", 5678,
       [](const std::string& address) {
         return std::vector<std::string>{"-m", "debugpy", "--listen", address, "--wait-for-client"};
       }},
      {Language::node, "Node.js's inspector", 9229,
       [](const std::string& address) { return std::vector<std::string>{"--inspect-brk=" + address}; }},
      {Language::java, "JDWP", 5005,
       [](const std::string& address) {
         return std::vector<std::string>{"-agentlib:jdwp=transport=dt_socket,server=y,suspend=y,address=" +
                                         address};
       }},
  };
  for (const Debugger& debugger : debuggers) {
    if (debugger.language != program.language) continue;
    const std::string address = "127.0.0.1:" + std::to_string(port == 0 ? debugger.port : port);
    const auto words = debugger.words(address);
    program.command.insert(program.command.begin() + 1, words.begin(), words.end());
    program.time_max = std::chrono::milliseconds(0);
    program.processes_max = 1;
    if (program.language == Language::python) program.missing += " debugpy";
    return std::string(debugger.name) + " on " + address;
  }
  return Unexpected{
      std::string("runs a program, for which Mayfly has no debugger. Start it under one, as in "
                  "--function NAME='exec:dlv exec --headless --listen=127.0.0.1:2345 ./bootstrap'")};
}

// --- runtimes of Lambda

namespace {

namespace fs = std::filesystem;
using Program = Expected<FunctionProgram, std::string>;

constexpr std::string_view is_not_built = ". Is it built?";

// Whether the code has one of the files that begin with `name` and end with one of `ends`.
template <std::size_t N>
bool has_file(const std::string& code, const std::string& name, const std::array<const char*, N>& ends) {
  return std::any_of(ends.begin(), ends.end(), [&](const char* end) {
    std::error_code error;
    return fs::exists(os::path_of(code) / os::path_of(name + end), error);
  });
}

Program managed_python(const ManagedFunction& function) {
  // "src/app.handler" and "src.app.handler" name a function of src/app.py.
  std::string file = function.handler.substr(0, function.handler.rfind('.'));
  std::replace(file.begin(), file.end(), '.', '/');
  if (!has_file(function.code, file, std::array{".py", "/__init__.py", ".so", ".pyc"}))
    return Unexpected{function.code + " has no " + file + ".py"};
  FunctionProgram program{.command = python(function.handler), .language = Language::python};
  const bool has_own = !os::program_path(function.runtime, host_variable("PATH")).empty();
  if (has_own) program.command.front() = function.runtime;
  program.missing = "Python's client of the Runtime API may be missing: " + program.command.front() +
                    " -m pip install awslambdaric";
  return program;
}

Program managed_node(const ManagedFunction& function) {
  // "src/app.api.handler" names an export of src/app.js, as Lambda's own client reads it.
  const auto name = function.handler.rfind('/') + 1;
  const std::string file = function.handler.substr(0, function.handler.find('.', name));
  if (!has_file(function.code, file, std::array{".mjs", ".js", ".cjs"}))
    return Unexpected{function.code + " has no " + file + ".js" + std::string(is_not_built)};
  return FunctionProgram{.command = node(function.handler), .language = Language::node};
}

// Lambda's class path is the code's directory and the jars in its directory lib. Its runtime also brings the
// client.
Program managed_java(const ManagedFunction& function) {
  std::string class_file = function.handler.substr(0, function.handler.find("::"));
  std::replace(class_file.begin(), class_file.end(), '.', '/');
  std::error_code error;
  const bool is_jar = !fs::is_directory(os::path_of(function.code), error);
  if (!is_jar && !has_file(function.code, class_file, std::array{".class"}) &&
      !has_file(function.code, "lib", std::array{""}))
    return Unexpected{function.code + " has no " + class_file + ".class" + std::string(is_not_built)};
  std::string class_path = function.code;
  if (!is_jar) class_path += class_path_separator + os::text_of(os::path_of(function.code) / "lib" / "*");
  for (const std::string& jar : java_client()) class_path += class_path_separator + jar;
  FunctionProgram program{.command = java_command(std::move(class_path), function.handler),
                          .language = Language::java};
  program.missing = "Java's client of the Runtime API may be missing: " + std::string(java_client_command);
  return program;
}

// A runtime that is a program in the code.
Program managed_program_file(const ManagedFunction& function, const std::string& name) {
  if (!has_file(function.code, name, std::array{"", ".exe"}))
    return Unexpected{function.code + " has no program " + name + std::string(is_not_built)};
  return FunctionProgram{.command = {os::text_of(os::path_of(function.code) / name)}};
}

Program program_for(const ManagedFunction& function) {
  const std::string& runtime = function.runtime;
  if (runtime.starts_with("python")) return managed_python(function);
  if (runtime.starts_with("nodejs")) return managed_node(function);
  if (runtime.starts_with("java")) return managed_java(function);
  if (runtime.starts_with("provided")) return managed_program_file(function, "bootstrap");
  if (runtime.starts_with("go")) return managed_program_file(function, function.handler);
  return Unexpected{"its runtime " + (runtime.empty() ? "is not given" : runtime + " is not supported") +
                    ". Give its program: --function NAME=exec:COMMAND"};
}

}  // namespace

Expected<FunctionProgram, std::string> managed_program(const ManagedFunction& function) {
  TRY(FunctionProgram program, program_for(function));
  std::error_code error;
  const fs::path code = os::path_of(function.code);
  program.directory = fs::is_directory(code, error) ? function.code : os::text_of(code.parent_path());
  program.watched = {function.code};
  if (program.language == Language::other) program.watched.push_back(program.command.front());
  program.handler = function.handler;
  program.runtime = function.runtime;
  return program;
}

}  // namespace mayfly::http
