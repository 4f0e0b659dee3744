#include "cli/table_files/aws_export.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/table_files/files.h"
#include "compat/calls/times.h"
#include "os/path.h"

namespace mayfly::transfer {
namespace {

namespace fs = std::filesystem;

constexpr const char* summary_name = "manifest-summary.json";
constexpr const char* files_name = "manifest-files.json";
constexpr std::size_t summary_bytes_max = 1024 * 1024;
// A list of data files takes about 200 bytes per file.
constexpr std::size_t files_bytes_max = 64 * 1024 * 1024;
constexpr std::size_t line_values_max = 100;

// Returns the table's name in an ARN such as "arn:aws:dynamodb:us-east-1:123456789012:table/carts".
std::string table_of_arn(std::string_view arn) {
  constexpr std::string_view mark = ":table/";
  const auto at = arn.find(mark);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = arn.substr(at + mark.size());
  return std::string(rest.substr(0, rest.find('/')));
}

// Returns the directory that contains the summary `found`. Nothing below the path that the user named is
// trusted, and no link there is followed.
Expected<std::shared_ptr<const Directory>, std::string> directory_of(const std::string& path,
                                                                     const fs::path& found) {
  const std::string below = os::text_of(found.lexically_relative(os::path_of(path)));
  if (os::path_of(path).filename() == summary_name || below.empty() || below == ".")
    return Directory::open(found.empty() ? "." : os::text_of(found));
  TRY(const auto directory, Directory::open(path));
  return directory->open_below(below);
}

}  // namespace

Expected<std::string, std::string> AwsExportSource::summary_at(const std::string& path) {
  std::error_code failure;
  if (os::path_of(path).filename() == summary_name) return path;
  if (!fs::is_directory(os::path_of(path), failure)) return std::string();
  if (const std::string here = path + "/" + summary_name; fs::exists(os::path_of(here), failure)) return here;
  std::vector<std::string> found;
  for (const std::string& directory : {path, path + "/AWSDynamoDB"}) {
    for (fs::directory_iterator entry(os::path_of(directory), failure), end; !failure && entry != end;
         entry.increment(failure)) {
      const fs::path summary = entry->path() / summary_name;
      if (std::error_code ignored; fs::exists(summary, ignored)) found.push_back(os::text_of(summary));
      if (found.size() > 1) break;
    }
    failure.clear();
  }
  if (found.size() > 1)
    return Unexpected{path + " contains several exports. Name one of them, such as " +
                      os::text_of(os::path_of(found[0]).parent_path())};
  return found.empty() ? std::string() : found[0];
}

Expected<std::unique_ptr<Source>, std::string> AwsExportSource::open(const std::string& path,
                                                                     const std::string& summary_path,
                                                                     const Selection& selection) {
  TRY(const auto directory, directory_of(path, os::path_of(summary_path).parent_path()));
  TRY(const std::string summary_text, directory->read_file(summary_name, summary_bytes_max));
  const auto summary = json::parse_tree(summary_text, json::Decimals::read, line_values_max);
  const auto arn = summary ? json::string_member(*summary, "tableArn") : std::nullopt;
  const std::string name = arn ? table_of_arn(*arn) : "";
  if (name.empty()) return Unexpected{summary_path + " is not the manifest of an export"};
  if (json::string_member(*summary, "exportType") == "INCREMENTAL_EXPORT")
    return Unexpected{summary_path +
                      " is an incremental export, which cannot be imported because it has only changes"};
  auto source = std::make_unique<AwsExportSource>();
  source->taken_at_ = compat::control::parse_time(json::string_member(*summary, "exportTime").value_or(""));
  if (selection.has(name)) source->tables_.push_back({.name = name});
  if (std::string unmet = selection.unmet(source->tables_, summary_path); !unmet.empty())
    return Unexpected{std::move(unmet)};

  using compat::data_files::Format;
  const bool is_ion = json::string_member(*summary, "outputFormat") == "ION";
  const std::string files_path = directory->path_of(files_name);
  TRY(const std::string files, directory->read_file(files_name, files_bytes_max));
  for (std::size_t at = 0; at < files.size();) {
    const auto end = std::min(files.find('\n', at), files.size());
    const std::string_view line = std::string_view(files).substr(at, end - at);
    at = end + 1;
    if (line.empty()) continue;
    const auto tree = json::parse_tree(line, json::Decimals::read, line_values_max);
    const auto key = tree ? json::string_member(*tree, "dataFileS3Key") : std::nullopt;
    const std::string file_name = std::string(key ? key->substr(key->rfind('/') + 1) : std::string_view());
    if (file_name.empty() || file_name == "." || file_name == "..")
      return Unexpected{files_path + " has a line without a file name"};
    if (source->files_.size() == data_files_max)
      return Unexpected{files_path + " lists more than " + std::to_string(data_files_max) + " files"};
    source->files_.push_back(
        {.directory = directory,
         .name = "data/" + file_name,
         .format = is_ion ? Format::ion : Format::dynamodb_json,
         .compression = compat::data_files::Compression::gzip,
         .md5 = std::string(json::string_member(*tree, "md5Checksum").value_or("")),
         .items = static_cast<std::uint64_t>(json::integer_member(*tree, "itemCount").value_or(0))});
  }
  return std::unique_ptr<Source>(std::move(source));
}

Expected<std::unique_ptr<Pages>, std::string> AwsExportSource::open(std::size_t part,
                                                                    const std::string& cursor) {
  return open_data_file(files_[part], 0, cursor);
}

}  // namespace mayfly::transfer
