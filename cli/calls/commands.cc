#include "cli/calls/commands.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/base/fail.h"
#include "cli/base/output.h"
#include "cli/views/answer_view.h"
#include "cli/views/item_text.h"
#include "cli/views/jobs_view.h"
#include "cli/views/metrics_view.h"
#include "compat/json/json_tree.h"
#include "compat/wire/percent_encoding.h"
#include "engine/base/clock.h"
#include "http/base/log.h"
#include "os/terminal.h"

namespace mayfly::cli {

namespace {

using json::Tree;

// --- changes

struct Colours {
  const char *insert, *modify, *remove, *expired, *faint, *off;
};
constexpr Colours coloured{"\x1b[32m", "\x1b[33m", "\x1b[31m", "\x1b[35m", "\x1b[2m", "\x1b[0m"};
constexpr Colours plain{"", "", "", "", "", ""};

const Colours& colours() {
  static const bool colour = os::is_terminal_output() && std::getenv("NO_COLOR") == nullptr;
  return colour ? coloured : plain;
}

// Returns a line such as "2031-01-03T00:00:00Z REMOVE carts id=1 expired id=1 ttl=1924992060", or an empty
// string if `record` is malformed.
std::string change_line(std::string_view table, const Tree& record) {
  const Colours& paint = colours();
  const Tree* change = json::member(record, "dynamodb");
  const auto name = json::string_member(record, "eventName");
  if (change == nullptr || !name) return {};
  const bool expired = json::member(record, "userIdentity") != nullptr;
  const std::string_view event = *name;
  const char* colour = expired             ? paint.expired
                       : event == "INSERT" ? paint.insert
                       : event == "MODIFY" ? paint.modify
                                           : paint.remove;
  std::string line = paint.faint;
  if (const Tree* created = json::member(*change, "ApproximateCreationDateTime"))
    line += engine::iso8601(json::integer(*created).value_or(0) * 1000).substr(0, 19) + "Z ";
  line += std::string(paint.off) + colour + http::log::printable(event) + paint.off + " " +
          http::log::printable(table);
  if (const Tree* keys = json::member(*change, "Keys")) line += " " + plain_key(*keys);
  if (expired) line += std::string(" ") + colour + "expired" + paint.off;
  if (const Tree* image = json::member(*change, event == "REMOVE" ? "OldImage" : "NewImage"))
    line += std::string(" ") + paint.faint + plain_key(*image) + paint.off;
  return line + "\n";
}

void print_event(std::string_view data, bool as_json) {
  const auto tree = json::parse_tree(data, json::Decimals::as_written);
  if (!tree) return;
  if (as_json) return print(print_json_line(*tree));
  if (const auto dropped = json::integer_member(*tree, "dropped"))
    return print(std::string(colours().faint) + "... " + std::to_string(*dropped) +
                 " changes omitted, because they arrived faster than they could be printed" + colours().off +
                 "\n");
  const auto table = json::string_member(*tree, "table");
  const Tree* record = json::member(*tree, "record");
  if (table && record != nullptr) print(change_line(*table, *record));
}

// Joins the pieces of an event stream into lines and prints the data of each event.
class Tail {
 public:
  explicit Tail(bool as_json) : as_json_(as_json) {}

  // Returns false if the output's reader has closed the pipe or an event is too long.
  bool take(std::string_view piece) {
    // Checks each byte for a line feed only once, even if an event arrives in many pieces.
    std::size_t begin = 0, searched = rest_.size();
    rest_ += piece;
    for (std::size_t end = 0; (end = rest_.find('\n', searched)) != std::string::npos; searched = begin) {
      constexpr std::string_view data = "data: ";
      const std::string_view line = std::string_view(rest_).substr(begin, end - begin);
      if (line.starts_with(data)) print_event(line.substr(data.size()), as_json_);
      begin = end + 1;
    }
    rest_.erase(0, begin);
    is_too_long_ = rest_.size() > event_bytes_max;
    return !is_too_long_ && !reader_left();
  }
  [[nodiscard]] bool is_too_long() const { return is_too_long_; }

 private:
  // An event has at most two images of an item, 400 KB each.
  static constexpr std::size_t event_bytes_max = 16 * 1024 * 1024;

  const bool as_json_;
  std::string rest_;
  bool is_too_long_ = false;
};

int follow_changes(ServerCalls& server, const ControlCommand& command) {
  if (!command.table.empty()) {
    std::string path = "/_mayfly/ttl/";
    compat::append_encoded(path, command.table, "");
    if (const auto found = server.control("GET", path); !found)
      std::fprintf(stderr, "mayfly: %s Waiting for changes to the table.\n", found.error().sentence.c_str());
  }
  Tail tail(command.json);
  const auto answer = server.follow(command.path, [&](std::string_view piece) { return tail.take(piece); });
  if (tail.is_too_long()) return fail("the server sent an event of more than 16 MB");
  return answer || reader_left() ? printed(0) : fail(answer.error().sentence);
}

// Replaces {account} and {region} in `text`.
std::string filled_in(std::string text, ServerCalls& server) {
  const auto replace = [&](std::string_view name, const auto& value) {
    if (const auto at = text.find(name); at != std::string::npos) text.replace(at, name.size(), value());
  };
  replace("{account}", [&] { return server.account(); });
  replace("{region}", [&] { return http::log::printable(server.region()); });
  return text;
}

// --- jobs

// With --watch, redraws the jobs on a terminal until all of them have ended. With --json or without a
// terminal, prints the jobs only once, at the end.
int show_jobs(ServerCalls& server, const ControlCommand& command) {
  const bool redraws = os::is_terminal_output() && !command.json;
  for (std::size_t lines_before = 0;;) {
    const auto answer = server.control(command.method, command.path);
    if (!answer) return fail(answer.error().sentence);
    const auto tree = json::parse_tree(*answer, json::Decimals::as_written);
    const JobsView view = tree ? view_jobs(*tree) : JobsView();
    const bool goes_on = command.watch && view.unfinished;
    if (!goes_on || redraws) {
      if (lines_before > 0) print("\x1b[" + std::to_string(lines_before) + "A\x1b[J");
      print(command.json && tree ? print_json(*tree)
            : view.text.empty()  ? filled_in(command.when_empty, server) + "\n"
                                 : view.text);
    }
    if (!goes_on || reader_left()) return printed(0);
    if (redraws) lines_before = view.lines;
    if (const auto waited = server.control("POST", "/_mayfly/jobs/await", R"({"timeout_seconds":0.5})");
        !waited)
      return fail(waited.error().sentence);
  }
}

// --- other commands

Expected<Tree, std::string> key_of(ServerCalls& server, const ControlCommand& command) {
  if (command.key.size() == 1)
    if (auto typed = typed_key(command.key[0])) return *std::move(typed);
  TRY(const Tree table, describe_table(server, command.table));
  const auto schema = key_schema_of(table, table, command.table);
  if (!schema) return Unexpected{std::string("DescribeTable's response has no KeySchema.")};
  return read_key(*schema, command.key);
}

// The error is a human-readable sentence.
Expected<std::string, std::string> view(ServerCalls& server, const ControlCommand& command,
                                        const std::string& answer) {
  using Shows = ControlCommand::Shows;
  if (command.shows == Shows::metrics) {
    if (!command.json) return printable_lines(answer);
    TRY(const Tree metrics, metrics_tree(answer));
    return print_json(metrics);
  }
  const auto tree = json::parse_tree(answer, json::Decimals::as_written);
  if (!tree) return printable_lines(answer);
  if (command.json) return print_json(*tree);
  if (const auto id = json::string_member(*tree, "id"); id && command.shows == Shows::id)
    return http::log::printable(*id) + "\n";
  const Tree* const record = json::member(*tree, "record");
  if (record != nullptr && command.shows == Shows::change) return change_line(command.table, *record);
  return view_answer(*tree, command.list, filled_in(command.when_empty, server));
}

}  // namespace

int run_command(const ControlCommand& command) {
  using Shows = ControlCommand::Shows;
  auto server = ServerCalls::to(command.server);
  if (!server) return fail(server.error());
  if (command.shows == Shows::jobs) return show_jobs(*server, command);
  if (command.shows == Shows::changes) return follow_changes(*server, command);
  std::string body = command.body;
  if (!command.key.empty()) {
    const auto key = key_of(*server, command);
    if (!key) return fail(key.error());
    Tree tree = json::parse_tree(body, json::Decimals::as_written).value_or(Tree::object());
    tree["key"] = *key;
    body = json::print(tree);
  }
  const auto answer = server->control(command.method, command.path, body);
  if (!answer) return fail(answer.error().sentence);
  const auto text = view(*server, command, *answer);
  if (!text) return fail(text.error());
  print(*text);
  return printed(0);
}

}  // namespace mayfly::cli
