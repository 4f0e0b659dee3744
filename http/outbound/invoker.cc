#include "http/outbound/invoker.h"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <deque>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/attempt.h"
#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "http/outbound/client.h"
#include "http/outbound/name_lookup.h"
#include "http/outbound/signer.h"
#include "os/process.h"
#include "os/reason.h"

namespace mayfly::http {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
using compat::outbound::Invocation;
using compat::outbound::InvocationAnswer;
using compat::outbound::InvocationFailure;
using ErrorCode = boost::system::error_code;
using Parser = beast::http::response_parser<beast::http::string_body>;

std::string head_of(const Invocation& invocation, const std::optional<Key>& key) {
  ClientRequest request{.method = invocation.method,
                        .path = invocation.url.target,
                        .content_type = invocation.content_type,
                        .headers = invocation.headers};
  if (invocation.signing && key) {
    // Uses the host's clock, as the server that checks the signature does; an account's clock may be frozen.
    sign(request, invocation.body, invocation.url, *key, *invocation.signing, engine::SystemClock().now());
  }
  return request_head(invocation.url, request, invocation.body.size());
}

// Makes a header's value, which may contain any bytes, safe for responses, logs and stored documents.
std::string plain_text(std::string_view value) {
  std::string plain(value);
  for (char& c : plain)
    if (c < ' ' || c > '~') c = '?';
  return plain;
}

std::size_t calls_at_once() {
  return static_cast<std::size_t>(
      std::clamp<std::uint64_t>(os::open_files_max() / 4, 1, HttpInvoker::calls_max));
}

}  // namespace

// Only `thread` uses the members that `mutex` does not guard.
struct HttpInvoker::State {
  State(std::optional<Key> signs_with, std::size_t bytes_max)
      : key(std::move(signs_with)), answers_bytes_max(bytes_max) {}
  Expected<void, std::string> prepare();
  void run();
  void begin(std::shared_ptr<Call> call);
  void ended();

  const std::optional<Key> key;
  const std::size_t answers_bytes_max;
  const std::size_t calls_max = calls_at_once();
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> work = asio::make_work_guard(io);
  std::size_t under_way = 0;
  std::size_t answer_bytes = 0;  // held by calls in progress
  std::deque<std::shared_ptr<Call>> line;
  engine::Mutex mutex;
  std::thread thread GUARDED_BY(mutex);
};

// One call: looks up the host, connects, writes and reads; each step starts the next.
class HttpInvoker::Call : public std::enable_shared_from_this<Call> {
 public:
  Call(State& state, Invocation invocation, std::stop_token stop, Done done)
      : state_(state),
        invocation_(std::move(invocation)),
        head_(head_of(invocation_, state.key)),
        stop_(std::move(stop)),
        done_(std::move(done)) {
    expect_answer();
  }

  // Lets a stop request end the call, even while the call is queued.
  void arrive() { stops_.emplace(stop_, Stops{weak_from_this(), state_.io}); }
  void begin() {
    begun_ = true;
    timer_.expires_after(invocation_.time_max);
    timer_.async_wait([self = shared_from_this()](ErrorCode cancelled) {
      if (!cancelled) self->fail(InvocationFailure::Kind::timed_out, "did not answer in time");
    });
    look_up(state_.io, invocation_.url.host,
            [self = shared_from_this()](const std::vector<asio::ip::address>& addresses) {
              self->connect(addresses);
            });
  }
  [[nodiscard]] bool ended() const { return !done_; }

  void fail(InvocationFailure::Kind kind, const std::string& what) {
    end(Unexpected{InvocationFailure{kind, invocation_.url.text + " " + what}});
  }

 private:
  struct Stops {
    std::weak_ptr<Call> call;
    asio::io_context& io;
    void operator()() const {
      asio::post(io, [call = call] {
        if (const auto self = call.lock()) self->fail(InvocationFailure::Kind::stopped, "was canceled");
      });
    }
  };

  void connect(const std::vector<asio::ip::address>& addresses) {
    if (ended()) return;
    if (addresses.empty())
      return fail(InvocationFailure::Kind::unreachable, "failed: its host cannot be resolved");
    for (const auto& address : addresses) endpoints_.emplace_back(address, invocation_.url.port);
    asio::async_connect(
        socket_, endpoints_, [self = shared_from_this()](ErrorCode failure, const tcp::endpoint&) {
          if (!failure) return self->write();
          const bool ours = failure == asio::error::no_descriptors || failure == asio::error::no_memory ||
                            failure == boost::system::errc::too_many_files_open_in_system;
          self->fail(ours ? InvocationFailure::Kind::unable : InvocationFailure::Kind::unreachable,
                     "failed: " + os::reason(failure));
        });
  }
  void write() {
    if (ended()) return;
    const std::array<asio::const_buffer, 2> buffers = {asio::buffer(head_), asio::buffer(invocation_.body)};
    asio::async_write(socket_, buffers, [self = shared_from_this()](ErrorCode failure, std::size_t) {
      // A server that answers before it has read everything may have closed the connection already; its
      // response is still used.
      self->write_failure_ = failure;
      self->read();
    });
  }
  void expect_answer() {
    parser_.emplace();
    parser_->body_limit(answer_bytes_max());
    parser_->skip(invocation_.method == "HEAD");  // its response has a Content-Length but no body
  }
  void read() {
    if (ended()) return;
    beast::http::async_read_some(
        socket_, buffer_, *parser_, [self = shared_from_this()](ErrorCode failure, std::size_t) {
          if (self->ended()) return;
          if (failure) return self->fail_reading(failure);
          if (!self->hold_answer())
            return self->fail(InvocationFailure::Kind::unable,
                              "failed: responses in flight exceed their memory limit");
          self->parser_->is_done() ? self->finish() : self->read();
        });
  }
  void finish() {
    const int status = static_cast<int>(parser_->get().result_int());
    if (!is_interim(status)) {
      if (status < 200)
        return fail(InvocationFailure::Kind::no_answer, "answered with status " + std::to_string(status));
      return end(take_answer());
    }
    if (++interim_ > interim_answers_max)
      return fail(InvocationFailure::Kind::no_answer, "failed: " + std::string(too_many_interim_answers));
    expect_answer();
    read();
  }
  void fail_reading(ErrorCode failure) {
    if (failure == beast::http::error::body_limit)
      return fail(InvocationFailure::Kind::no_answer,
                  "failed: Response payload size exceeded maximum allowed payload size (" +
                      std::to_string(answer_bytes_max()) + " bytes).");
    if (failure == beast::http::error::buffer_overflow) failure = beast::http::error::header_limit;
    fail(InvocationFailure::Kind::no_answer,
         "failed: " + os::reason(write_failure_ ? write_failure_ : failure));
  }
  [[nodiscard]] std::size_t answer_bytes_max() const {
    return invocation_.signing ? signed_answer_bytes_max : function_answer_bytes_max;
  }

  // Counts the bytes that have arrived. Returns false if all calls together hold too much.
  bool hold_answer() {
    const std::size_t bytes = parser_->get().body().capacity();
    state_.answer_bytes += bytes - held_bytes_;
    held_bytes_ = bytes;
    return state_.answer_bytes <= state_.answers_bytes_max;
  }

  void end(Answer answer) {
    if (ended()) return;
    const Done done = std::exchange(done_, nullptr);
    stops_.reset();
    timer_.cancel();
    ErrorCode ignored;
    socket_.close(ignored);
    state_.answer_bytes -= std::exchange(held_bytes_, 0);
    if (begun_) state_.ended();
    done(std::move(answer));
  }

  InvocationAnswer take_answer() {
    auto message = parser_->release();
    const auto header = [&](beast::string_view name) { return plain_text(message[name]); };
    std::vector<std::pair<std::string, std::string>> headers;
    for (const auto& field : message) headers.emplace_back(field.name_string(), plain_text(field.value()));
    return {.status = static_cast<int>(message.result_int()),
            .function_error = header("X-Amz-Function-Error"),
            .executed_version = header("X-Amz-Executed-Version"),
            .log_result = header("X-Amz-Log-Result"),
            .content_type = header("Content-Type"),
            .body = std::move(message.body()),
            .headers = std::move(headers)};
  }

  State& state_;
  const Invocation invocation_;
  const std::string head_;
  const std::stop_token stop_;
  Done done_;  // empty: already called
  bool begun_ = false;
  asio::steady_timer timer_{state_.io};
  tcp::socket socket_{state_.io};
  std::vector<tcp::endpoint> endpoints_;
  beast::flat_buffer buffer_{answer_buffer_bytes_max};
  std::optional<Parser> parser_;
  int interim_ = 0;
  std::size_t held_bytes_ = 0;
  ErrorCode write_failure_;
  std::optional<std::stop_callback<Stops>> stops_;
};

Expected<void, std::string> HttpInvoker::State::prepare() {
  const engine::Lock lock(mutex);
  if (thread.joinable()) return {};
  try {
    thread = std::thread([this] { run(); });
    return {};
  } catch (const std::system_error&) {
    return Unexpected{std::string("Cannot start a thread to call functions.")};
  }
}

void HttpInvoker::State::run() {
  while (!io.stopped()) {
    engine::attempt([&] { io.run(); },
                    [](std::string_view) {
                      // One call is lost; the others continue.
                    });
  }
}

void HttpInvoker::State::begin(std::shared_ptr<Call> call) {
  call->arrive();
  if (under_way == calls_max) return line.push_back(std::move(call));
  ++under_way;
  call->begin();
}

void HttpInvoker::State::ended() {
  --under_way;
  while (!line.empty() && under_way < calls_max) {
    const auto next = std::move(line.front());
    line.pop_front();
    if (next->ended()) continue;
    ++under_way;
    next->begin();
  }
}

HttpInvoker::HttpInvoker(std::optional<Key> key, std::size_t bytes_max)
    : state_(std::make_unique<State>(std::move(key), bytes_max)) {}

HttpInvoker::~HttpInvoker() {
  state_->io.stop();
  std::thread thread;
  {
    const engine::Lock lock(state_->mutex);
    thread.swap(state_->thread);
  }
  if (thread.joinable()) thread.join();
}

Expected<void, std::string> HttpInvoker::prepare() { return state_->prepare(); }

void HttpInvoker::start(Invocation invocation, std::stop_token stop, Done done) {
  if (const auto ready = prepare(); !ready) {
    return done(Unexpected{InvocationFailure{InvocationFailure::Kind::unable, ready.error()}});
  }
  auto call = std::make_shared<Call>(*state_, std::move(invocation), std::move(stop), std::move(done));
  asio::post(state_->io, [&state = *state_, call = std::move(call)] { state.begin(call); });
}

}  // namespace mayfly::http
