#include "cli/calls/mcp.h"

#include <array>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/base/deadline.h"
#include "cli/base/end_signals.h"
#include "cli/base/fail.h"
#include "cli/calls/server_calls.h"
#include "compat/json/json_tree.h"
#include "compat/mcp/world.h"
#include "compat/server_metrics.h"
#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/values/account_id.h"
#include "http/access/keys.h"
#include "http/access/sigv4.h"
#include "http/base/log.h"
#include "http/base/slow_lane.h"
#include "http/outbound/client.h"
#include "http/outbound/signer.h"
#include "os/process.h"
#include "os/terminal.h"

namespace mayfly::cli {

namespace {

using compat::Answer;
using compat::mcp::Asked;
using compat::mcp::Message;
using compat::mcp::Protocol;
using compat::mcp::Said;

constexpr auto next_begins_after = std::chrono::milliseconds(250);
constexpr auto answered_at_end = std::chrono::milliseconds(1000);
constexpr auto answered_after_signal = std::chrono::milliseconds(300);
constexpr auto ends_within = std::chrono::seconds(5);

// --- another server

class ServerWorld final : public compat::mcp::World {
 public:
  ServerWorld(compat::outbound::Url url, McpCommand command)
      : url_(std::move(url)), command_(std::move(command)), key_(http::key_of_environment()) {}

  Asked operate(const engine::Scope& scope, std::string_view target, const std::string& body,
                const std::stop_token& stop) override {
    http::ClientRequest request{
        .method = "POST", .path = "/", .content_type = "application/x-amz-json-1.0", .body = body};
    request.headers.emplace_back("X-Amz-Target", target);
    return ask(std::move(request), scope, key_for(scope.account, key_), "dynamodb", stop);
  }

  Asked call(const engine::Scope& scope, std::string_view method, const std::string& path,
             const std::string& body, const std::stop_token& stop) override {
    http::ClientRequest request{.method = std::string(method), .path = path, .body = body};
    if (method != "GET") request.content_type = "application/json";
    if (!path.starts_with("/_mayfly/"))
      return ask(std::move(request), scope, key_for(scope.account, key_), "lambda", stop);
    request.headers.emplace_back("X-Mayfly-Account", scope.account);
    request.headers.emplace_back("X-Mayfly-Region", scope.region);
    return ask(std::move(request), scope, key_, "dynamodb", stop);
  }

  // Returns --region or the server's default region. The default is requested again on each call until the
  // server has answered once.
  std::string region() override {
    if (!command_.region.empty()) return command_.region;
    const engine::Lock lock(mutex_);
    if (region_.empty()) {
      const Asked answer =
          call({std::string(http::default_account), std::string(region_default)}, "GET", "/_mayfly/", "", {});
      const auto tree = answer ? json::parse_tree(answer->body) : std::nullopt;
      if (tree) region_ = json::string_member(*tree, "region").value_or(region_default);
    }
    return region_.empty() ? std::string(region_default) : region_;
  }

 private:
  static constexpr std::string_view region_default = "us-east-1";

  Asked ask(http::ClientRequest request, const engine::Scope& scope, const std::optional<http::Key>& key,
            const char* service, const std::stop_token& stop) const {
    if (key) {
      const std::string body = request.body;
      http::sign(request, body, url_, *key, {service, scope.region}, engine::SystemClock().now());
    }
    auto answer = http::fetch(url_, request, {}, command_.ca_file, stop);
    if (!answer)
      return Unexpected{answer.error() +
                        ". Start a server with 'mayfly serve', or name a running one with --url."};
    if (answer->body.ends_with('\n')) answer->body.pop_back();  // a tool's result is one line
    return Answer{answer->status, std::move(answer->body)};
  }

  const compat::outbound::Url url_;
  const McpCommand command_;
  const std::optional<http::Key> key_;
  engine::Mutex mutex_;
  std::string region_ GUARDED_BY(mutex_);
};

// --- lines

constexpr std::string_view too_long_error =
    R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request: longer than 16 MB"}})";

// Reads and writes messages, one per line.
class MessageLines {
 public:
  MessageLines(const os::File& out, const EndSignals& signals) : out_(out), signals_(signals) {}

  // Returns the next line, or nullopt if the input has ended or a signal has arrived. If a line is too long,
  // sends an error and continues with the next line.
  std::optional<std::string> read() {
    for (;;) {
      if (const auto end = buffer_.find('\n', looked_at_); end != std::string::npos) {
        if (end > mcp_line_bytes_max) refuse_as_too_long();
        std::string line = too_long_ ? std::string() : buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        looked_at_ = 0;
        too_long_ = false;
        return line;
      }
      looked_at_ = buffer_.size();
      if (buffer_.size() > mcp_line_bytes_max) {
        refuse_as_too_long();
        std::string().swap(buffer_);
        looked_at_ = 0;
      }
      if (!read_more()) return rest();
    }
  }

  void write(std::string_view message) {
    const engine::Lock lock(mutex_);
    std::string line(message);
    line += '\n';
    std::error_code error;
    if (!broken_) out_.write(line, error);
    if (error) broken_ = true;
  }

  [[nodiscard]] bool is_broken() {
    const engine::Lock lock(mutex_);
    return broken_;
  }

 private:
  // Sends the error only once for a line, even if the line arrives in many pieces.
  void refuse_as_too_long() {
    if (!too_long_) write(too_long_error);
    too_long_ = true;
  }
  // Returns false if no input is left.
  bool read_more() {
    std::array<char, 64 * 1024> piece;
    const std::size_t got = os::read_standard_input(piece, signals_.event());
    buffer_.append(piece.data(), got);
    return got > 0;
  }

  // Returns the text after the last newline, or nullopt if that text is empty or too long.
  std::optional<std::string> rest() {
    if (buffer_.empty() || too_long_) return std::nullopt;
    return std::exchange(buffer_, {});
  }

  const os::File& out_;
  const EndSignals& signals_;
  std::string buffer_;
  std::size_t looked_at_ = 0;
  bool too_long_ = false;
  engine::Mutex mutex_;
  bool broken_ GUARDED_BY(mutex_) = false;
};

// --- requests in progress

class Conversation {
 public:
  Conversation(Protocol& protocol, MessageLines& lines) : protocol_(protocol), lines_(lines) {}

  void take(const std::string& line) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) return;
    auto message = std::make_shared<Message>(Message::read(line));
    if (const std::string cancelled = message->cancels(); !cancelled.empty()) return cancel(cancelled);
    const std::string id = message->id();
    std::stop_source stop;
    std::uint64_t number = 0;
    {
      const engine::Lock lock(mutex_);
      number = ++last_;
      under_way_.emplace(number, UnderWay{id, stop});
    }
    auto place = std::make_shared<http::SlowLane::Place>(lane_.take(http::Waiting::agents, {}));
    const bool begun = *place && lane_.run(stop, [this, message, number, stop, place] {
      answer(*message, number, stop.get_token());
      place->leave();
    });
    if (!begun) return refuse(number, id);
    engine::Lock lock(mutex_);
    answered_.wait_for(lock, next_begins_after,
                       [&]() REQUIRES(mutex_) { return !under_way_.contains(number); });
  }

  // Waits up to `time` for requests in progress, then tells them to stop.
  void end(std::chrono::milliseconds time) {
    const Deadline deadline(ends_within, [] {
      http::log::write(http::log::Level::error, "work in progress did not end in time and is abandoned");
      os::exit_now(1);
    });
    {
      engine::Lock lock(mutex_);
      answered_.wait_for(lock, time, [&]() REQUIRES(mutex_) { return under_way_.empty(); });
    }
    lane_.end();
  }

 private:
  struct UnderWay {
    std::string id;
    std::stop_source stop;
    bool cancelled = false;
  };

  void answer(const Message& message, std::uint64_t number, const std::stop_token& stop) {
    std::string version;
    {
      const engine::Lock lock(mutex_);
      version = version_;
    }
    const Said said = protocol_.answer(message, {.version = version}, stop);
    bool says = !said.body.empty();
    {
      const engine::Lock lock(mutex_);
      if (!said.version.empty()) version_ = said.version;
      says = says && !under_way_.at(number).cancelled;
    }
    if (says) lines_.write(said.body);
    const engine::Lock lock(mutex_);
    under_way_.erase(number);
    answered_.notify_all();
  }

  void refuse(std::uint64_t number, const std::string& id) {
    {
      const engine::Lock lock(mutex_);
      under_way_.erase(number);
    }
    if (!id.empty())
      lines_.write(R"({"jsonrpc":"2.0","id":)" + id +
                   R"(,"error":{"code":-32603,"message":"Too many requests are waiting; the limit is )" +
                   std::to_string(mcp_waiting_max) + R"("}})");
  }

  // Ends the request with this ID. The request then gets no answer.
  void cancel(const std::string& id) {
    std::stop_source stop(std::nostopstate);
    {
      const engine::Lock lock(mutex_);
      for (auto& [number, one] : under_way_) {
        if (one.id != id) continue;
        one.cancelled = true;
        stop = one.stop;
      }
    }
    stop.request_stop();
  }

  Protocol& protocol_;
  MessageLines& lines_;
  compat::ServerMetrics metrics_;
  http::SlowLane lane_{mcp_waiting_max, metrics_};
  engine::Mutex mutex_;
  std::condition_variable_any answered_;
  std::map<std::uint64_t, UnderWay> under_way_ GUARDED_BY(mutex_);
  std::uint64_t last_ GUARDED_BY(mutex_) = 0;
  std::string version_ GUARDED_BY(mutex_) = std::string(compat::mcp::legacy_version);
};

}  // namespace

void speak_mcp(compat::mcp::World& world, compat::mcp::ProtocolSettings settings, const os::File& out,
               const EndSignals& end_signals) {
  settings.notice = [](const std::string& sentence) {
    http::log::write(http::log::Level::info, "MCP: " + sentence);
  };
  Protocol protocol(world, std::move(settings));
  MessageLines lines(out, end_signals);
  Conversation conversation(protocol, lines);
  while (!lines.is_broken()) {
    const auto line = lines.read();
    if (!line) break;
    conversation.take(*line);
  }
  conversation.end(!end_signals.came() ? answered_at_end : answered_after_signal);
}

std::string account_of(const McpCommand& command) {
  if (!command.account.empty()) return command.account;
  const auto key = command.own ? std::nullopt : http::key_of_environment();
  return std::string(key ? http::account_of(key->id) : http::default_account);
}

int run_mcp(const McpCommand& command) {
  auto url = compat::outbound::Url::parse(command.url, compat::outbound::Schemes::http_and_https);
  if (!url) return fail("--url must be a URL such as http://127.0.0.1:8000, got '" + command.url + "'");
  http::log::set_level(command.log_level);
  const EndSignals end_signals(EndSignals::Another::is_ignored, [] {
    http::log::write(http::log::Level::error, "work in progress did not end within a second of the signal");
    return 1;
  });
  const os::File out = os::take_standard_output();
  if (!out.is_open()) return fail("standard output is closed");
  ServerWorld world(*std::move(url), command);
  speak_mcp(world, {.scope = {account_of(command), ""}, .read_only = command.read_only}, out, end_signals);
  return 0;
}

}  // namespace mayfly::cli
