#include "cli/transfer/journal.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "cli/table_files/files.h"
#include "compat/outbound/beneath.h"

namespace mayfly::transfer {
namespace {

using json::Tree;

constexpr int version = 1;
constexpr std::size_t journal_bytes_max = std::size_t{1} << 30;

constexpr const char* in_use = ": another mayfly process is using it";
constexpr const char* unfinished =
    " belongs to an unfinished transfer. Continue it with --resume, or remove the file";
constexpr const char* cut = " ends within its first line and cannot be used. Remove it";

std::string said(const std::string& path) { return path + ": " + std::strerror(errno); }

// With these flags, links are not followed, so no file elsewhere is read or created, and opening never waits
// for the other end of a pipe.
constexpr int journal_flags = compat::outbound::file_flags;

// Returns why the file cannot be a journal: it is a link, or not a regular file. Returns an empty string if
// the file can be a journal.
std::string strange(int descriptor, const std::string& path) {
  struct stat found {};
  if (descriptor < 0 && (errno == ELOOP || errno == EMLINK))
    return path + " is a link, but a journal must be a regular file. Remove it, or use --journal";
  if (descriptor >= 0 && (::fstat(descriptor, &found) != 0 || !S_ISREG(found.st_mode)))
    return path + " is not a regular file. Remove it, or use --journal";
  return {};
}

// Whether the file ends within its first line. A run writes its journal's first line before the file gets its
// name, so such a file is not a usable journal.
bool is_cut(int descriptor, const std::string& path) {
  const auto text = read_file(descriptor, path, journal_bytes_max);
  return text && text->find('\n') == std::string::npos;
}

// Moves the temporary file to `path`, unless a file with that name exists. If two processes try this at the
// same time, only one of them succeeds.
bool put_in_place(const std::string& temporary, const std::string& path) {
  if (::link(temporary.c_str(), path.c_str()) == 0) {
    ::unlink(temporary.c_str());
    return true;
  }
  if (errno == EEXIST) return false;
  // The file system may not support hard links.
  struct stat found {};
  if (::lstat(path.c_str(), &found) == 0) {
    errno = EEXIST;
    return false;
  }
  return ::rename(temporary.c_str(), path.c_str()) == 0;
}

}  // namespace

Journal::Journal(std::string path, int descriptor, Plan plan)
    : path_(std::move(path)), descriptor_(descriptor), plan_(std::move(plan)) {}

Journal::~Journal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::unique_ptr<Journal> Journal::none(Plan plan) {
  return std::unique_ptr<Journal>(new Journal("", -1, std::move(plan)));
}

std::string Journal::in_the_way(const std::string& path) {
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | journal_flags));
  if (!descriptor.is_open() && errno == ENOENT) return {};
  if (std::string sentence = strange(descriptor.number(), path); !sentence.empty()) return sentence;
  if (!descriptor.is_open()) return said(path);
  if (::flock(descriptor.number(), LOCK_SH | LOCK_NB) != 0) return path + in_use;
  return path + (is_cut(descriptor.number(), path) ? cut : unfinished);
}

Expected<std::unique_ptr<Journal>, std::string> Journal::begin(const std::string& path, Plan plan) {
  // The journal is locked and has its plan before it gets its name, so no process finds it unlocked or
  // incomplete.
  const std::string temporary = path + "." + std::to_string(::getpid()) + ".tmp";
  ::unlink(temporary.c_str());
  const int descriptor =
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | journal_flags, 0600);
  if (descriptor < 0) return Unexpected{said(temporary)};
  std::unique_ptr<Journal> journal(new Journal(path, descriptor, std::move(plan)));
  ::flock(descriptor, LOCK_EX);
  const Tree line = {
      {"mayfly_transfer", version}, {"asked", journal->plan_.asked}, {"settled", journal->plan_.settled}};
  auto begun = journal->append(line);
  if (begun && !put_in_place(temporary, path)) {
    begun = Unexpected{errno == EEXIST ? in_the_way(path) : said(path)};
    if (begun.error().empty()) begun = Unexpected{path + in_use};  // the transfer has just ended
  }
  if (!begun) {
    ::unlink(temporary.c_str());
    return Unexpected{std::move(begun.error())};
  }
  return journal;
}

Expected<std::unique_ptr<Journal>, std::string> Journal::resume(const std::string& path, const Tree& asked) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_APPEND | journal_flags);
  if (std::string sentence = strange(descriptor, path); !sentence.empty()) {
    if (descriptor >= 0) ::close(descriptor);
    return Unexpected{std::move(sentence)};
  }
  if (descriptor < 0) {
    if (errno == ENOENT) return Unexpected{"nothing to resume: there is no journal " + path};
    return Unexpected{said(path)};
  }
  const auto fail = [&](std::string sentence) {
    ::close(descriptor);
    return Unexpected{std::move(sentence)};
  };
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) return fail(path + in_use);
  // Reads the open, locked file, not the file at `path`. By now, another file may be at `path`, and the
  // length of that file must not decide where this file is truncated.
  auto text = read_file(descriptor, path, journal_bytes_max);
  if (!text) return fail(text.error());
  const std::string_view whole = std::string_view(*text).substr(0, text->rfind('\n') + 1);
  const auto first_end = whole.find('\n');
  if (whole.empty()) return fail(path + cut);
  const auto first =
      first_end == std::string_view::npos ? std::nullopt : json::parse_tree(whole.substr(0, first_end));
  const Tree* const was_asked = first ? json::member(*first, "asked") : nullptr;
  const Tree* const settled = first ? json::member(*first, "settled") : nullptr;
  if (was_asked == nullptr || settled == nullptr ||
      json::integer_member(*first, "mayfly_transfer") != version)
    return fail(path + " is not a transfer journal of this version");
  if (*was_asked != asked) {
    for (const auto& [name, value] : asked.items()) {
      if (!was_asked->contains(name) || (*was_asked)[name] != value)
        return fail(path + " belongs to a transfer with a different --" + name +
                    ". Repeat the original command with --resume");
    }
    return fail(path + " belongs to a different transfer. Repeat the original command with --resume");
  }
  if (::ftruncate(descriptor, static_cast<off_t>(whole.size())) != 0) return fail(said(path));
  std::unique_ptr<Journal> journal(new Journal(path, descriptor, {asked, *settled}));
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
  if (descriptor_ < 0) return {};
  const std::string text = json::print(line) + "\n";
  const engine::Lock lock(mutex_);
  return write_all(descriptor_, text, path_);
}

Expected<void, std::string> Journal::stage(std::size_t table, Stage stage) {
  return append({{"table", table}, {"stage", static_cast<int>(stage)}});
}

Expected<void, std::string> Journal::page(const Reached& reached, const Written& written,
                                          const std::map<std::string, std::uint64_t>& counts) {
  if (descriptor_ < 0) return {};
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
  if (descriptor_ >= 0) ::unlink(path_.c_str());
}

}  // namespace mayfly::transfer
