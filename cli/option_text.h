// The texts of the command line: refusals of values and command lines, and help.
//
//   app.add_option("--port", port, "Port to listen on")->check(between(0, 65535))->type_name("N");
//   // --port 99999  ->  "--port must be between 0 and 65535, got 99999"
//   // --help        ->  "--port N    Port to listen on (0 to 65535, default: 8000) [MAYFLY_PORT]"
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mayfly::http {

// --- checks
//
// A check's message is a predicate, "must be …, got 'x'": refusal() puts the option's name before it.

CLI::Validator between(std::int64_t least, std::int64_t most);  // a whole number
CLI::Validator between_decimals(double least, double most);
CLI::Validator positive();      // a number greater than zero
CLI::Validator whole_number();  // of 64 bits, without a range that --help should show
CLI::Validator one_of(std::vector<std::string> values);
// The same in any case, for an option whose variable is an enum.
template <typename Enum>
CLI::Validator choice(std::vector<std::pair<std::string, Enum>> values);

std::string must_be(std::string_view what, std::string_view given);  // "must be WHAT, got 'GIVEN'"
// "debug, info or off"
std::string alternatives(const std::vector<std::string>& values);

// --- refusals

// The first word that is not a command where a command is expected, or that looks like an option and is not
// an option of its command, as a sentence. Empty: there is no such word.
std::string unknown_word(const CLI::App& app, const std::vector<std::string>& words);

// `words` with an option for each variable that is set and whose option is not among them: MAYFLY_PORT=1
// becomes --port=1. CLI11 reads variables as well, but from 2.3 on it ignores values that a check rejects.
std::vector<std::string> with_environment(const CLI::App& app, std::vector<std::string> words);

// Why the command line could not be parsed, as a sentence.
std::string refusal(const CLI::App& app, const CLI::ParseError& error);

// "mayfly clock advance": the command that was parsed, as far as there is one.
std::string parsed_path(const CLI::App& app);

// --- help

// The commands that --help lists, all options with positionals, and the option of that name ("--url";
// nullptr: none).
std::vector<const CLI::App*> listed_commands(const CLI::App& app);
std::vector<const CLI::Option*> options_of(const CLI::App& app);
const CLI::Option* option_named(const CLI::App& app, const std::string& name);

std::shared_ptr<CLI::FormatterBase> help_formatter();

// The value of an option, as --help shows it: "N", "DIR", "NAME=VALUE ...". Empty: it is a flag.
std::string value_of(const CLI::Option& option);
// Its description with its range, default and variable.
std::string description_of(const CLI::Option& option);

template <typename Enum>
CLI::Validator choice(std::vector<std::pair<std::string, Enum>> values) {
  return CLI::Validator(
      [values = std::move(values)](std::string& given) {
        std::vector<std::string> names;
        for (const auto& [name, value] : values) {
          if (CLI::detail::to_lower(given) == name) {
            given = std::to_string(static_cast<int>(value));
            return std::string();
          }
          names.push_back(name);
        }
        return must_be(alternatives(names), given);
      },
      "");
}

}  // namespace mayfly::http
