#include "cli/schemas/files.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include "cli/schemas/cloudformation.h"
#include "cli/schemas/description.h"
#include "cli/schemas/terraform.h"
#include "cli/schemas/yaml.h"

namespace mayfly::schemas {

namespace {

namespace fs = std::filesystem;
using json::Tree;
using Schemas = Expected<std::vector<TableSchema>, std::string>;

constexpr std::uintmax_t file_bytes_max = 64 * 1024 * 1024;  // a Terraform plan of everything is large

Schemas read_file(const fs::path& path, const SchemaContext& context) {
  const std::string name = path.string();
  std::error_code failure;
  const auto bytes = fs::file_size(path, failure);
  if (failure) return Unexpected{name + ": " + failure.message()};
  if (bytes > file_bytes_max) return Unexpected{name + " is larger than 64 MB"};
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  if (!file) return Unexpected{name + " cannot be read"};

  auto tree = json::parse_tree(text);
  if (!tree) {
    // JSON is YAML, too, but what is wrong with it is then said of YAML.
    auto read = parse_yaml(text);
    if (!read) return Unexpected{name + ": " + read.error()};
    tree = *std::move(read);
  }
  if (is_cloudformation(*tree)) return read_cloudformation(*tree, name, context);
  if (is_terraform(*tree)) return read_terraform(*tree, name);
  if (is_description(*tree)) return read_descriptions(*tree, name, context.region);
  return std::vector<TableSchema>();
}

bool is_of_a_kind_that_is_read(const fs::path& path) {
  static const std::set<std::string> endings = {".json", ".yaml", ".yml", ".template"};
  return endings.contains(path.extension().string());
}

}  // namespace

Schemas read_schema_files(const std::string& path, const SchemaContext& context) {
  std::error_code failure;
  if (!fs::is_directory(path, failure)) {
    TRY(auto schemas, read_file(path, context));
    if (schemas.empty())
      return Unexpected{
          path +
          " defines no tables: it should be a CloudFormation template, `terraform show -json`, or "
          "what describe-table prints"};
    return schemas;
  }
  std::vector<fs::path> files;
  for (fs::directory_iterator entry(path, failure), end; !failure && entry != end; entry.increment(failure))
    if (entry->is_regular_file(failure) && is_of_a_kind_that_is_read(entry->path()))
      files.push_back(entry->path());
  if (failure) return Unexpected{path + ": " + failure.message()};
  std::sort(files.begin(), files.end());
  std::vector<TableSchema> all;
  for (const fs::path& file : files) {
    TRY(auto schemas, read_file(file, context));
    std::move(schemas.begin(), schemas.end(), std::back_inserter(all));
  }
  if (all.empty()) return Unexpected{path + " has no file that defines tables"};
  return all;
}

}  // namespace mayfly::schemas
