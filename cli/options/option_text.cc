#include "cli/options/option_text.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <set>

#include "cli/base/fail.h"
#include "cli/base/nearest.h"
#include "engine/base/text.h"
#include "http/base/log.h"

namespace mayfly::cli {
namespace {

constexpr std::size_t value_column = 37, line_length = 120;

template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_number(std::string_view text) { return number_of<double>(text).has_value(); }

// Returns a number unchanged, and any other text in quotes.
std::string shown(std::string_view given) {
  return is_number(given) ? std::string(given) : "'" + http::log::printable(given) + "'";
}

std::string in_short(double number) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

// True for "--help", "-x" and "--a=b"; false for "-", "--" and "-1h".
bool looks_like_option(std::string_view word) {
  if (word.starts_with("--")) return word.size() > 2 && engine::is_letter(word[2]);
  return word.size() > 1 && word[0] == '-' && engine::is_letter(word[1]);
}

// The command that the first words of a command line name.
struct Named {
  const CLI::App* command;
  std::string path;   // "mayfly clock advance"
  std::size_t words;  // the number of words that name the command
};

Named named_command(const CLI::App& app, const std::vector<std::string>& words) {
  Named named{.command = &app, .path = app.get_name(), .words = 0};
  for (; named.words < words.size(); ++named.words) {
    const std::string& word = words[named.words];
    const auto commands =
        named.command->get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
    if (commands.empty()) break;
    named.command = commands.front();
    named.path += " " + word;
  }
  return named;
}

std::string unknown_option(const CLI::App& command, const std::string& path, const std::string& name) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options_of(command))
    for (const std::string& known : option->get_lnames()) names.push_back("--" + known);
  const std::string meant = nearest(name, names);
  return "unknown option " + in_quotes(name) + " of '" + path + "'. " +
         (meant.empty() ? "" : "Did you mean '" + meant + "'? ") + "Run '" + path +
         " --help' for its options.";
}

std::string unknown_command(const CLI::App& group, const std::string& path, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* command : listed_commands(group)) names.push_back(command->get_name());
  const std::string sentence = "unknown command '" + path + " " + http::log::printable(word) + "'. ";
  if (const std::string meant = nearest(word, names); !meant.empty())
    return sentence + "Did you mean '" + path + " " + meant + "'?";
  if (group.get_parent() == nullptr) return sentence + "Run 'mayfly help' for all commands.";
  return sentence + "The commands of '" + path + "' are " + CLI::detail::join(names, ", ") + ".";
}

// --- help

// Breaks `text` into lines. All but the first are indented by `indent` spaces.
std::string wrapped(const std::string& text, std::size_t indent) {
  std::string lines;
  std::size_t column = indent;
  for (const std::string& word : CLI::detail::split(text, ' ')) {
    if (column > indent && column + 1 + word.size() > line_length) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
  }
  return lines;
}

std::string row(const std::string& left, const std::string& right) {
  std::string line = "  " + left;
  if (line.size() + 2 > value_column)
    line += "\n" + std::string(value_column, ' ');
  else
    line.resize(value_column, ' ');
  return line + wrapped(right, value_column) + "\n";
}

// Returns a sentence that says which environment variables set the command's options, or an empty string if
// no variable does so.
std::string environment_of(const CLI::App& app) {
  std::vector<std::string> variables;
  std::string last;  // the last option with a variable
  std::size_t options = 0;
  for (const CLI::Option* option : options_of(app)) {
    if (option == app.get_help_ptr() || option->get_positional()) continue;
    ++options;
    if (option->get_envname().empty()) continue;
    variables.push_back(option->get_envname());
    last = option->get_name();
  }
  if (variables.empty()) return {};
  if (variables.size() == options)
    return "Each option can also be set by an environment variable: " + last + " by " + variables.back() +
           ".";
  return "Environment variables: " + CLI::detail::join(variables, ", ") + ".";
}

// CLI11 keeps an option's type and the ranges of its checks in one text: "TEXT:0 to 65535".
std::pair<std::string, std::string> type_and_range(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const auto colon = type.find(':');
  if (colon == std::string::npos) return {type, ""};
  return {type.substr(0, colon), type.substr(colon + 1)};
}

class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter() { label("Positionals", "Arguments"); }

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    // CLI11 and make_group() both add an empty line between groups.
    for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
    if (text.ends_with("\n\n")) text.pop_back();
    return text;
  }

  std::string make_description(const CLI::App* app) const override { return app->get_description() + "\n\n"; }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = "Usage: " + name;
    for (const CLI::Option* option : options_of(*app))
      if (option->get_positional()) usage += " " + make_option_usage(option);
    if (!listed_commands(*app).empty())
      usage += app->get_require_subcommand_min() > 0 ? " COMMAND" : " [COMMAND]";
    return usage + " [OPTIONS]\n";
  }

  std::string make_option_usage(const CLI::Option* option) const override {
    const std::string name = option->get_name(true) + (option->get_items_expected_max() > 1 ? "..." : "");
    return option->get_required() ? name : "[" + name + "]";
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    if (is_positional) return row(option->get_name(true), description_of(*option));
    std::string names;
    for (const std::string& name : option->get_snames()) names += (names.empty() ? "-" : ", -") + name;
    for (const std::string& name : option->get_lnames()) names += (names.empty() ? "--" : ", --") + name;
    const std::string value = value_of(*option);
    return row(value.empty() ? names : names + " " + value, description_of(*option));
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return row(command->get_name(), command->get_description());
  }

  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    std::string text = "\n" + group + ":\n";
    for (const CLI::Option* option : options) text += make_option(option, is_positional);
    return text;
  }

  std::string make_footer(const CLI::App* app) const override {
    const std::string environment = environment_of(*app), footer = app->get_footer();
    return (environment.empty() ? "" : wrapped(environment, 0) + "\n") +
           (environment.empty() || footer.empty() ? "" : "\n") + (footer.empty() ? "" : footer + "\n");
  }
};

}  // namespace

std::vector<const CLI::App*> listed_commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option*) { return true; });
}

const CLI::Option* option_named(const CLI::App& app, const std::string& name) {
  for (const CLI::Option* option : options_of(app))
    if (option->check_name(name)) return option;
  return nullptr;
}

std::string must_be(std::string_view what, std::string_view given) {
  return "must be " + std::string(what) + ", got " + shown(given);
}

CLI::Validator between(std::int64_t least, std::int64_t most) {
  return CLI::Validator(
      [least, most](std::string& given) {
        const std::string wanted = "between " + std::to_string(least) + " and " + std::to_string(most);
        const auto number = number_of<std::int64_t>(given);
        if (number) return *number >= least && *number <= most ? std::string() : must_be(wanted, given);
        return must_be(is_number(given) ? wanted : "a number " + wanted, given);
      },
      std::to_string(least) + " to " + std::to_string(most));
}

CLI::Validator between_decimals(double least, double most) {
  return CLI::Validator(
      [least, most](std::string& given) {
        const auto number = number_of<double>(given);
        return number && *number >= least && *number <= most
                   ? std::string()
                   : must_be("a number between " + in_short(least) + " and " + in_short(most), given);
      },
      in_short(least) + " to " + in_short(most));
}

CLI::Validator positive() {
  return CLI::Validator(
      [](std::string& given) {
        const auto number = number_of<double>(given);
        return number && *number > 0 ? std::string() : must_be("a number greater than 0", given);
      },
      "");
}

CLI::Validator whole_number() {
  return CLI::Validator(
      [](std::string& given) {
        return number_of<std::int64_t>(given) || number_of<std::uint64_t>(given)
                   ? std::string()
                   : must_be("a whole number", given);
      },
      "");
}

CLI::Validator one_of(std::vector<std::string> values) {
  return CLI::Validator(
      [values = std::move(values)](std::string& given) {
        if (std::find(values.begin(), values.end(), given) != values.end()) return std::string();
        const std::string meant = nearest(given, values);
        return must_be(engine::alternatives(values), given) +
               (meant.empty() ? "" : ". Did you mean '" + meant + "'?");
      },
      "");
}

std::string unknown_word(const CLI::App& app, const std::vector<std::string>& words) {
  const Named named = named_command(app, words);
  if (named.words < words.size() && !looks_like_option(words[named.words]) &&
      named.command->get_require_subcommand_min() > 0)
    return unknown_command(*named.command, named.path, words[named.words]);
  for (std::size_t i = named.words; i < words.size() && words[i] != "--"; ++i) {
    if (!looks_like_option(words[i])) continue;
    const auto equals = words[i].find('=');
    const std::string name = words[i].substr(0, equals);
    if (name == "--help" || name == "-h") return {};
    const CLI::Option* option = option_named(*named.command, name);
    if (option == nullptr) return unknown_option(*named.command, named.path, name);
    if (equals == std::string::npos) i += static_cast<std::size_t>(option->get_items_expected_min());
  }
  return {};
}

std::vector<std::string> with_environment(const CLI::App& app, std::vector<std::string> words) {
  const Named named = named_command(app, words);
  std::set<const CLI::Option*> given;
  for (std::size_t i = named.words; i < words.size() && words[i] != "--"; ++i)
    if (looks_like_option(words[i]))
      given.insert(option_named(*named.command, words[i].substr(0, words[i].find('='))));
  auto at = words.begin() + static_cast<std::ptrdiff_t>(named.words);
  for (const CLI::Option* option : options_of(*named.command)) {
    if (option->get_envname().empty() || given.contains(option)) continue;
    const char* const value = std::getenv(option->get_envname().c_str());
    if (value == nullptr || *value == '\0') continue;
    at = words.insert(at, "--" + option->get_lnames().front() + "=" + value) + 1;
  }
  return words;
}

std::string parsed_path(const CLI::App& app) {
  std::string path = app.get_name();
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    path += " " + at->get_name();
  }
  return path;
}

std::string refusal(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  const std::string path = parsed_path(app), text = error.what();
  const std::string help = " Run '" + path + " --help' for its options.";
  const auto colon = text.find(": ");
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) return text + "." + help;
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const auto rest = command->remaining();
    return "unexpected argument " + (rest.empty() ? "" : in_quotes(rest.front())) + " of '" + path + "'." +
           help;
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && colon != std::string::npos) {
    const std::string name = text.substr(0, colon);
    const CLI::Option* option = option_named(*command, name);
    if (CLI::detail::to_lower(text).find("at most") != std::string::npos)
      return name +
             (option != nullptr && option->get_positional() ? " has too many values."
                                                            : " was given more than once.") +
             help;
    const int count = option == nullptr ? 1 : option->get_items_expected_min();
    return name + " needs " + (count > 1 ? std::to_string(count) + " values." : "a value.") + help;
  }
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr)
    if (const auto at = text.find(" excludes "); at != std::string::npos)
      return text.substr(0, at) + " and " + text.substr(at + 10) + " cannot be combined.";
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr && colon != std::string::npos)
    return text.substr(0, colon) + " " + text.substr(colon + 2);
  if (constexpr std::string_view before = "Could not convert: "; text.starts_with(before)) {
    const auto equals = text.find(" = ");
    if (equals != std::string::npos) {
      const std::string name = text.substr(before.size(), equals - before.size()),
                        given = text.substr(equals + 3);
      const CLI::Option* option = option_named(*command, name);
      if (option != nullptr && option->get_items_expected_max() == 0)
        return name + " " + must_be("true or false", given);
      return name + " does not take " + in_quotes(given) + "." + help;
    }
  }
  return http::log::printable(text) + "." + help;
}

std::string value_of(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0 || option.get_type_size_max() == 0) return {};
  std::string type = type_and_range(option).first;
  if (type == "INT" || type == "UINT" || type == "FLOAT") type = "N";
  return option.get_items_expected_max() >= CLI::detail::expected_max_vector_size ? type + " ..." : type;
}

std::string description_of(const CLI::Option& option) {
  const std::string range = type_and_range(option).second;
  const std::string initial = option.get_required() && option.nonpositional() ? "required"
                              : option.get_default_str().empty()              ? ""
                                                                 : "default: " + option.get_default_str();
  std::string text = option.get_description();
  if (!range.empty() || !initial.empty())
    text += " (" + range + (range.empty() || initial.empty() ? "" : ", ") + initial + ")";
  return text;
}

std::shared_ptr<CLI::FormatterBase> help_formatter() { return std::make_shared<HelpFormatter>(); }

}  // namespace mayfly::cli
