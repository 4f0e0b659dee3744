#include "http/server.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <sys/socket.h>
#include <system_error>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compat/dispatch.h"
#include "compat/emulator.h"
#include "engine/attempt.h"
#include "engine/stopwatch.h"
#include "http/access.h"
#include "http/answer_log.h"
#include "http/log.h"
#include "http/router.h"
#include "http/session.h"
#include "http/shortage.h"
#include "http/slow_lane.h"
#include "http/tls.h"

namespace mayfly::http {

namespace {

namespace asio = boost::asio;
using boost::asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using Acceptor = asio::basic_socket_acceptor<tcp, Executor>;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;
using ReusePort = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

// How long to wait before accepting again when the process has no file descriptor or no memory left.
constexpr std::chrono::milliseconds accept_pause{50};

bool is_shortage(const ErrorCode& failure) {
  return failure == asio::error::no_descriptors || failure == asio::error::no_memory ||
         failure == asio::error::no_buffer_space ||
         failure == boost::system::errc::too_many_files_open_in_system;
}

// What a thread has at least of memory that is divided among them: two of the largest requests.
constexpr std::size_t share_bytes_min = 2 * body_bytes_max;

// One thread, its listener and its connections.
class Lane {
 public:
  // `tls`: nullptr for plain HTTP.
  Lane(Service& service, SlowLane& slow_lane, const ServerSettings& settings, TlsContext* tls)
      : service_(service),
        slow_lane_(slow_lane),
        settings_(settings),
        tls_(tls),
        connections_max_(std::max<std::size_t>(1, settings.connections_max / settings.threads)),
        requests_(share_of(settings.request_bytes_max), service.metrics(), compat::Meter::request_bytes,
                  [this] { return refuse_oldest_request(); }),
        unread_answers_(share_of(settings.unread_bytes_max), service.metrics(), compat::Meter::unread_bytes,
                        [this] { return close_oldest_writer(); }),
        shortage_(service.metrics(), compat::Meter::accepts_failing, compat::Meter::accept_failures,
                  "no connection can be accepted") {}
  ~Lane() { stop(); }

  // `shared`: other lanes listen on the same port.
  ErrorCode listen(const tcp::endpoint& endpoint, bool shared) {
    ErrorCode failure;
    (void)(acceptor_.open(endpoint.protocol(), failure) ||
           acceptor_.set_option(Acceptor::reuse_address(true), failure) ||
           (shared && acceptor_.set_option(ReusePort(true), failure)) || acceptor_.bind(endpoint, failure) ||
           acceptor_.listen(Acceptor::max_listen_connections, failure));
    return failure;
  }
  [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

  void run() {
    accept();
    thread_ = std::thread([this] { serve(); });
  }
  void stop() {
    // The request under way is answered first.
    asio::post(io_, [this] { io_.stop(); });
    if (thread_.joinable()) thread_.join();
  }

 private:
  // A handler that fails costs the connection whose it is. One that should have gone on accepting does so.
  void serve() {
    while (!io_.stopped()) {
      engine::attempt([&] { io_.run(); },
                      [this](std::string_view why) {
                        log::write(log::Level::error, "a connection failed: " + std::string(why));
                        if (!accepting_ && connections_.size() < connections_max_) accept_later();
                      });
    }
  }

  void accept() {
    acceptor_.async_accept([this](ErrorCode failure, Socket socket) {
      accepting_ = false;
      bool begun = false;
      if (!failure) {
        const auto take = [&] {
          begin(std::move(socket));
          return true;
        };
        begun = engine::attempt(take, [this](std::string_view why) {
          shortage_.met(why);
          return false;
        });
      } else if (is_shortage(failure)) {
        shortage_.met(failure.message());
      }
      if (!begun) return accept_later();
      shortage_.passed();
      if (connections_.size() < connections_max_) accept();
    });
    accepting_ = true;
  }
  void accept_later() {
    pause_.expires_after(accept_pause);
    pause_.async_wait([this](ErrorCode) { accept(); });
    accepting_ = true;
  }

  void begin(Socket socket) {
    ErrorCode ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    if (tls_ == nullptr) return begin_session(std::move(socket));
    begin_session(TlsStream(std::move(socket), *tls_));
  }
  template <class Stream>
  void begin_session(Stream stream) {
    auto session = std::make_shared<Session<Stream>>(std::move(stream), service_, slow_lane_, requests_,
                                                     unread_answers_, [this](Connection* closed) {
                                                       connections_.erase(closed);
                                                       if (!accepting_ && !io_.stopped()) accept();
                                                     });
    connections_.insert(session.get());
    if (connections_.size() == 1) tick();
    session->start();
  }

  [[nodiscard]] std::size_t share_of(std::size_t bytes) const {
    return std::max(bytes / settings_.threads, share_bytes_min);
  }

  bool refuse_oldest_request() {
    Connection* oldest = nullptr;
    for (Connection* connection : connections_) {
      const HeldBytes::Share* share = connection->arriving();
      if (share != nullptr && (oldest == nullptr || share->moved < oldest->arriving()->moved))
        oldest = connection;
    }
    if (oldest == nullptr) return false;
    log::write(log::Level::warning,
               "a request was refused, for requests hold too much memory (--request-bytes-max)");
    oldest->refuse_for_memory();
    return true;
  }

  // Looks at all: it is asked for when answers fill the memory that they may have, and then rarely enough.
  bool close_oldest_writer() {
    Connection* oldest = nullptr;
    for (Connection* connection : connections_) {
      const HeldBytes::Share& share = connection->unread();
      if (share.bytes > 0 && (oldest == nullptr || share.moved < oldest->unread().moved)) oldest = connection;
    }
    if (oldest == nullptr) return false;
    log::write(log::Level::warning,
               "a client was closed that does not read its answers (--unread-bytes-max)");
    service_.metrics().add(compat::Meter::closed_unread);
    oldest->close();
    return true;
  }

  // Runs only while there are connections: an idle server does not wake.
  void tick() {
    ticker_.expires_after(settings_.tick);
    ticker_.async_wait([this](ErrorCode failure) {
      if (failure || connections_.empty()) return;
      for (Connection* connection : connections_)
        connection->tick(settings_.tick, {.idle_max = settings_.idle_max,
                                          .stalled_max = settings_.stalled_max,
                                          .request_max = settings_.request_max});
      tick();
    });
  }

  Service& service_;
  SlowLane& slow_lane_;
  const ServerSettings& settings_;
  TlsContext* const tls_;
  const std::size_t connections_max_;  // our share
  HeldBytes requests_, unread_answers_;
  std::unordered_set<Connection*> connections_;  // outlives io_, whose pending handlers hold them
  bool accepting_ = false;
  Shortage shortage_;
  asio::io_context io_{1};
  Acceptor acceptor_{io_};
  Timer pause_{io_}, ticker_{io_};
  std::thread thread_;
};

// No name service: it would not survive static linking, and a test's endpoint is an address.
Expected<tcp::endpoint, std::string> endpoint_of(const ServerSettings& settings) {
  ErrorCode failure;
  const auto address =
      asio::ip::make_address(settings.host == "localhost" ? "127.0.0.1" : settings.host, failure);
  if (failure) {
    return Unexpected{"host '" + settings.host + "' is neither an IP address nor localhost"};
  }
  return tcp::endpoint(address, settings.port);
}

class EmulatorService final : public Service {
 public:
  EmulatorService(compat::Emulator& emulator, const ServerSettings& settings)
      : emulator_(emulator), access_(settings.access) {}

  [[nodiscard]] std::optional<Waiting> waits_as(const Request& request) const override {
    return http::waits_as(request, emulator_);
  }
  [[nodiscard]] bool needs_all_headers() const override { return access_.keys != nullptr; }
  [[nodiscard]] compat::ServerMetrics& metrics() const override { return emulator_.server_metrics(); }
  Expected<Admitted, Reply> admit(Request& request, std::string& known_host) const override {
    auto admitted = http::admit(request, access_, known_host);
    if (admitted) return *admitted;
    Reply reply = refused(request, admitted.error());
    log::answer(request, reply);
    return Unexpected{std::move(reply)};
  }
  Reply answer(const Admitted& admitted, const std::stop_token& stop) override {
    std::optional<engine::Stopwatch> stopwatch;
    if (log::enabled(log::Level::debug)) stopwatch.emplace();
    Reply reply = answer_or_500(admitted, stop);
    log::control(admitted.request(), reply);
    if (stopwatch) log::answer(admitted.request(), reply, stopwatch->elapsed());
    return reply;
  }

 private:
  // What compat attempts has its 500 already; here are bodies that are unpacked and packed, and replies.
  Reply answer_or_500(const Admitted& admitted, const std::stop_token& stop) {
    const auto fail = [](std::string_view why) {
      log::write(log::Level::error, "a request failed: " + std::string(why));
      Reply reply;
      reply.status = 500;
      reply.content_type = "application/x-amz-json-1.0";
      reply.body = compat::error_answer(compat::error::internal_server_error().error).body;
      return reply;
    };
    return engine::attempt([&] { return route(admitted, emulator_, access_, stop); }, fail);
  }

  compat::Emulator& emulator_;
  const AccessRules access_;
};

}  // namespace

struct Server::State {
  State(compat::Emulator& emulator, ServerSettings settings_)
      : settings(std::move(settings_)),
        service(emulator, settings),
        slow_lane(settings.waiting_max, emulator.server_metrics()) {}
  // What waits is asked to stop first, and answered while there are lanes to send it.
  ~State() { slow_lane.end(); }

  const ServerSettings settings;
  std::shared_ptr<TlsContext> tls;  // nothing: plain HTTP
  EmulatorService service;
  SlowLane slow_lane;
  std::string host;  // as a URL spells it
  std::uint16_t port = 0;
  std::vector<std::unique_ptr<Lane>> lanes;
};

Expected<std::unique_ptr<Server>, std::string> Server::start(compat::Emulator& emulator,
                                                             ServerSettings settings) {
  settings.threads = std::max(1u, settings.threads);
  std::shared_ptr<TlsContext> tls;
  settings.access.tls = !settings.tls_cert_file.empty() || !settings.tls_key_file.empty();
  if (settings.access.tls) {
    TRY(tls, tls_of_server(settings.tls_cert_file, settings.tls_key_file));
  }
  if (std::string problem = problem_of(settings.access); !problem.empty())
    return Unexpected{std::move(problem)};
  auto state = std::make_unique<State>(emulator, std::move(settings));
  state->tls = std::move(tls);
  TRY(tcp::endpoint endpoint, endpoint_of(state->settings));

  const auto cannot_listen = [&](const ErrorCode& failure) {
    return Unexpected{"cannot listen on " + state->settings.host + ":" + std::to_string(endpoint.port()) +
                      ": " +
                      (failure == asio::error::address_in_use ? "the port is taken" : failure.message())};
  };
  const bool shared = state->settings.threads > 1;
  if (shared && endpoint.port() != 0) {
    // A shared port would be shared with another server too: see first whether it is free.
    Lane probe(state->service, state->slow_lane, state->settings, state->tls.get());
    if (const ErrorCode failure = probe.listen(endpoint, false)) return cannot_listen(failure);
  }
  for (unsigned i = 0; i < state->settings.threads; ++i) {
    auto lane = std::make_unique<Lane>(state->service, state->slow_lane, state->settings, state->tls.get());
    if (const ErrorCode failure = lane->listen(endpoint, shared)) return cannot_listen(failure);
    endpoint.port(lane->port());
    state->lanes.push_back(std::move(lane));
  }
  state->port = endpoint.port();
  const std::string address = endpoint.address().to_string();
  state->host = endpoint.address().is_v6() ? "[" + address + "]" : address;
  try {
    for (const auto& lane : state->lanes) lane->run();
  } catch (const std::system_error& failure) {
    return Unexpected{std::string("cannot start a thread: ") + failure.what()};
  }
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::~Server() = default;
std::uint16_t Server::port() const { return state_->port; }
std::string Server::url() const {
  const std::string scheme = state_->tls ? "https://" : "http://";
  return scheme + state_->host + ":" + std::to_string(state_->port);
}

}  // namespace mayfly::http
