#include "cli/commands.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "cli/fail.h"
#include "cli/jobs_view.h"
#include "compat/wire/json_tree.h"
#include "compat/wire/percent_encoding.h"
#include "engine/clock.h"
#include "http/client.h"
#include "http/keys.h"
#include "http/log.h"
#include "http/signer.h"

namespace mayfly::http {

namespace {

using json::Tree;

std::string message_of(const ClientAnswer& answer) {
  const auto tree = json::parse_tree(answer.body);
  auto message = tree ? json::string_member(*tree, "message") : std::nullopt;
  if (!message && tree) message = json::string_member(*tree, "Message");
  return message ? log::printable(*message) : "HTTP status " + std::to_string(answer.status);
}

// --- tail

struct Colours {
  const char *insert, *modify, *remove, *expired, *faint, *off;
};
constexpr Colours coloured{"\x1b[32m", "\x1b[33m", "\x1b[31m", "\x1b[35m", "\x1b[2m", "\x1b[0m"};
constexpr Colours plain{"", "", "", "", "", ""};

// "2031-01-03T00:00:00Z REMOVE carts {"id":{"S":"1"}} expired"
void print_event(std::string_view data, const Colours& colours) {
  const auto tree = json::parse_tree(data, json::Decimals::as_written);
  if (!tree) return;
  if (const auto dropped = json::integer_member(*tree, "dropped")) {
    std::printf("%s... %s changes were too fast to be shown%s\n", colours.faint,
                std::to_string(*dropped).c_str(), colours.off);
    std::fflush(stdout);
    return;
  }
  const auto table = json::string_member(*tree, "table");
  const Tree* record = json::member(*tree, "record");
  const Tree* change = record ? json::member(*record, "dynamodb") : nullptr;
  const auto name = record ? json::string_member(*record, "eventName") : std::nullopt;
  if (!table || change == nullptr || !name) return;
  const bool expired = json::member(*record, "userIdentity") != nullptr;
  const std::string_view event = *name;
  const char* colour = expired             ? colours.expired
                       : event == "INSERT" ? colours.insert
                       : event == "MODIFY" ? colours.modify
                                           : colours.remove;
  std::string line = colours.faint;
  if (const Tree* created = json::member(*change, "ApproximateCreationDateTime")) {
    line += engine::iso8601(json::integer(*created).value_or(0) * 1000).substr(0, 19) + "Z ";
  }
  line += colours.off;
  line += colour;
  line += event;
  line += colours.off;
  line += ' ';
  line += *table;
  line += ' ';
  const auto print = [&](const Tree& value) { line += log::printable(json::print(value)); };
  if (const Tree* keys = json::member(*change, "Keys")) print(*keys);
  if (expired) line += std::string(" ") + colour + "expired" + colours.off;
  const Tree* image = json::member(*change, event == "REMOVE" ? "OldImage" : "NewImage");
  if (image != nullptr) {
    line += std::string(" ") + colours.faint;
    print(*image);
    line += colours.off;
  }
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

// Gathers pieces of an event stream to lines and prints the data of each.
class Tail {
 public:
  explicit Tail(const Colours& colours) : colours_(colours) {}

  bool take(std::string_view piece) {
    rest_ += piece;
    for (std::size_t end = 0; (end = rest_.find('\n')) != std::string::npos; rest_.erase(0, end + 1)) {
      constexpr std::string_view data = "data: ";
      const std::string_view line = std::string_view(rest_).substr(0, end);
      if (line.starts_with(data)) print_event(line.substr(data.size()), colours_);
    }
    return std::ferror(stdout) == 0;
  }

 private:
  const Colours& colours_;
  std::string rest_;
};

}  // namespace

namespace {

using Take = std::function<bool(std::string_view)>;

Expected<ClientAnswer, std::string> ask(const ControlCommand& command, const Take& take = {}) {
  const auto url = compat::outbound::Url::parse(command.url, compat::outbound::Schemes::http_and_https);
  if (!url) return Unexpected{"'" + command.url + "' is no URL such as http://127.0.0.1:8000"};
  ClientRequest request{.method = command.method, .path = command.path, .body = command.body};
  if (command.method != "GET") request.content_type = "application/json";
  if (!command.account.empty()) request.headers.emplace_back("X-Mayfly-Account", command.account);
  if (!command.region.empty()) request.headers.emplace_back("X-Mayfly-Region", command.region);
  if (const auto key = key_of_environment()) {
    // The server takes any region here; which one the call is about stands in X-Mayfly-Region.
    sign(request, request.body, *url, *key,
         {"dynamodb", command.region.empty() ? "us-east-1" : command.region}, engine::SystemClock().now());
  }
  auto answer = fetch(*url, request, take, command.ca_file);
  if (answer && answer->status != 200) return Unexpected{message_of(*answer)};
  return answer;
}

// On a terminal the lines are drawn over; elsewhere only the last ones are printed.
int show_jobs(const ControlCommand& command) {
  ControlCommand pause = command;
  pause.method = "POST";
  pause.path = "/_mayfly/jobs/await";
  pause.body = R"({"timeout_seconds":0.5})";
  const bool draws_over = ::isatty(STDOUT_FILENO) == 1;
  for (std::size_t lines_before = 0;;) {
    const auto answer = ask(command);
    if (!answer) return fail(answer.error());
    const auto tree = json::parse_tree(answer->body);
    const JobsView view = tree ? view_jobs(*tree) : JobsView();
    const bool goes_on = command.watch && view.unfinished;
    if (!goes_on || draws_over) {
      if (lines_before > 0) std::printf("\x1b[%zuA\x1b[J", lines_before);
      std::fputs(view.text.c_str(), stdout);
      std::fflush(stdout);
    }
    if (!goes_on) return 0;
    if (draws_over) lines_before = view.lines;
    if (const auto waited = ask(pause); !waited) return fail(waited.error());
  }
}

int follow_changes(const ControlCommand& command) {
  if (!command.table.empty()) {
    ControlCommand look = command;
    look.path = "/_mayfly/ttl/";
    compat::append_encoded(look.path, command.table, "");
    if (const auto found = ask(look); !found)
      std::fprintf(stderr, "mayfly: %s Its changes are shown when there is one.\n", found.error().c_str());
  }
  const bool colour = ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  Tail tail(colour ? coloured : plain);
  const auto answer = ask(command, [&](std::string_view piece) { return tail.take(piece); });
  return answer ? 0 : fail(answer.error());
}

}  // namespace

int run_command(const ControlCommand& command) {
  using Shows = ControlCommand::Shows;
  if (command.shows == Shows::jobs) return show_jobs(command);
  if (command.shows == Shows::changes) return follow_changes(command);
  const auto answer = ask(command);
  if (!answer) return fail(answer.error());
  const auto tree = json::parse_tree(answer->body, json::Decimals::as_written);
  const auto id = tree && command.shows == Shows::id ? json::string_member(*tree, "id") : std::nullopt;
  const std::string text = id     ? std::string(*id) + '\n'
                           : tree ? json::print_indented(*tree) + '\n'
                                  : answer->body;  // metrics are no JSON
  std::fputs(text.c_str(), stdout);
  return 0;
}

std::optional<std::string> seconds_of(const std::string& duration) {
  double total = 0;
  const char* at = duration.data();
  const char* const end = at + duration.size();
  if (at == end) return std::nullopt;
  while (at != end) {
    double value = 0;
    const auto [next, failure] = std::from_chars(at, end, value);
    if (failure != std::errc{} || value < 0) return std::nullopt;
    at = next;
    double unit = 1;
    if (at != end) {
      switch (*at++) {
        case 's': break;
        case 'm': unit = 60; break;
        case 'h': unit = 3600; break;
        case 'd': unit = 86400; break;
        default: return std::nullopt;
      }
    }
    total += value * unit;
  }
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, total).ptr);
}

}  // namespace mayfly::http
