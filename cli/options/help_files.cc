#include "cli/options/help_files.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/option_text.h"

namespace mayfly::cli {
namespace {

// Calls `visit` for each command with its path, such as "mayfly clock advance". Visits each command before
// its subcommands.
using Visit = std::function<void(const std::string& path, const CLI::App& command)>;
void walk(const std::string& path, const CLI::App& app, const Visit& visit) {
  visit(path, app);
  for (const CLI::App* command : listed_commands(app))
    walk(path + " " + command->get_name(), *command, visit);
}

// Escapes a line of text, including hyphens. A leading dot or apostrophe is escaped because roff would read a
// line that begins with such a character as a request.
std::string roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else
      escaped += c;
  }
  return (escaped.starts_with('.') || escaped.starts_with('\'') ? "\\&" : "") + escaped;
}

void add_option(std::string& page, const CLI::Option& option) {
  std::string head;
  if (option.get_positional()) {
    head = "\\fI" + roff(option.get_name(true)) + "\\fR";
  } else {
    for (const std::string& name : option.get_snames()) head += "\\fB\\-" + roff(name) + "\\fR, ";
    for (const std::string& name : option.get_lnames()) head += "\\fB\\-\\-" + roff(name) + "\\fR, ";
    head.resize(head.size() - 2);
    if (const std::string value = value_of(option); !value.empty()) head += " \\fI" + roff(value) + "\\fR";
  }
  const std::string variable = option.get_envname().empty() ? "" : " [" + option.get_envname() + "]";
  page += ".TP\n" + head + "\n" + roff(description_of(option) + variable) + "\n";
}

// Adds the lines of a command's footer unchanged if the footer has examples.
void add_example(std::string& page, const std::string& footer) {
  if (footer.find("Example") == std::string::npos) return;
  page += ".PP\n.nf\n";
  for (const std::string& line : CLI::detail::split(footer, '\n')) page += roff(line) + "\n";
  page += ".fi\n";
}

}  // namespace

std::string manual_page(const CLI::App& app) {
  std::string page =
      ".TH MAYFLY 1 \"\" \"mayfly " MAYFLY_VERSION
      "\" \"User Commands\"\n.nh\n"
      ".SH NAME\nmayfly \\- DynamoDB for tests; items disappear at the instant their TTL passes\n"
      ".SH SYNOPSIS\n.B mayfly\n\\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n"
      ".SH DESCRIPTION\n"
      "A server with DynamoDB's API for any AWS SDK, on a clock that tests control, and commands that use "
      "the server.\n"
      ".SH COMMANDS\n";
  walk("mayfly", app, [&](const std::string& path, const CLI::App& command) {
    if (&command == &app || command.get_require_subcommand_min() > 0) return;
    std::string usage = path;
    for (const CLI::Option* option : options_of(command)) {
      if (!option->get_positional()) continue;
      const std::string name = option->get_name(true);
      usage += option->get_required() ? " " + name : " [" + name + "]";
    }
    page += ".SS " + roff(usage) + "\n" + roff(command.get_description()) + ".\n";
    add_example(page, command.get_footer());
    for (const CLI::Option* option : options_of(command))
      if (option->get_name() != "--help" && option->get_name() != "-h,--help") add_option(page, *option);
  });
  return page +
         ".SH ENVIRONMENT\n"
         "An option that is followed by a variable in brackets can also be set by that variable. The "
         "variable of an option that can be repeated takes values separated by commas.\n"
         ".TP\n.B AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN\n"
         "Credentials with which commands sign their requests, and with which the server signs its requests "
         "to an S3 endpoint.\n"
         ".TP\n.B NO_COLOR\nDisables colors.\n"
         ".SH EXIT STATUS\n"
         ".TP\n0\nSuccess.\n"
         ".TP\n1\nThe command failed; a message on standard error says why. For verify and repair: the data "
         "is damaged.\n"
         ".TP\n2\nThe command line is invalid. For verify and repair: the data could not be read.\n"
         ".TP\n3\nAn export or import was interrupted; \\-\\-resume continues it.\n";
}

}  // namespace mayfly::cli
