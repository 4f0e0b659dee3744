#include "bench/load.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>

namespace mayfly::bench {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::seconds answer_max{10};
constexpr std::size_t shown_bytes_max = 300;

tcp::endpoint loopback(std::uint16_t port) { return {asio::ip::make_address("127.0.0.1"), port}; }

[[noreturn]] void give_up(std::string_view why) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(why.size()), why.data());
  std::exit(1);
}

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// Uses memmem, because string_view's find is slow on a body with many copies of the text's first byte.
std::size_t occurrences(std::string_view body, std::string_view text) {
  std::size_t count = 0;
  while (const void* found = ::memmem(body.data(), body.size(), text.data(), text.size())) {
    ++count;
    body.remove_prefix(static_cast<std::size_t>(static_cast<const char*>(found) - body.data()) + text.size());
  }
  return count;
}

// Whether the member is {} or missing.
bool is_empty_member(std::string_view body, const std::string& name) {
  const auto at = body.find('"' + name + '"');
  if (at == body.npos) return true;
  std::string_view rest = trimmed(body.substr(at + name.size() + 2));
  for (char expected : {':', '{', '}'}) {
    rest = trimmed(rest);
    if (rest.empty() || rest.front() != expected) return false;
    rest.remove_prefix(1);
  }
  return true;
}

// Returns the value of a header, or nullopt if the header is missing. Requires: `head` is in lower case.
std::optional<std::string_view> header(std::string_view head, std::string_view line_and_name) {
  const auto at = head.find(line_and_name);
  if (at == head.npos) return std::nullopt;
  const auto begin = at + line_and_name.size();
  return trimmed(head.substr(begin, head.find("\r\n", begin) - begin));
}

struct Answer {
  int status;
  std::string_view body;
  bool closes;
};

// Parses a response incrementally.
class AnswerReader {
 public:
  void clear() {
    received_.clear();
    head_bytes_ = 0;
  }
  void append(const char* bytes, std::size_t count) { received_.append(bytes, count); }

  // Returns the response if it is complete, otherwise nullopt. The body of the response is valid until the
  // next call to any method.
  std::optional<Answer> whole(bool closed) {
    if (head_bytes_ == 0 && !read_head()) return std::nullopt;
    const std::string_view rest = std::string_view(received_).substr(head_bytes_);
    if (chunked_) {
      if (!read_chunks(rest)) return std::nullopt;
      return Answer{status_, body_, closes_};
    }
    if (!body_bytes_ && !closed) return std::nullopt;
    const std::size_t bytes = body_bytes_.value_or(rest.size());
    if (rest.size() < bytes) return std::nullopt;
    return Answer{status_, rest.substr(0, bytes), closes_};
  }

 private:
  bool read_head() {
    const auto end = received_.find("\r\n\r\n");
    if (end == received_.npos) return false;
    head_bytes_ = end + 4;
    head_.assign(received_, 0, end + 2);
    for (char& c : head_) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    status_ = head_.size() > 12 ? std::atoi(head_.c_str() + 9) : 0;
    chunked_ = header(head_, "\r\ntransfer-encoding:") == "chunked";
    closes_ = header(head_, "\r\nconnection:") == "close" || head_.starts_with("http/1.0");
    body_bytes_.reset();
    if (const auto length = header(head_, "\r\ncontent-length:")) {
      std::size_t bytes = 0;
      std::from_chars(length->data(), length->data() + length->size(), bytes);
      body_bytes_ = bytes;
    }
    return true;
  }

  bool read_chunks(std::string_view rest) {
    body_.clear();
    while (true) {
      const auto line_end = rest.find("\r\n");
      if (line_end == rest.npos) return false;
      std::size_t bytes = 0;
      std::from_chars(rest.data(), rest.data() + line_end, bytes, 16);
      if (rest.size() < line_end + 2 + bytes + 2) return false;
      if (bytes == 0) return true;
      body_.append(rest.substr(line_end + 2, bytes));
      rest.remove_prefix(line_end + 2 + bytes + 2);
    }
  }

  std::string received_, head_, body_;
  std::size_t head_bytes_ = 0;
  int status_ = 0;
  bool chunked_ = false, closes_ = false;
  std::optional<std::size_t> body_bytes_;
};

// State that all connections of one generate_load() call share.
struct Turn {
  const std::vector<Request>& requests;
  tcp::endpoint server;
  SteadyClock::time_point end;
  std::size_t next;
  std::size_t under_way = 0;
  std::vector<double> latencies_us;
  Load load;

  const Request& next_request() { return requests[next++ % requests.size()]; }
  void wrong(std::string why) {
    if (load.wrong++ == 0) load.first_wrong = std::move(why);
  }
};

class Connection {
 public:
  Connection(asio::io_context& io, Turn& turn) : socket_(io), turn_(turn) {}

  // Returns false if the connection is refused.
  bool open() {
    boost::system::error_code error;
    socket_.close(error);
    socket_.connect(turn_.server, error);
    if (!error) socket_.set_option(tcp::no_delay(true), error);
    return !error;
  }

  void send() {
    sent_ = SteadyClock::now();
    if (sent_ >= turn_.end) return;
    request_ = &turn_.next_request();
    reader_.clear();
    ++turn_.under_way;
    asio::async_write(socket_, asio::buffer(request_->text),
                      [this](boost::system::error_code error, std::size_t) {
                        if (error) return fail("could not send: " + error.message());
                        receive();
                      });
  }

 private:
  void receive() {
    socket_.async_read_some(asio::buffer(chunk_), [this](boost::system::error_code error, std::size_t bytes) {
      reader_.append(chunk_.data(), bytes);
      if (const auto answer = reader_.whole(error == asio::error::eof)) return look_at(*answer);
      if (error) return fail("could not receive: " + error.message());
      receive();
    });
  }

  void look_at(const Answer& answer) {
    const auto now = SteadyClock::now();
    --turn_.under_way;
    if (std::string why = fault(answer.status, answer.body, request_->checks); why.empty()) {
      turn_.latencies_us.push_back(std::chrono::duration<double, std::micro>(now - sent_).count());
    } else {
      turn_.wrong(std::move(why));
    }
    if (answer.closes && !open()) return turn_.wrong("connections are refused");
    send();
  }

  // Ends this connection without reconnecting, so that a failing server is not flooded with connections.
  void fail(std::string why) {
    --turn_.under_way;
    turn_.wrong(std::move(why));
  }

  tcp::socket socket_;
  Turn& turn_;
  const Request* request_ = nullptr;
  SteadyClock::time_point sent_;
  AnswerReader reader_;
  std::vector<char> chunk_ = std::vector<char>(std::size_t{64} * 1024);
};

class FileReader {
 public:
  explicit FileReader(const std::string& path) : path_(path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) give_up("cannot open " + path);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
  }
  [[nodiscard]] bool at_end() const { return at_ == bytes_.size(); }
  std::uint32_t number() {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i)
      value |= static_cast<std::uint32_t>(static_cast<unsigned char>(take(1)[0])) << (8 * i);
    return value;
  }
  std::string text() { return std::string(take(number())); }
  char letter() { return take(1)[0]; }

 private:
  std::string_view take(std::size_t count) {
    if (bytes_.size() - at_ < count) give_up(path_ + " is truncated");
    at_ += count;
    return std::string_view(bytes_).substr(at_ - count, count);
  }
  std::string path_, bytes_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<Request> read_requests(const std::string& path) {
  FileReader file(path);
  std::vector<Request> requests;
  while (!file.at_end()) {
    Request& request = requests.emplace_back(Request{file.text(), {}});
    for (std::uint32_t checks = file.number(); checks > 0; --checks) {
      const auto kind = static_cast<Check::Kind>(file.letter());
      const std::uint32_t count = file.number();
      request.checks.push_back({kind, count, file.text()});
    }
  }
  if (requests.empty()) give_up(path + " contains no requests");
  return requests;
}

std::string fault(int status, std::string_view body, const std::vector<Check>& checks) {
  const auto shown = [&](const std::string& why) {
    return why + ": " + std::string(body.substr(0, shown_bytes_max));
  };
  if (status != 200) return shown("status " + std::to_string(status));
  for (const Check& check : checks) {
    switch (check.kind) {
      case Check::Kind::count:
        if (const auto count = occurrences(body, check.text); count != check.count)
          return shown(check.text + " occurs " + std::to_string(count) + " times in the response, not " +
                       std::to_string(check.count));
        break;
      case Check::Kind::empty:
        if (!is_empty_member(body, check.text)) return shown(check.text + " is not empty");
        break;
      case Check::Kind::whole:
        if (trimmed(body) != check.text) return shown("the response is not " + check.text);
        break;
    }
  }
  return {};
}

Load generate_load(std::uint16_t port, std::size_t connections, std::chrono::milliseconds duration,
                   const std::vector<Request>& requests, std::size_t first) {
  asio::io_context io(1);
  const auto begin = SteadyClock::now();
  Turn turn{requests, loopback(port), begin + duration, first, 0, {}, {}};
  turn.latencies_us.reserve(1'000'000);
  std::vector<std::unique_ptr<Connection>> open;
  for (std::size_t i = 0; i < connections; ++i) {
    open.push_back(std::make_unique<Connection>(io, turn));
    if (open.back()->open()) {
      open.back()->send();
    } else {
      turn.wrong("connections are refused");
    }
  }
  io.run_until(turn.end + answer_max);
  const double seconds = std::chrono::duration<double>(SteadyClock::now() - begin).count();
  if (turn.under_way > 0) turn.wrong("no response within ten seconds");
  turn.load.seconds = seconds;
  auto& latencies = turn.latencies_us;
  turn.load.requests = latencies.size();
  if (!latencies.empty()) {
    std::sort(latencies.begin(), latencies.end());
    const auto quantile = [&](double q) {
      return latencies[static_cast<std::size_t>(q * static_cast<double>(latencies.size() - 1))];
    };
    turn.load.p50_us = quantile(0.50);
    turn.load.p99_us = quantile(0.99);
  }
  return turn.load;
}

bool answers_rightly(std::uint16_t port, const Request& request) {
  asio::io_context io(1);
  tcp::socket socket(io);
  boost::system::error_code error;
  socket.connect(loopback(port), error);
  if (!error) asio::write(socket, asio::buffer(request.text), error);
  if (error) return false;
  AnswerReader reader;
  while (true) {
    char chunk[16 * 1024];
    const std::size_t count = socket.read_some(asio::buffer(chunk), error);
    reader.append(chunk, count);
    if (const auto answer = reader.whole(error == asio::error::eof))
      return fault(answer->status, answer->body, request.checks).empty();
    if (error) return false;
  }
}

}  // namespace mayfly::bench
