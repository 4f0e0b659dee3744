#include "cli/help_files.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly::http {
namespace {

// Each command with its words, "mayfly clock advance", parents first.
using Visit = std::function<void(const std::string& path, const CLI::App& command)>;
void walk(const std::string& path, const CLI::App& app, const Visit& visit) {
  visit(path, app);
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    walk(path + " " + command->get_name(), *command, visit);
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option*) { return true; });
}

// What may follow, but for values: commands, then options.
std::vector<std::string> words_after(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    words.push_back(command->get_name());
  for (const CLI::Option* option : options_of(app))
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  return words;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string bash_completion(const CLI::App& app) {
  std::string paths, cases;
  walk("mayfly", app, [&](const std::string& path, const CLI::App& command) {
    if (&command != &app) paths += (paths.empty() ? "" : "|") + ("\"" + path + "\"");
    cases += "    \"" + path + "\") words=\"" + joined(words_after(command)) + "\" ;;\n";
  });
  return "_mayfly() {\n"
         "  local path=mayfly words= i\n"
         "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
         "    case \"$path ${COMP_WORDS[i]}\" in\n"
         "      " +
         paths +
         ") path=\"$path ${COMP_WORDS[i]}\" ;;\n"
         "    esac\n"
         "  done\n"
         "  case \"$path\" in\n" +
         cases +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
         "}\n"
         "complete -o default -F _mayfly mayfly\n";
}

std::string fish_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

std::string fish_completion(const CLI::App& app) {
  std::string text =
      "# Whether the command line begins with these commands.\n"
      "function __mayfly_after\n"
      "  set -l words (commandline -opc)[2..]\n"
      "  test (count $words) -ge (count $argv); or return 1\n"
      "  test (count $argv) -eq 0; or test \"$words[1..\"(count $argv)\"]\" = \"$argv\"\n"
      "end\n";
  walk("", app, [&](const std::string& path, const CLI::App& command) {
    const std::string condition = " -n '__mayfly_after" + path + "'";
    for (const CLI::App* next : command.get_subcommands([](const CLI::App*) { return true; }))
      text += "complete -c mayfly -f -n '__mayfly_after" + path +
              "; and test (count (commandline -opc)) -eq " +
              std::to_string(1 + std::count(path.begin(), path.end(), ' ')) + "' -a " + next->get_name() +
              " -d " + fish_quoted(next->get_description()) + "\n";
    if (&command == &app) return;
    for (const CLI::Option* option : options_of(command))
      for (const std::string& name : option->get_lnames())
        text += "complete -c mayfly" + condition + " -l " + name + " -d " +
                fish_quoted(option->get_description()) + "\n";
  });
  return text;
}

// --- the manual page

// A line of text: what roff would read as its own is no beginning of one, and each hyphen stays one.
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

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

void add_option(std::string& page, const CLI::Option& option) {
  std::string head;
  if (option.get_positional()) {
    head = "\\fI" + roff(option.get_name(true)) + "\\fR";
  } else {
    for (const std::string& name : option.get_snames()) head += "\\fB\\-" + roff(name) + "\\fR, ";
    for (const std::string& name : option.get_lnames()) head += "\\fB\\-\\-" + roff(name) + "\\fR, ";
    head.resize(head.size() - 2);
    if (takes_value(option)) head += " \\fI" + roff(option.get_type_name()) + "\\fR";
  }
  page += ".TP\n" + head + "\n" + roff(option.get_description());
  if (!option.get_default_str().empty()) page += roff(" [" + option.get_default_str() + "]");
  if (!option.get_envname().empty()) page += " (\\fB" + roff(option.get_envname()) + "\\fR)";
  page += "\n";
}

}  // namespace

std::string completion(const CLI::App& app, const std::string& shell) {
  if (shell == "fish") return fish_completion(app);
  if (shell == "zsh") return "autoload -U +X bashcompinit && bashcompinit\n" + bash_completion(app);
  return bash_completion(app);
}

std::string manual_page(const CLI::App& app) {
  std::string page =
      ".TH MAYFLY 1 \"\" \"mayfly " MAYFLY_VERSION
      "\" \"User Commands\"\n"
      ".SH NAME\nmayfly \\- DynamoDB for tests, whose items disappear at the instant their TTL passes\n"
      ".SH SYNOPSIS\n.B mayfly\n\\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n"
      ".SH DESCRIPTION\n"
      "A server with DynamoDB's API for any AWS SDK, on a clock that tests move, and the commands that ask "
      "it.\n"
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
    for (const CLI::Option* option : options_of(command))
      if (option->get_name() != "--help" && option->get_name() != "-h,--help") add_option(page, *option);
  });
  return page +
         ".SH ENVIRONMENT\n"
         "What stands in bold behind an option is the variable that says the same. What is repeated on the "
         "command line stands "
         "there once, with commas.\n"
         ".TP\n.B AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN\n"
         "With what key commands sign, and requests to an S3 endpoint, if there is one.\n"
         ".TP\n.B NO_COLOR\nNo colours, whatever its value.\n"
         ".SH EXIT STATUS\n"
         ".TP\n0\nIt is done.\n"
         ".TP\n1\nIt could not be done; a sentence says why. Of verify and repair: something is wrong with "
         "what is stored.\n"
         ".TP\n2\nWhat was asked for means nothing. Of verify and repair: it could not be looked at.\n";
}

}  // namespace mayfly::http
