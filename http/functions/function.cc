#include "http/functions/function.h"

#include <cstdlib>
#include <filesystem>
#include <map>
#include <system_error>

#include "os/path.h"

namespace mayfly::http {
namespace {

// The variables of this process that programs need.
constexpr const char* passed_on[] = {
    "PATH",     "HOME",    "TMPDIR",      "TMP",     "TEMP",         "SystemRoot",  "SystemDrive",
    "ComSpec",  "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "ProgramData", "NUMBER_OF_PROCESSORS",
    "JAVA_HOME"};

std::string current_directory() {
  std::error_code error;
  return os::text_of(std::filesystem::current_path(error));
}

// On Windows, paths contain backslashes.
constexpr bool backslash_is_escape = std::filesystem::path::preferred_separator != '\\';

}  // namespace

std::string local_url(std::string url) {
  for (const std::string_view everywhere : {"//0.0.0.0:", "//[::]:"})
    if (const auto at = url.find(everywhere); at != std::string::npos)
      url.replace(at, everywhere.size(), "//127.0.0.1:");
  return url;
}

void add_variable(FunctionProgram& program, const std::string& text) {
  const auto equals = text.find('=');
  program.variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
}

std::string host_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> function_environment(const FunctionProgram& program, const FunctionScope& scope,
                                              const FunctionEndpoints& endpoints,
                                              const std::string& runtime_api, const std::string& log_stream) {
  std::map<std::string, std::string> variables;
  for (const char* name : passed_on)
    if (std::string value = host_variable(name); !value.empty()) variables[name] = std::move(value);
  const std::string none(os::empty_file);
  variables.merge(std::map<std::string, std::string>{
      {"AWS_LAMBDA_RUNTIME_API", runtime_api},
      {"AWS_LAMBDA_FUNCTION_NAME", program.name},
      {"AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"},
      {"AWS_LAMBDA_FUNCTION_MEMORY_SIZE", std::to_string(program.memory_mb)},
      {"AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand"},
      {"AWS_LAMBDA_LOG_GROUP_NAME", "/aws/lambda/" + program.name},
      {"AWS_LAMBDA_LOG_STREAM_NAME", log_stream},
      {"AWS_REGION", scope.region},
      {"AWS_DEFAULT_REGION", scope.region},
      {"AWS_ACCESS_KEY_ID", scope.account},
      {"AWS_SECRET_ACCESS_KEY", "mayfly"},
      {"AWS_ENDPOINT_URL", endpoints.others},
      {"AWS_ENDPOINT_URL_DYNAMODB", endpoints.mayfly},
      {"AWS_ENDPOINT_URL_DYNAMODB_STREAMS", endpoints.mayfly},
      {"AWS_ENDPOINT_URL_LAMBDA", endpoints.mayfly},
      {"AWS_CONFIG_FILE", none},
      {"AWS_SHARED_CREDENTIALS_FILE", none},
      {"AWS_EC2_METADATA_DISABLED", "true"},
      {"LAMBDA_TASK_ROOT", program.directory.empty() ? current_directory() : program.directory},
      {"LANG", "C.UTF-8"},
      {"TZ", ":UTC"},
  });
  // The first is read by AWS's SDKs, and the second by Node.js.
  if (!endpoints.certificates.empty())
    for (const char* name : {"AWS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"})
      variables[name] = endpoints.certificates;
  // Lambda's runtime brings the SDK there. Here, projects install it.
  if (program.language == FunctionProgram::Language::node)
    variables["NODE_PATH"] = os::text_of(os::path_of(current_directory()) / "node_modules");
  if (!program.handler.empty()) variables["_HANDLER"] = program.handler;
  if (!program.runtime.empty()) variables["AWS_EXECUTION_ENV"] = "AWS_Lambda_" + program.runtime;
  for (const auto& [name, value] : program.variables) variables[name] = value;
  std::vector<std::string> environment;
  for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);
  return environment;
}

std::vector<std::string> command_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool is_word = false;
  char quote = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\\' && backslash_is_escape && quote != '\'' && at + 1 < text.size()) {
      word += text[++at];
      is_word = true;
    } else if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      is_word = true;
    } else if (c == ' ' || c == '\t') {
      if (is_word) words.push_back(std::exchange(word, {}));
      is_word = false;
    } else {
      word += c;
      is_word = true;
    }
  }
  if (quote != 0) return {};
  if (is_word) words.push_back(std::move(word));
  return words;
}

}  // namespace mayfly::http
