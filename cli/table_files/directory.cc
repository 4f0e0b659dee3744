#include "cli/table_files/directory.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "compat/calls/times.h"
#include "compat/data_files/compression.h"
#include "compat/data_files/writer.h"
#include "os/path.h"

namespace mayfly::transfer {
namespace {

namespace fs = std::filesystem;
using json::Tree;

constexpr int directory_format = 1;
// A parsed manifest takes about 100 bytes per JSON value, and contains five values per data file.
constexpr std::size_t manifest_bytes_max = 64 * 1024 * 1024;
constexpr std::size_t manifest_values_max = 600'000;
// A table's description is 1 to 3 KB long and contains up to 100 values. All descriptions are kept in memory.
constexpr std::size_t description_bytes_max = 1024 * 1024;
constexpr std::size_t descriptions_bytes_max = 64 * 1024 * 1024;
constexpr std::size_t descriptions_values_max = 1'000'000;

// Whether `name` is valid for a table's directory. Valid names are DynamoDB's table names, which cannot lead
// out of the parent directory.
bool is_table_name(std::string_view name) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  return name.size() >= 3 && name.size() <= 255 &&
         name.find_first_not_of(allowed) == std::string_view::npos && name != directory_manifest &&
         name != directory_journal;
}

Expected<Tree, std::string> read_object(std::string_view text, const std::string& path,
                                        std::size_t values_max) {
  auto tree = json::parse_tree(text, json::Decimals::read, values_max);
  if (!tree && tree.error() == json::NoTree::too_many_values)
    return Unexpected{path + " has more than " + std::to_string(values_max) + " JSON values"};
  if (!tree || !tree->is_object()) return Unexpected{path + " is not a JSON object"};
  return *std::move(tree);
}

// Reads the tables' descriptions and limits their total size.
class Descriptions {
 public:
  explicit Descriptions(const Directory& directory) : directory_(directory) {}

  Expected<Tree, std::string> read(const std::string& name) {
    const std::string path = directory_.path_of(name);
    TRY(const std::string text, directory_.read_file(name, description_bytes_max));
    bytes_ += text.size();
    // Estimates the number of values: each value follows one of these characters.
    values_ += static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return c == '[' || c == ',' || c == ':'; }));
    if (bytes_ > descriptions_bytes_max || values_ > descriptions_values_max)
      return Unexpected{path + ": the table descriptions exceed " +
                        std::to_string(descriptions_bytes_max >> 20) + " MB or " +
                        std::to_string(descriptions_values_max) + " JSON values in total"};
    return read_object(text, path, descriptions_values_max);
  }

 private:
  const Directory& directory_;
  std::size_t bytes_ = 0, values_ = 0;
};

}  // namespace

bool is_vacant(const std::string& path) {
  std::error_code failure;
  const fs::path directory = os::path_of(path);
  return !fs::exists(directory, failure) ||
         (fs::is_directory(directory, failure) && fs::is_empty(directory, failure));
}

// --- reading

Expected<std::unique_ptr<Source>, std::string> DirectorySource::open(const std::string& path,
                                                                     const Selection& selection) {
  TRY(const auto directory, Directory::open(path));
  if (!directory->has(directory_manifest)) {
    return Unexpected{directory->has(directory_journal)
                          ? path + " is an incomplete export. Continue it with 'mayfly export --resume'"
                          : path + " is not an export: it has no " + directory_manifest};
  }
  const std::string manifest_path = directory->path_of(directory_manifest);
  TRY(const std::string text, directory->read_file(directory_manifest, manifest_bytes_max));
  TRY(const Tree manifest, read_object(text, manifest_path, manifest_values_max));
  const Tree* const tables = json::member(manifest, "tables");
  if (json::integer_member(manifest, "mayfly_export") != directory_format || tables == nullptr ||
      !tables->is_array())
    return Unexpected{manifest_path + " is not a manifest that this version can read"};
  if (tables->size() > tables_max)
    return Unexpected{manifest_path + " has more than " + std::to_string(tables_max) + " tables"};
  Descriptions descriptions(*directory);
  auto source = std::make_unique<DirectorySource>();
  source->taken_at_ = compat::control::parse_time(json::string_member(manifest, "begun").value_or(""));
  for (const Tree& one : *tables) {
    const std::string name(json::string_member(one, "name").value_or(""));
    if (!is_table_name(name))
      return Unexpected{manifest_path + " has a table with an invalid name: '" + name + "'"};
    if (!selection.has(name)) continue;
    DescribedTable table{.name = name};
    if (const std::string description = name + "/table.json"; directory->has(description)) {
      TRY(table.description, descriptions.read(description));
      const Tree* const described = json::member(table.description, "Table");
      if (described == nullptr || json::string_member(*described, "TableName") != name)
        return Unexpected{directory->path_of(description) + " does not describe table " + name};
      table.description["Table"]["ItemCount"] = json::integer_member(one, "items").value_or(0);
    }
    const Tree* const files = json::member(one, "files");
    for (const Tree& file : files != nullptr && files->is_array() ? *files : Tree::array()) {
      const std::string file_name(json::string_member(file, "name").value_or(""));
      const std::string sum(json::string_member(file, "sha256").value_or(""));
      if (sum.empty()) return Unexpected{manifest_path + " has a file of " + name + " without a checksum"};
      if (!is_name_within(file_name))
        return Unexpected{manifest_path + ": '" + file_name + "' is not a path within the directory"};
      if (source->files_.size() == data_files_max)
        return Unexpected{manifest_path + " lists more than " + std::to_string(data_files_max) + " files"};
      using compat::data_files::Compression;
      source->files_.emplace_back(
          source->tables_.size(),
          DataFile{.directory = directory,
                   .name = file_name,
                   .compression = file_name.ends_with(".gz")    ? Compression::gzip
                                  : file_name.ends_with(".zst") ? Compression::zstd
                                                                : Compression::none,
                   .sha256 = sum,
                   .items = static_cast<std::uint64_t>(json::integer_member(file, "items").value_or(0))});
    }
    source->tables_.push_back(std::move(table));
  }
  if (std::string unmet = selection.unmet(source->tables_, path); !unmet.empty())
    return Unexpected{std::move(unmet)};
  return std::unique_ptr<Source>(std::move(source));
}

Expected<std::unique_ptr<Pages>, std::string> DirectorySource::open(std::size_t part,
                                                                    const std::string& cursor) {
  return open_data_file(files_[part].second, files_[part].first, cursor);
}

// --- writing

Expected<void, std::string> DirectorySink::check(const std::vector<DescribedTable>& tables,
                                                 std::vector<Stage>& /*stages*/, bool resumed) {
  for (const DescribedTable& table : tables)
    if (!is_table_name(table.name))
      return Unexpected{table.name + ": the name is invalid or reserved. Choose another name with --rename"};
  if (!resumed && !is_vacant(options_.path))
    return Unexpected{options_.path + " is not empty. Name a new or empty directory"};
  return {};
}

Expected<void, std::string> DirectorySink::resume(const std::vector<Written>& written) {
  TRY(directory_, Directory::open(options_.path));
  const engine::Lock lock(mutex_);
  for (const Written& one : written) {
    TRY(auto file, directory_->open_to_grow(one.file, one.bytes));
    files_[one.file] = {std::move(file), one};
  }
  return {};
}

Expected<void, std::string> DirectorySink::begin(const std::vector<DescribedTable>& tables) {
  for (const DescribedTable& table : tables) names_.push_back(table.name);
  return {};
}

Expected<void, std::string> DirectorySink::make(const DescribedTable& table) {
  if (options_.items_only || !table.is_described()) return {};
  return directory_->write_file(table.name + "/table.json", json::print_indented(table.description) + "\n");
}

Expected<DirectorySink::Open*, std::string> DirectorySink::file_of(std::size_t table, std::size_t part) {
  char number[24];
  std::snprintf(number, sizeof number, "/data/%04zu.json", part);
  const std::string name = names_[table] + number + (options_.compressed ? ".gz" : "");
  const engine::Lock lock(mutex_);
  const auto found = files_.find(name);
  if (found != files_.end()) return &found->second;
  // An existing file is left over from a run that did not record it.
  TRY(auto file, directory_->open_to_grow(name, 0));
  return &files_.emplace(name, Open{std::move(file), {.file = name, .table = table}}).first->second;
}

Expected<Written, std::string> DirectorySink::write(std::size_t table, std::size_t part,
                                                    std::span<const engine::Item> items) {
  if (items.empty()) return Written{};
  TRY(Open* const open, file_of(table, part));
  std::string text;
  for (const engine::Item& item : items)
    compat::data_files::append_item(text, compat::data_files::Format::dynamodb_json, item);
  if (options_.compressed) {
    compat::data_files::Gzip gzip;
    gzip.add(text);
    gzip.end();
    text = gzip.take();
  }
  CHECK_OK(open->file->append(text));
  open->written.bytes = open->file->bytes();
  open->written.items += items.size();
  return open->written;
}

Expected<void, std::string> DirectorySink::complete(const DescribedTable& /*table*/) { return {}; }

Expected<void, std::string> DirectorySink::end() {
  const engine::Lock lock(mutex_);
  std::vector<Tree> files(names_.size(), Tree::array());
  std::vector<std::uint64_t> items(names_.size());
  for (auto& [name, open] : files_) {
    CHECK_OK(open.file->sync());
    TRY(const os::File file, directory_->open_to_read(name));
    TRY(std::string sum, sha256_of(file, directory_->path_of(name)));
    files[open.written.table].push_back({{"name", name},
                                         {"items", open.written.items},
                                         {"bytes", open.written.bytes},
                                         {"sha256", std::move(sum)}});
    items[open.written.table] += open.written.items;
  }
  Tree manifest = {{"mayfly_export", directory_format}};
  manifest.update(options_.about);
  manifest["tables"] = Tree::array();
  for (std::size_t table = 0; table < names_.size(); ++table) {
    manifest["tables"].push_back(
        {{"name", names_[table]}, {"items", items[table]}, {"files", std::move(files[table])}});
  }
  return directory_->write_file(directory_manifest, json::print_indented(manifest) + "\n");
}

std::vector<std::string> DirectorySink::files_of(std::size_t table) {
  const engine::Lock lock(mutex_);
  std::vector<std::string> paths;
  for (const auto& [name, open] : files_)
    if (open.written.table == table) paths.push_back(options_.path + "/" + name);
  return paths;
}

}  // namespace mayfly::transfer
