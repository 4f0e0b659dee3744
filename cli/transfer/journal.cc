#include "cli/transfer/journal.h"

#include <string_view>
#include <system_error>
#include <utility>

#include "cli/table_files/files.h"
#include "os/process.h"

namespace mayfly::transfer {
namespace {

using json::Tree;
using std::errc;

constexpr int version = 1;
constexpr std::size_t journal_bytes_max = std::size_t{1} << 30;

constexpr const char* in_use = ": another mayfly process is using it";
constexpr const char* unfinished =
    " belongs to an unfinished transfer. Continue it with --resume, or remove the file";
constexpr const char* cut = " ends within its first line and cannot be used. Remove it";

std::string said(const std::string& path, std::error_code error) { return path + ": " + error.message(); }

// Returns why the file cannot be a journal: it is a link, or not a regular file. Returns an empty string if
// the file can be a journal. `opened` is the error of opening it.
std::string strange(const os::File& file, std::error_code opened, const std::string& path) {
  std::error_code error;
  if (opened == errc::too_many_symbolic_link_levels)
    return path + " is a link, but a journal must be a regular file. Remove it, or use --journal";
  if (!opened && file.facts(error).kind != os::Kind::file)
    return path + " is not a regular file. Remove it, or use --journal";
  return {};
}

// Whether the file ends within its first line. A run writes its journal's first line before the file gets its
// name, so such a file is not a usable journal.
bool is_cut(const os::File& file, const std::string& path) {
  const auto text = read_file(file, path, journal_bytes_max);
  return text && text->find('\n') == std::string::npos;
}

}  // namespace

Journal::Journal(std::string path, os::File file, Plan plan)
    : path_(std::move(path)), file_(std::move(file)), plan_(std::move(plan)) {}

std::unique_ptr<Journal> Journal::none(Plan plan) {
  return std::unique_ptr<Journal>(new Journal("", {}, std::move(plan)));
}

std::string Journal::in_the_way(const std::string& path) {
  std::error_code error;
  const os::File file = os::File::open(path, {}, error);
  if (error == errc::no_such_file_or_directory) return {};
  if (std::string sentence = strange(file, error, path); !sentence.empty()) return sentence;
  if (error) return said(path, error);
  file.lock(os::Lock::shared, false, error);
  if (error) return path + in_use;
  return path + (is_cut(file, path) ? cut : unfinished);
}

Expected<std::unique_ptr<Journal>, std::string> Journal::begin(const std::string& path, Plan plan) {
  // The journal is locked and has its plan before it gets its name, so no process finds it unlocked or
  // incomplete.
  const std::string temporary = path + "." + std::to_string(os::process_id()) + ".tmp";
  std::error_code error;
  os::remove(temporary, error);
  os::File file = os::File::open(
      temporary, {.access = os::Access::read_and_append, .make = os::Make::must_be_new}, error);
  if (error) return Unexpected{said(temporary, error)};
  // A failure is ignored, because not every file system has locks.
  file.lock(os::Lock::exclusive, true, error);
  std::unique_ptr<Journal> journal(new Journal(path, std::move(file), std::move(plan)));
  const Tree line = {
      {"mayfly_transfer", version}, {"asked", journal->plan_.asked}, {"settled", journal->plan_.settled}};
  auto begun = journal->append(line);
  if (begun) {
    os::rename_to_new(temporary, path, error);
    if (error) begun = Unexpected{error == errc::file_exists ? in_the_way(path) : said(path, error)};
    if (error && begun.error().empty()) begun = Unexpected{path + in_use};  // the transfer has just ended
  }
  if (!begun) {
    os::remove(temporary, error);
    return Unexpected{std::move(begun.error())};
  }
  return journal;
}

Expected<std::unique_ptr<Journal>, std::string> Journal::resume(const std::string& path, const Tree& asked) {
  std::error_code error;
  os::File file = os::File::open(path, {.access = os::Access::read_and_append}, error);
  if (std::string sentence = strange(file, error, path); !sentence.empty())
    return Unexpected{std::move(sentence)};
  if (error == errc::no_such_file_or_directory)
    return Unexpected{"nothing to resume: there is no journal " + path};
  if (error) return Unexpected{said(path, error)};
  file.lock(os::Lock::exclusive, false, error);
  if (error) return Unexpected{path + in_use};
  // Reads the open, locked file, not the file at `path`. By now, another file may be at `path`, and the
  // length of that file must not decide where this file is truncated.
  auto text = read_file(file, path, journal_bytes_max);
  if (!text) return Unexpected{text.error()};
  const std::string_view whole = std::string_view(*text).substr(0, text->rfind('\n') + 1);
  const auto first_end = whole.find('\n');
  if (whole.empty()) return Unexpected{path + cut};
  const auto first =
      first_end == std::string_view::npos ? std::nullopt : json::parse_tree(whole.substr(0, first_end));
  const Tree* const was_asked = first ? json::member(*first, "asked") : nullptr;
  const Tree* const settled = first ? json::member(*first, "settled") : nullptr;
  if (was_asked == nullptr || settled == nullptr ||
      json::integer_member(*first, "mayfly_transfer") != version)
    return Unexpected{path + " is not a transfer journal of this version"};
  if (*was_asked != asked) {
    for (const auto& [name, value] : asked.items()) {
      if (!was_asked->contains(name) || (*was_asked)[name] != value)
        return Unexpected{path + " belongs to a transfer with a different --" + name +
                          ". Repeat the original command with --resume"};
    }
    return Unexpected{path + " belongs to a different transfer. Repeat the original command with --resume"};
  }
  file.truncate(whole.size(), error);
  if (error) return Unexpected{said(path, error)};
  std::unique_ptr<Journal> journal(new Journal(path, std::move(file), {asked, *settled}));
  for (std::size_t at = first_end + 1; at < whole.size();) {
    const auto end = whole.find('\n', at);
    // Only the last line can be cut short. If another line were skipped, its page or table would be copied
    // twice.
    const auto line = json::parse_tree(whole.substr(at, end - at));
    if (!line || !journal->replay(*line)) return Unexpected{path + " is damaged. Remove it and start over"};
    at = end + 1;
  }
  return journal;
}

bool Journal::replay(const Tree& line) {
  if (!line.is_object()) return false;
  const auto number = [&](const char* name) {
    return static_cast<std::uint64_t>(json::integer_member(line, name).value_or(0));
  };
  if (const auto stage = json::integer_member(line, "stage")) {
    if (*stage < 0 || *stage > static_cast<std::int64_t>(Stage::skipped)) return false;
    stages_[number("table")] = static_cast<Stage>(*stage);
    return true;
  }
  if (!json::integer_member(line, "part")) return false;
  Reached& reached = parts_[number("part")];
  reached = {.part = number("part"),
             .cursor = std::string(json::string_member(line, "cursor").value_or("")),
             .last = json::boolean_member(line, "last").value_or(false),
             .items = number("items")};
  if (const auto file = json::string_member(line, "file")) {
    written_[std::string(*file)] = {.file = std::string(*file),
                                    .table = number("table"),
                                    .bytes = number("bytes"),
                                    .items = number("file_items")};
  }
  if (const Tree* const counts = json::member(line, "counts"); counts != nullptr && counts->is_object())
    for (const auto& [what, count] : counts->items())
      counts_[what] += static_cast<std::uint64_t>(json::integer(count).value_or(0));
  return true;
}

std::vector<Written> Journal::written() const {
  std::vector<Written> all;
  for (const auto& [file, written] : written_) all.push_back(written);
  return all;
}

Expected<void, std::string> Journal::append(const Tree& line) {
  if (!file_.is_open()) return {};
  const std::string text = json::print(line) + "\n";
  const engine::Lock lock(mutex_);
  return write_all(file_, text, path_);
}

Expected<void, std::string> Journal::stage(std::size_t table, Stage stage) {
  return append({{"table", table}, {"stage", static_cast<int>(stage)}});
}

Expected<void, std::string> Journal::page(const Reached& reached, const Written& written,
                                          const std::map<std::string, std::uint64_t>& counts) {
  if (!file_.is_open()) return {};
  Tree line = {{"part", reached.part}, {"cursor", reached.cursor}, {"items", reached.items}};
  if (reached.last) line["last"] = true;
  if (!written.file.empty()) {
    line["file"] = written.file;
    line["table"] = written.table;
    line["bytes"] = written.bytes;
    line["file_items"] = written.items;
  }
  if (!counts.empty()) {
    Tree all = Tree::object();
    for (const auto& [what, count] : counts) json::add_member(all, what, count);
    line["counts"] = std::move(all);
  }
  return append(line);
}

void Journal::remove() {
  std::error_code ignored;
  if (file_.is_open()) os::remove(path_, ignored);
}

}  // namespace mayfly::transfer
