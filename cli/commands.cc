#include "cli/commands.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#include "cli/client.h"
#include "compat/wire/json.h"
#include "engine/clock.h"
#include "engine/whole_number.h"
#include "http/log.h"

namespace mayfly::http {

namespace {

using json::Value;

int fail(const std::string& sentence) {
  std::fprintf(stderr, "mayfly: %s\n", sentence.c_str());
  return 1;
}

// `indent`: of the line we are on; negative: all on one line.
void print_value(std::string& out, const Value& value, int indent) {
  json::Writer writer(out);
  switch (value.kind()) {
    case Value::Kind::null: out += "null"; return;
    case Value::Kind::boolean: writer.boolean(value.boolean()); return;
    case Value::Kind::number: out += value.number_text(); return;
    case Value::Kind::string: json::append_escaped(out, value.string()); return;
    case Value::Kind::array:
    case Value::Kind::object: break;
  }
  const bool array = value.is(Value::Kind::array);
  const std::size_t count = array ? value.items().size() : value.members().size();
  const int inner = indent < 0 ? indent : indent + 2;
  const auto new_line = [&](int columns) {
    if (indent < 0) return;
    out += '\n';
    out.append(static_cast<std::size_t>(columns), ' ');
  };
  out += array ? '[' : '{';
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) out += ',';
    new_line(inner);
    if (array) {
      print_value(out, value.items()[i], inner);
    } else {
      json::append_escaped(out, value.members()[i].name);
      out += indent < 0 ? ":" : ": ";
      print_value(out, value.members()[i].value, inner);
    }
  }
  if (count > 0) new_line(indent);
  out += array ? ']' : '}';
}

std::string message_of(const ClientAnswer& answer) {
  const auto document = json::parse(answer.body);
  const Value* message = document ? document->root().member("message") : nullptr;
  if (message == nullptr && document) message = document->root().member("Message");
  return message != nullptr ? log::printable(message->string())
                            : "HTTP status " + std::to_string(answer.status);
}

// --- tail

struct Colours {
  const char *insert, *modify, *remove, *expired, *faint, *off;
};
constexpr Colours coloured{"\x1b[32m", "\x1b[33m", "\x1b[31m", "\x1b[35m", "\x1b[2m", "\x1b[0m"};
constexpr Colours plain{"", "", "", "", "", ""};

// "2031-01-03T00:00:00Z REMOVE carts {"id":{"S":"1"}} expired"
void print_event(std::string_view data, const Colours& colours) {
  const auto document = json::parse(data);
  if (document == nullptr) return;
  const Value& root = document->root();
  if (const Value* dropped = root.member("dropped")) {
    std::printf("%s... %.*s changes were too fast to be shown%s\n", colours.faint,
                static_cast<int>(dropped->number_text().size()), dropped->number_text().data(), colours.off);
    std::fflush(stdout);
    return;
  }
  const Value* table = root.member("table");
  const Value* record = root.member("record");
  const Value* change = record ? record->member("dynamodb") : nullptr;
  const Value* name = record ? record->member("eventName") : nullptr;
  if (table == nullptr || change == nullptr || name == nullptr) return;
  const bool expired = record->member("userIdentity") != nullptr;
  const std::string_view event = name->string();
  const char* colour = expired             ? colours.expired
                       : event == "INSERT" ? colours.insert
                       : event == "MODIFY" ? colours.modify
                                           : colours.remove;
  std::string line = colours.faint;
  if (const Value* created = change->member("ApproximateCreationDateTime")) {
    const auto seconds = engine::whole_number<std::int64_t>(created->number_text()).value_or(0);
    line += engine::iso8601(seconds * 1000).substr(0, 19) + "Z ";
  }
  line += colours.off;
  line += colour;
  line += event;
  line += colours.off;
  line += ' ';
  line += table->string();
  line += ' ';
  const auto print = [&](const Value& value) {
    std::string text;
    print_value(text, value, -1);
    line += log::printable(text);
  };
  if (const Value* keys = change->member("Keys")) print(*keys);
  if (expired) line += std::string(" ") + colour + "expired" + colours.off;
  const Value* image = change->member(event == "REMOVE" ? "OldImage" : "NewImage");
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

int run_command(const ControlCommand& command) {
  const auto url = compat::outbound::Url::parse(command.url);
  if (!url) return fail("'" + command.url + "' is no URL such as http://127.0.0.1:8000");
  ClientRequest request{.method = command.method, .path = command.path, .headers = {}, .body = command.body};
  if (command.method != "GET") request.headers.emplace_back("Content-Type", "application/json");
  if (!command.account.empty()) request.headers.emplace_back("X-Mayfly-Account", command.account);
  if (!command.region.empty()) request.headers.emplace_back("X-Mayfly-Region", command.region);

  const bool colour = ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  Tail tail(colour ? coloured : plain);
  const auto answer = command.tail
                          ? fetch(*url, request, [&](std::string_view piece) { return tail.take(piece); })
                          : fetch(*url, request);
  if (!answer) return fail(answer.error());
  if (answer->status != 200) return fail(message_of(*answer));
  if (command.tail) return 0;
  const auto document = json::parse(answer->body);
  std::string text;
  if (document != nullptr) {
    print_value(text, document->root(), 0);
    text += '\n';
  } else {
    text = answer->body;  // metrics
  }
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

std::string json_object(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string out;
  json::Writer writer(out);
  writer.begin_object();
  for (const auto& [name, value] : members) {
    if (value.empty()) continue;
    writer.key(name);
    const bool stands = value[0] == '{' || value[0] == '[' || value == "true" ||
                        value.find_first_not_of("0123456789.") == std::string::npos;
    if (stands) {
      writer.raw(value);
    } else {
      writer.string(value);
    }
  }
  writer.end_object();
  return out;
}

}  // namespace mayfly::http
