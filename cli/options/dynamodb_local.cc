#include "cli/options/dynamodb_local.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

namespace mayfly::cli {

namespace {

constexpr std::string_view jar = "DynamoDBLocal.jar";
constexpr std::string_view main_class = "com.amazonaws.services.dynamodbv2.local.main.ServerRunner";
constexpr std::string_view main_class_now = "software.amazon.dynamodb.services.local.main.ServerRunner";

// Mayfly stores its data in this subdirectory of the directory that DynamoDB Local would use, so that the
// files of the two programs do not mix.
constexpr std::string_view data_subdirectory = "/mayfly";

struct Settings {
  bool shared = false, in_memory = false, delays = false;
  std::string port = "8000", path, cors;
  std::vector<std::string> ignored;
};

// Returns the index of the program's own first argument, which follows java's arguments.
std::optional<std::size_t> after_java(const std::string& program, const std::vector<std::string>& arguments,
                                      std::vector<std::string>& ignored) {
  const bool is_java = std::string_view(program).substr(program.rfind('/') + 1) == "java";
  if (!is_java && (arguments.empty() || arguments[0].empty() || arguments[0][0] != '-')) return std::nullopt;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == main_class || word == main_class_now || word.ends_with(jar)) return i + 1;
    if (word == "-jar") continue;
    ignored.push_back(word);
    if (word == "-cp" || word == "-classpath") ++i;
  }
  return is_java ? std::optional(arguments.size()) : std::nullopt;
}

std::string yes_or_no(bool value) { return value ? "true" : "false"; }

}  // namespace

std::optional<DynamoDbLocal> read_dynamodb_local(const std::string& program,
                                                 const std::vector<std::string>& arguments) {
  Settings settings;
  const auto begin = after_java(program, arguments, settings.ignored);
  if (!begin) return std::nullopt;

  DynamoDbLocal result;
  const std::map<std::string_view, bool*> flags = {{"-sharedDb", &settings.shared},
                                                   {"-inMemory", &settings.in_memory},
                                                   {"-delayTransientStatuses", &settings.delays}};
  const std::map<std::string_view, std::string*> values = {
      {"-port", &settings.port}, {"-dbPath", &settings.path}, {"-cors", &settings.cors}};
  for (std::size_t i = *begin; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (const auto flag = flags.find(word); flag != flags.end()) {
      *flag->second = true;
    } else if (const auto value = values.find(word); value != values.end()) {
      if (++i == arguments.size()) {
        result.problem = "DynamoDB Local's " + word + " needs a value";
        return result;
      }
      *value->second = arguments[i];
    } else if (word.starts_with('-')) {
      settings.ignored.push_back(word);
    } else {
      result.problem = "DynamoDB Local has no option '" + word + "'";
      return result;
    }
  }
  if (settings.in_memory && !settings.path.empty()) {
    result.problem = "-dbPath and -inMemory cannot be combined";
    return result;
  }

  result.serve = {"serve", "--port", settings.port};
  const auto add = [&](std::string option) { result.serve.push_back(std::move(option)); };
  if (settings.shared) add("--shared-regions");
  if (!settings.in_memory) {
    add("--data");
    add((settings.path.empty() ? "." : settings.path) + std::string(data_subdirectory));
  }
  if (settings.delays) {
    add("--table-delay-ms");
    add("1000");
  }
  if (!settings.cors.empty()) {
    add("--cors-origin");
    add(settings.cors);
  } else {
    result.notes.emplace_back(
        "Unlike DynamoDB Local, Mayfly rejects web pages from other origins; -cors ORIGIN allows an origin");
  }
  if (!settings.shared) {
    result.notes.emplace_back(
        "Unlike DynamoDB Local without -sharedDb, Mayfly uses the same tables for all access keys except "
        "keys of twelve digits");
  }
  for (const std::string& option : settings.ignored) result.notes.push_back("Ignored: " + option);

  const std::string path = settings.in_memory ? "null" : settings.path.empty() ? "." : settings.path;
  result.banner = "Initializing DynamoDB Local with the following configuration:\nPort:\t" + settings.port +
                  "\nInMemory:\t" + yes_or_no(settings.in_memory) +
                  "\nVersion:\tMayfly " MAYFLY_VERSION "\nDbPath:\t" + path + "\nSharedDb:\t" +
                  yes_or_no(settings.shared) + "\nshouldDelayTransientStatuses:\t" +
                  yes_or_no(settings.delays) + "\nCorsParams:\t" +
                  (settings.cors.empty() ? "null" : settings.cors) + "\n\n";
  return result;
}

}  // namespace mayfly::cli
