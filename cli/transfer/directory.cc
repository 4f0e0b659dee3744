#include "cli/transfer/directory.h"

#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "compat/control/call.h"
#include "compat/data_files/compression.h"
#include "compat/data_files/writer.h"

namespace mayfly::transfer {
namespace {

namespace fs = std::filesystem;
using json::Tree;

constexpr int directory_format = 1;
constexpr std::size_t manifest_bytes_max = 256 * 1024 * 1024;
constexpr std::size_t description_bytes_max = 16 * 1024 * 1024;

// Names that a table's directory may have: DynamoDB's, none of which leads elsewhere.
bool is_table_name(std::string_view name) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  return name.size() >= 3 && name.size() <= 255 &&
         name.find_first_not_of(allowed) == std::string_view::npos && name != directory_manifest &&
         name != directory_journal;
}

// "carts/data/0000.json.gz": a path within the directory.
bool is_file_name(std::string_view name) {
  if (name.empty() || name.find('\\') != std::string_view::npos) return false;
  const fs::path path(name);
  if (path.is_absolute()) return false;
  for (const fs::path& step : path)
    if (step == ".." || step == "." || step.empty()) return false;
  return true;
}

Expected<Tree, std::string> read_json(const std::string& path, std::size_t bytes_max) {
  TRY(const std::string text, read_file(path, bytes_max));
  auto tree = json::parse_tree(text);
  if (!tree || !tree->is_object()) return Unexpected{path + " is no JSON object"};
  return *std::move(tree);
}

}  // namespace

bool is_vacant(const std::string& path) {
  std::error_code failure;
  return !fs::exists(path, failure) || (fs::is_directory(path, failure) && fs::is_empty(path, failure));
}

// --- reading

Expected<std::unique_ptr<Source>, std::string> DirectorySource::open(const std::string& path,
                                                                     const Selection& selection) {
  const std::string manifest_path = path + "/" + directory_manifest;
  if (std::error_code failure; !fs::exists(manifest_path, failure)) {
    const bool is_cut_short = fs::exists(path + "/" + directory_journal, failure);
    return Unexpected{is_cut_short
                          ? path + " is an export that has not ended: go on with mayfly export --resume"
                          : path + " is no export: it has no " + directory_manifest};
  }
  TRY(const Tree manifest, read_json(manifest_path, manifest_bytes_max));
  const Tree* const tables = json::member(manifest, "tables");
  if (json::integer_member(manifest, "mayfly_export") != directory_format || tables == nullptr ||
      !tables->is_array())
    return Unexpected{manifest_path + " is no manifest that this version reads"};
  auto source = std::make_unique<DirectorySource>();
  source->taken_at_ = compat::control::parse_time(json::string_member(manifest, "begun").value_or(""));
  for (const Tree& one : *tables) {
    const std::string name(json::string_member(one, "name").value_or(""));
    if (!is_table_name(name)) return Unexpected{manifest_path + " has a table with a name that is none"};
    if (!selection.has(name)) continue;
    DescribedTable table{.name = name};
    const std::string description_path = path + "/" + name + "/table.json";
    if (std::error_code failure; fs::exists(description_path, failure)) {
      TRY(table.description, read_json(description_path, description_bytes_max));
      const Tree* const described = json::member(table.description, "Table");
      if (described == nullptr || json::string_member(*described, "TableName") != name)
        return Unexpected{description_path + " does not describe the table " + name};
      table.description["Table"]["ItemCount"] = json::integer_member(one, "items").value_or(0);
    }
    const Tree* const files = json::member(one, "files");
    for (const Tree& file : files != nullptr && files->is_array() ? *files : Tree::array()) {
      const std::string file_name(json::string_member(file, "name").value_or(""));
      const std::string sum(json::string_member(file, "sha256").value_or(""));
      if (!is_file_name(file_name) || sum.empty())
        return Unexpected{manifest_path + " names a file of " + name + " that it cannot have"};
      using compat::data_files::Compression;
      source->files_.emplace_back(
          source->tables_.size(),
          DataFile{.path = path + "/" + file_name,
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
    if (!is_table_name(table.name)) return Unexpected{table.name + ": no directory can be called so"};
  if (!resumed && !is_vacant(options_.path))
    return Unexpected{options_.path + " is not empty: name a directory that is not there"};
  return {};
}

Expected<void, std::string> DirectorySink::resume(const std::vector<Written>& written) {
  const engine::Lock lock(mutex_);
  for (const Written& one : written) {
    TRY(auto file, GrowingFile::open(options_.path + "/" + one.file, one.bytes));
    files_[one.file] = {std::move(file), one};
  }
  return {};
}

Expected<void, std::string> DirectorySink::begin(const std::vector<DescribedTable>& tables) {
  for (const DescribedTable& table : tables) names_.push_back(table.name);
  return {};
}

Expected<void, std::string> DirectorySink::make(const DescribedTable& table) {
  const std::string directory = options_.path + "/" + table.name;
  CHECK_OK(make_directory(directory));
  CHECK_OK(make_directory(directory + "/data"));
  if (options_.items_only || !table.is_described()) return {};
  return write_file(directory + "/table.json", json::print_indented(table.description) + "\n");
}

Expected<DirectorySink::Open*, std::string> DirectorySink::file_of(std::size_t table, std::size_t part) {
  char number[24];
  std::snprintf(number, sizeof number, "/data/%04zu.json", part);
  const std::string name = names_[table] + number + (options_.compressed ? ".gz" : "");
  const engine::Lock lock(mutex_);
  const auto found = files_.find(name);
  if (found != files_.end()) return &found->second;
  // What is there is of a run that wrote nothing down of it.
  TRY(auto file, GrowingFile::open(options_.path + "/" + name, 0));
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
    TRY(std::string sum, sha256_of_file(options_.path + "/" + name));
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
  return write_file(options_.path + "/" + directory_manifest, json::print_indented(manifest) + "\n");
}

std::vector<std::string> DirectorySink::files_of(std::size_t table) {
  const engine::Lock lock(mutex_);
  std::vector<std::string> paths;
  for (const auto& [name, open] : files_)
    if (open.written.table == table) paths.push_back(options_.path + "/" + name);
  return paths;
}

}  // namespace mayfly::transfer
