#include "cli/schemas/function_code.h"

#include <filesystem>
#include <system_error>

#include "os/path.h"

namespace mayfly::schemas {

namespace {

namespace fs = std::filesystem;

bool has(const fs::path& path) {
  std::error_code failure;
  return fs::exists(path, failure);
}

}  // namespace

FunctionCode no_code(std::string problem) {
  FunctionCode code;
  code.problem = std::move(problem);
  return code;
}

FunctionCode container_image() {
  return no_code(
      "it is a container image. Give the program in the image: --function NAME=exec:COMMAND (or python:, "
      "node:, java:)");
}

std::string directory_of(const std::string& file) {
  const fs::path parent = os::path_of(file).parent_path();
  return parent.empty() ? "." : os::text_of(parent);
}

FunctionCode code_at(const std::string& directory, const std::string& path, std::string_view built_by) {
  if (path.starts_with("s3://")) return uploaded_code(directory, path, built_by);
  const fs::path whole = (os::path_of(directory) / os::path_of(path)).lexically_normal();
  if (!has(whole))
    return no_code("its code " + os::text_of(whole) + " does not exist. " + std::string(built_by));
  FunctionCode code;
  code.path = os::text_of(whole);
  return code;
}

FunctionCode uploaded_code(const std::string& directory, const std::string& key, std::string_view built_by) {
  const std::string name = key.substr(key.rfind('/') + 1);
  const std::string stem = name.substr(0, name.rfind('.'));
  for (const std::string& candidate : {name, "asset." + stem, "asset." + name}) {
    const fs::path path = os::path_of(directory) / os::path_of(candidate);
    if (candidate.empty() || candidate == ".." || !has(path)) continue;
    FunctionCode code;
    code.path = os::text_of(path.lexically_normal());
    return code;
  }
  return no_code("its code is in S3 (" + key + "), and " + directory + " has no file " + name + ". " +
                 std::string(built_by));
}

}  // namespace mayfly::schemas
