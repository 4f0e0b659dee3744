#include "cli/functions/registered.h"

#include <nlohmann/json.hpp>

#include "compat/json/json_tree.h"
#include "compat/wire/percent_encoding.h"

namespace mayfly::cli {

Expected<std::map<std::string, std::string>, CallFailure> registered_functions(const ServerCalls& server) {
  TRY(const std::string answer, server.control("GET", "/_mayfly/functions"));
  const auto tree = json::parse_tree(answer);
  const json::Tree* const listed = tree ? json::member(*tree, "functions") : nullptr;
  if (listed == nullptr || !listed->is_array())
    return Unexpected{CallFailure{{}, "the server's response has no list of functions. Is it Mayfly?"}};
  std::map<std::string, std::string> functions;
  for (const json::Tree& function : *listed) {
    const auto name = json::string_member(function, "name"), url = json::string_member(function, "url");
    if (name && url) functions.emplace(*name, *url);
  }
  return functions;
}

std::string function_path(const std::string& name) {
  std::string path = "/_mayfly/functions/";
  compat::append_encoded(path, name, "");
  return path;
}

}  // namespace mayfly::cli
