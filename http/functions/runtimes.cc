#include "http/functions/runtimes.h"

#include "http/functions/node_runtime.h"

namespace mayfly::http {
namespace {

struct Form {
  std::string_view begin;
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

std::vector<std::string> java(std::string_view rest) {
  const auto colons = rest.find("::");
  return {"java", "-cp", std::string(rest.substr(0, colons)),
          "com.amazonaws.services.lambda.runtime.api.client.AWSLambda", std::string(rest.substr(colons + 2))};
}

constexpr Form forms[] = {
    {"exec:", command_words, "exec:COMMAND", "", 0},
    {"python:", python, "python:MODULE.HANDLER",
     "Python's client of the Runtime API may be missing: pip install awslambdaric", '.'},
    {"node:", node, "node:FILE.HANDLER", "", '.'},
    {"java:", java, "java:JAR::CLASS",
     "Java's client of the Runtime API may be missing from the jar: add "
     "com.amazonaws:aws-lambda-java-runtime-interface-client to its dependencies",
     ':'},
};

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
  if (form->before_handler == '.') program.handler = rest;
  if (form->before_handler == ':') program.handler = program.command.back();
  return program;
}

}  // namespace mayfly::http
