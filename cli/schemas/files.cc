#include "cli/schemas/files.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "cli/schemas/cloudformation.h"
#include "cli/schemas/description.h"
#include "cli/schemas/terraform.h"
#include "cli/schemas/workbench.h"
#include "cli/schemas/yaml.h"
#include "os/path.h"
#include "os/reason.h"

namespace mayfly::schemas {

namespace {

namespace fs = std::filesystem;
using json::Tree;

constexpr std::uintmax_t file_bytes_max = 64 * 1024 * 1024;  // Terraform plans of large projects are large
constexpr std::size_t file_values_max = 10'000'000;
constexpr std::size_t files_max = 10'000;
constexpr int assembly_depth_max = 8;
constexpr const char* assembly_marker = "cdk.out";  // a file in each directory that `cdk synth` writes

// Whether `tree` is a configuration of the Serverless Framework. Only that framework can resolve the
// variables in such a configuration.
bool is_serverless(const Tree& tree) {
  return tree.is_object() && tree.contains("service") && !tree.contains("Resources") &&
         (tree.contains("provider") || tree.contains("functions") || tree.contains("resources"));
}

std::string serverless_sentence(const std::string& name) {
  return name +
         " is a Serverless Framework configuration. Run 'sls package' and pass the template that it "
         "writes: --schema .serverless/cloudformation-template-update-stack.json";
}

std::string terraform_sentence(const std::string& name, const std::string& what) {
  return name + " is a Terraform " + what +
         ". Run 'terraform show -json > tables.json' (for a plan: 'terraform show -json PLAN') and pass that "
         "file: --schema tables.json";
}

// Returns why the file is rejected, or an empty string if the file is not of a rejected kind.
std::string refusal(const Tree& tree, const std::string& name) {
  if (is_serverless(tree)) return serverless_sentence(name);
  if (tree.is_object() && tree.contains("terraform_version") && tree.contains("lineage"))
    return terraform_sentence(name, "state file");
  if (json::string_member(tree, "Type").value_or("").starts_with("AWS::DynamoDB::"))
    return name +
           " is one resource of a template. Pass the whole template, which lists the resource under "
           "Resources";
  return {};
}

Expected<std::string, std::string> read_text(const fs::path& path) {
  const std::string name = os::text_of(path);
  std::error_code failure;
  const auto bytes = fs::file_size(path, failure);
  if (failure) return Unexpected{name + ": " + os::reason(failure)};
  if (bytes > file_bytes_max) return Unexpected{name + " is larger than 64 MB"};
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  if (!file) return Unexpected{name + " cannot be read"};
  return text;
}

Expected<void, std::string> read_file(const fs::path& path, const SchemaContext& context,
                                      SchemaFiles& files) {
  const std::string name = os::text_of(path);
  if (path.extension() == ".tf") return Unexpected{terraform_sentence(name, "configuration")};
  TRY(const std::string text, read_text(path));
  std::optional<Tree> tree;
  if (auto parsed = json::parse_tree(text, json::Decimals::read, file_values_max)) tree = *std::move(parsed);
  if (!tree) {
    // Text that is not valid JSON is parsed as YAML, so errors in JSON are reported as YAML errors.
    auto read = parse_yaml(text);
    if (!read && path.stem() == "serverless") return Unexpected{serverless_sentence(name)};
    if (!read) return Unexpected{name + ": " + read.error()};
    tree = *std::move(read);
  }
  if (is_cloudformation(*tree)) return read_cloudformation(*tree, name, context, files);
  if (is_workbench(*tree)) return read_workbench(*tree, name, files.tables);
  if (is_terraform(*tree)) return read_terraform(*tree, name, context, files);
  if (is_description(*tree)) {
    TRY(auto tables, read_descriptions(*tree, name, context.region));
    std::move(tables.begin(), tables.end(), std::back_inserter(files.tables));
    return {};
  }
  if (std::string sentence = refusal(*tree, name); !sentence.empty()) return Unexpected{std::move(sentence)};
  return {};
}

// The entries of a directory, sorted by name.
Expected<std::vector<fs::path>, std::string> list(const fs::path& directory) {
  std::vector<fs::path> entries;
  std::error_code failure;
  for (fs::directory_iterator entry(directory, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    if (entries.size() == files_max)
      return Unexpected{os::text_of(directory) + " has more than 10,000 files"};
    entries.push_back(entry->path());
  }
  if (failure) return Unexpected{os::text_of(directory) + ": " + os::reason(failure)};
  std::sort(entries.begin(), entries.end());
  return entries;
}

bool is_regular(const fs::path& path) {
  std::error_code failure;
  return fs::is_regular_file(path, failure);
}

// Searches a directory for files that may define tables.
Expected<void, std::string> find_files(const fs::path& directory, int depth, std::vector<fs::path>& found) {
  static const std::set<std::string> endings = {".json", ".yaml", ".yml", ".template"};
  const bool is_assembly = is_regular(directory / assembly_marker);
  TRY(const auto entries, list(directory));
  for (const fs::path& entry : entries) {
    const std::string name = os::text_of(entry.filename());
    if (is_regular(entry)) {
      if (is_assembly ? name.ends_with(".template.json") : endings.contains(os::text_of(entry.extension())))
        found.push_back(entry);
    } else if (is_assembly && name.starts_with("assembly-") && is_regular(entry / assembly_marker)) {
      if (depth == assembly_depth_max)
        return Unexpected{os::text_of(entry) + ": CDK assemblies are nested more than 8 deep"};
      CHECK_OK(find_files(entry, depth + 1, found));
    }
    if (found.size() > files_max) return Unexpected{os::text_of(directory) + " has more than 10,000 files"};
  }
  return {};
}

}  // namespace

Expected<SchemaFiles, std::string> read_schema_files(const std::string& path, const SchemaContext& context) {
  SchemaFiles files;
  std::error_code failure;
  if (!fs::is_directory(os::path_of(path), failure)) {
    CHECK_OK(read_file(os::path_of(path), context, files));
    if (files.define_nothing() && !files.warnings.empty()) return Unexpected{files.warnings.front()};
    if (files.define_nothing())
      return Unexpected{path +
                        " defines no tables. It must be a CloudFormation template, a NoSQL Workbench model, "
                        "or the output of `terraform show -json` or `aws dynamodb describe-table`"};
    return files;
  }
  std::vector<fs::path> found;
  CHECK_OK(find_files(os::path_of(path), 0, found));
  for (const fs::path& file : found) {
    SchemaFiles of_file;
    if (const auto read = read_file(file, context, of_file); !read) {
      if (context.strict) return Unexpected{read.error()};
      files.warnings.push_back("skipped " + read.error());
      continue;
    }
    files.append(std::move(of_file));
  }
  if (files.define_nothing()) {
    std::string sentence = path + " has no file that defines tables";
    for (const std::string& warning : files.warnings) sentence += "; " + warning;
    return Unexpected{std::move(sentence)};
  }
  return files;
}

}  // namespace mayfly::schemas
