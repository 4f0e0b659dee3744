// Formats help, and errors for invalid values and command lines.
//
//   app.add_option("--port", port, "Port to listen on")->check(between(0, 65535))->type_name("N");
//   // --port 99999  ->  "--port must be between 0 and 65535, got 99999"
//   // --help        ->  "--port N    Port to listen on (0 to 65535, default: 8000)"
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/text.h"

namespace mayfly::cli {

// --- checks
//
// A check's message is a predicate, "must be …, got 'x'". refusal() puts the option's name before it.

CLI::Validator between(std::int64_t least, std::int64_t most);  // a whole number
CLI::Validator between_decimals(double least, double most);
CLI::Validator positive();      // a number greater than zero
CLI::Validator whole_number();  // 64 bits, without a range for --help to show
CLI::Validator one_of(std::vector<std::string> values);
// Like one_of(), but ignores case. For an option whose variable is an enum.
template <typename Enum>
CLI::Validator choice(std::vector<std::pair<std::string, Enum>> values);

std::string must_be(std::string_view what, std::string_view given);  // "must be WHAT, got 'GIVEN'"

// --- refusals

// A sentence about the first unknown word: one that is not a command where a command is expected, or an
// option that its command does not have. Empty if there is no such word.
std::string unknown_word(const CLI::App& app, const std::vector<std::string>& words);

// Returns `words` and, for each variable that is set, its option, unless `words` already has that option:
// MAYFLY_PORT=1 becomes --port=1. CLI11 reads variables too, but since version 2.3 it ignores values that a
// check rejects.
std::vector<std::string> with_environment(const CLI::App& app, std::vector<std::string> words);

// A sentence that says why the command line could not be parsed.
std::string refusal(const CLI::App& app, const CLI::ParseError& error);

// The path of the last command that was parsed: "mayfly clock advance".
std::string parsed_path(const CLI::App& app);

// --- help

// These functions return the commands that --help lists, all options including positionals, and the option
// with a name such as "--url" (nullptr if there is none).
std::vector<const CLI::App*> listed_commands(const CLI::App& app);
std::vector<const CLI::Option*> options_of(const CLI::App& app);
const CLI::Option* option_named(const CLI::App& app, const std::string& name);

std::shared_ptr<CLI::FormatterBase> help_formatter();

// An option's value as --help shows it: "N", "MIN MAX", "NAME=VALUE ...". Empty for a flag.
std::string value_of(const CLI::Option& option);
// An option's description with its range and default: "Port to listen on (0 to 65535, default: 8000)".
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
        return must_be(engine::alternatives(names), given);
      },
      "");
}

}  // namespace mayfly::cli
