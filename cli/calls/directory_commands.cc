#include "cli/calls/directory_commands.h"

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "cli/base/fail.h"
#include "cli/base/output.h"
#include "cli/views/answer_view.h"
#include "compat/json/json_tree.h"
#include "http/base/log.h"
#include "os/terminal.h"

namespace mayfly::cli {
namespace {

// Prints findings as they arrive, as lines or as JSON, and counts those beyond findings_max.
class Findings {
 public:
  Findings(std::string_view before, bool as_json) : before_(before), as_json_(as_json) {}

  void add(std::string_view kind, std::string_view line) {
    if (++count_ > findings_max) {
      ++unprinted_[std::string(kind)];
      return;
    }
    if (as_json_)
      listed_.push_back({{"kind", kind}, {"message", http::log::printable(line)}});
    else
      print(std::string(before_) + http::log::printable(line) + "\n");
  }
  void end() {
    if (!as_json_ && !unprinted_.empty())
      print(std::string(before_) + "and " + std::to_string(count_ - findings_max) + " more:\n");
    for (const auto& [kind, count] : unprinted_)
      if (!as_json_) print("  " + std::to_string(count) + " times " + kind + "\n");
    unprinted_.clear();
  }
  // Returns {"count":…,"listed":[…]}.
  [[nodiscard]] json::Tree tree(std::uint64_t count) const { return {{"count", count}, {"listed", listed_}}; }

 private:
  const std::string_view before_;
  const bool as_json_;
  std::uint64_t count_ = 0;
  std::map<std::string, std::uint64_t> unprinted_;
  json::Tree listed_ = json::Tree::array();
};

// Shows progress on a terminal; prints nothing elsewhere.
class Progress {
 public:
  void show(std::uint64_t keys, std::uint64_t estimate) {
    if (!on_terminal_) return;
    std::fprintf(stderr, "\r%llu of about %llu keys ", static_cast<unsigned long long>(keys),
                 static_cast<unsigned long long>(estimate));
    shown_ = true;
  }
  // Call this before printing anything else.
  void clear() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
    shown_ = false;
  }

 private:
  const bool on_terminal_ = os::is_terminal_error();
  bool shown_ = false;
};

std::string summary(const std::optional<engine::Checked>& all) {
  if (!all) return "only the files were checked, because some of them cannot be read";
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

json::Tree counts(const std::optional<engine::Checked>& all) {
  if (!all) return nullptr;
  return {{"tables", all->tables},
          {"items", all->items},
          {"index_entries", all->index_entries},
          {"expiry_entries", all->expiry_entries},
          {"streams", all->streams},
          {"records", all->records},
          {"snapshots", all->snapshots},
          {"images", all->images},
          {"tokens", all->tokens},
          {"documents", all->documents},
          {"points", all->points},
          {"versions", all->versions}};
}

}  // namespace

int run_directory_command(const DirectoryCommand& command) {
  const bool repairs = command.what == DirectoryCommand::What::repair;
  Findings wrong(repairs ? "not repaired: " : "", command.json), mended("repaired: ", command.json);
  Progress progress;
  const engine::CheckListener listener{
      .wrong =
          [&](std::string_view kind, std::string_view line) {
            progress.clear();
            wrong.add(kind, line);
          },
      .mended =
          [&](std::string_view kind, std::string_view line) {
            progress.clear();
            mended.add(kind, line);
          },
      .progress = [&](std::uint64_t keys, std::uint64_t estimate) { progress.show(keys, estimate); }};
  const auto outcome = repairs ? engine::repair_directory(command.directory, command.repair, listener)
                               : engine::verify_directory(command.directory, listener);
  progress.clear();
  mended.end();
  wrong.end();
  if (!outcome) {
    fail(http::log::printable(outcome.error()));
    return 2;
  }
  const int code = outcome->wrong == 0 ? 0 : 1;
  if (command.json) {
    json::Tree answer = {{"checked", counts(outcome->checked)}, {"wrong", wrong.tree(outcome->wrong)}};
    if (repairs) answer["mended"] = mended.tree(outcome->mended);
    print(print_json(answer));
  } else {
    print(summary(outcome->checked) + "\n");
    const std::string left = std::to_string(outcome->wrong);
    if (repairs)
      print(std::to_string(outcome->mended) + " repaired, " + left + " not repaired\n");
    else
      print(left + (outcome->wrong == 1 ? " problem\n" : " problems\n"));
  }
  return printed(code);
}

}  // namespace mayfly::cli
