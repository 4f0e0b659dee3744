#include "cli/directory_commands.h"

#include <cstdio>
#include <map>
#include <optional>
#include <string_view>
#include <unistd.h>

#include "http/log.h"

namespace mayfly::http {
namespace {

constexpr std::uint64_t lines_max = 100;

// Lines as they come, and counts of those that came too many.
class Lines {
 public:
  explicit Lines(std::string_view before) : before_(before) {}

  void print(std::string_view kind, std::string_view line) {
    if (++count_ <= lines_max)
      std::printf("%.*s%s\n", static_cast<int>(before_.size()), before_.data(), log::printable(line).c_str());
    else
      ++unprinted_[std::string(kind)];
  }
  void end() {
    if (!unprinted_.empty())
      std::printf("%.*sand %llu more:\n", static_cast<int>(before_.size()), before_.data(),
                  static_cast<unsigned long long>(count_ - lines_max));
    for (const auto& [kind, count] : unprinted_)
      std::printf("  %llu times %s\n", static_cast<unsigned long long>(count), kind.c_str());
    unprinted_.clear();
  }

 private:
  const std::string_view before_;
  std::uint64_t count_ = 0;
  std::map<std::string, std::uint64_t> unprinted_;
};

// How far it is, on a terminal; nothing elsewhere.
class Progress {
 public:
  void show(std::uint64_t keys, std::uint64_t estimate) {
    if (!on_terminal_) return;
    std::fprintf(stderr, "\r%llu of about %llu keys ", static_cast<unsigned long long>(keys),
                 static_cast<unsigned long long>(estimate));
    shown_ = true;
  }
  // Before anything else is printed.
  void clear() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
    shown_ = false;
  }

 private:
  const bool on_terminal_ = ::isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
};

std::string summary(const std::optional<engine::Checked>& all) {
  if (!all) return "only the files were checked, since not all of them can be read";
  const engine::Checked& checked = *all;
  const auto count = [](std::uint64_t value, const char* one, const char* many) {
    return std::to_string(value) + " " + (value == 1 ? one : many);
  };
  return "checked " + count(checked.tables, "table", "tables") + ", " +
         count(checked.items, "item", "items") + ", " +
         count(checked.index_entries, "index entry", "index entries") + ", " +
         count(checked.expiry_entries, "expiry entry", "expiry entries") + ", " +
         count(checked.streams, "stream", "streams") + " with " +
         count(checked.records, "record", "records") + ", " +
         count(checked.snapshots, "snapshot", "snapshots") + " with " +
         count(checked.images, "image", "images") + ", " + count(checked.tokens, "token", "tokens") + ", " +
         count(checked.documents, "document", "documents") + ", " + count(checked.points, "point", "points") +
         " with " + count(checked.versions, "old version", "old versions");
}

}  // namespace

int run_directory_command(const DirectoryCommand& command) {
  const bool repairs = command.what == DirectoryCommand::What::repair;
  Lines wrong(repairs ? "stays: " : ""), mended("mended: ");
  Progress progress;
  const engine::CheckListener listener{
      .wrong =
          [&](std::string_view kind, std::string_view line) {
            progress.clear();
            wrong.print(kind, line);
          },
      .mended =
          [&](std::string_view kind, std::string_view line) {
            progress.clear();
            mended.print(kind, line);
          },
      .progress = [&](std::uint64_t keys, std::uint64_t estimate) { progress.show(keys, estimate); }};
  const auto outcome = repairs ? engine::repair_directory(command.directory, command.repair, listener)
                               : engine::verify_directory(command.directory, listener);
  progress.clear();
  mended.end();
  wrong.end();
  if (!outcome) {
    std::fprintf(stderr, "mayfly: %s\n", log::printable(outcome.error()).c_str());
    return 2;
  }
  std::printf("%s\n", summary(outcome->checked).c_str());
  if (repairs) std::printf("%llu mended, ", static_cast<unsigned long long>(outcome->mended));
  std::printf("%llu wrong\n", static_cast<unsigned long long>(outcome->wrong));
  return outcome->wrong == 0 ? 0 : 1;
}

}  // namespace mayfly::http
