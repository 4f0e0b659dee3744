#include "http/connections/server.h"

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <system_error>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compat/emulator.h"
#include "engine/base/attempt.h"
#include "http/access/access.h"
#include "http/base/log.h"
#include "http/base/shortage.h"
#include "http/base/slow_lane.h"
#include "http/base/tls.h"
#include "http/connections/session.h"
#include "http/endpoints/router.h"
#include "os/reason.h"
#include "os/sockets.h"

namespace mayfly::http {

namespace {

namespace asio = boost::asio;
using boost::asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using Acceptor = asio::basic_socket_acceptor<tcp, Executor>;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;

// If the port is 0, the system may choose a port that is free on 127.0.0.1 but in use on ::1. The server then
// tries another port, and at most this many ports in total.
constexpr int free_port_tries_max = 100;

// How long to wait before accepting again when the process has no file descriptor or no memory left.
constexpr std::chrono::milliseconds accept_pause{50};

bool is_shortage(const ErrorCode& failure) {
  return failure == asio::error::no_descriptors || failure == asio::error::no_memory ||
         failure == asio::error::no_buffer_space ||
         failure == boost::system::errc::too_many_files_open_in_system;
}

// Memory limits are divided among the threads, but each thread gets at least this much: enough for two of the
// largest requests.
constexpr std::size_t share_bytes_min = 2 * body_bytes_max;

// One thread with its connections, and with listeners, whose connections it keeps or gives to other threads.
class IoThread {
 public:
  // `tls` is nullptr for plain HTTP.
  IoThread(const Router& router, SlowLane& slow_lane, const ServerSettings& settings, TlsContext* tls)
      : router_(router),
        slow_lane_(slow_lane),
        settings_(settings),
        tls_(tls),
        connections_max_(std::max<std::size_t>(1, settings.connections_max / settings.threads)),
        requests_(share_of(settings.request_bytes_max), router.metrics(), compat::Meter::request_bytes,
                  [this] { return refuse_oldest_request(); }),
        unread_answers_(share_of(settings.unread_bytes_max), router.metrics(), compat::Meter::unread_bytes,
                        [this] { return close_oldest_writer(); }),
        shortage_(router.metrics(), compat::Meter::accepts_failing, compat::Meter::accept_failures,
                  "cannot accept connections") {}
  ~IoThread() { stop(); }

  // Listens on another endpoint. `shared` says whether other io threads listen on the same port.
  ErrorCode listen(const tcp::endpoint& endpoint, bool shared) {
    auto listener = std::make_unique<Listener>(io_);
    Acceptor& acceptor = listener->acceptor;
    ErrorCode failure;
    std::error_code unprepared;
    acceptor.open(endpoint.protocol(), failure);
    if (!failure) os::prepare_to_listen(acceptor.native_handle(), shared, unprepared);
    if (unprepared) return unprepared;
    (void)(failure || acceptor.bind(endpoint, failure) ||
           acceptor.listen(Acceptor::max_listen_connections, failure));
    if (!failure) listeners_.push_back(std::move(listener));
    return failure;
  }
  // The port of the first endpoint.
  // Requires: listen() has succeeded.
  [[nodiscard]] std::uint16_t port() const { return listeners_.front()->acceptor.local_endpoint().port(); }

  // Connections from this thread's listeners are given to `takers` in turn. All of them are stopped before
  // one of them is destroyed, and this thread is destroyed first.
  void give_to(std::vector<IoThread*> takers) {
    takers_ = std::move(takers);
    for (IoThread* taker : takers_) taker->giver_ = this;
  }

  void run() {
    accept_more();
    thread_ = std::thread([this] { serve(); });
  }
  void stop() {
    // The current request is answered first.
    asio::post(io_, [this] { io_.stop(); });
    if (thread_.joinable()) thread_.join();
  }

 private:
  // An exception in a handler closes only that handler's connection. If the failed handler was the one that
  // continues accepting, accepting is restarted here.
  void serve() {
    while (!io_.stopped()) {
      engine::attempt([&] { io_.run(); },
                      [this](std::string_view why) {
                        log::write(log::Level::error, "a connection failed: " + std::string(why));
                        for (const auto& listener : listeners_)
                          if (!listener->accepting && taker() != nullptr) accept_later(*listener);
                      });
    }
  }

  struct Listener {
    explicit Listener(asio::io_context& io) : acceptor(io), pause(io) {}
    Acceptor acceptor;
    Timer pause;
    bool accepting = false;
    IoThread* taker = nullptr;     // of the connection that is being accepted
    std::optional<Socket> parked;  // accepted while the taker's number of connections was at its limit
  };

  void accept_more() {
    for (const auto& listener : listeners_)
      if (!listener->accepting && taker() != nullptr) accept(*listener);
  }
  // The thread that takes the next connection; nullptr: no thread has room for one.
  IoThread* taker() const {
    for (std::size_t i = 0; i < takers_.size(); ++i)
      if (IoThread* const taker = takers_[(turn_ + i) % takers_.size()]; taker->has_room()) return taker;
    return nullptr;
  }
  [[nodiscard]] bool has_room() const { return held_ < connections_max_; }
  void accept(Listener& listener) {
    if (listener.parked) {
      if (!listener.taker->has_room()) return;
      Socket socket = *std::exchange(listener.parked, std::nullopt);
      return accepted(listener, {}, std::move(socket));
    }
    listener.taker = taker();
    if (listener.taker == nullptr) return;
    ++turn_;
    listener.acceptor.async_accept(listener.taker->io_, [this, &listener](ErrorCode failure, Socket socket) {
      listener.accepting = false;
      accepted(listener, failure, std::move(socket));
    });
    listener.accepting = true;
  }
  void accepted(Listener& listener, ErrorCode failure, Socket socket) {
    IoThread& to = *listener.taker;
    if (!failure && !to.has_room()) {  // another listener was faster
      listener.parked = std::move(socket);
      return;
    }
    bool taken = false;
    if (!failure && &to == this) {
      taken = take(std::move(socket));
    } else if (!failure) {
      ++to.held_;
      asio::post(to.io_, [&to, socket = std::move(socket)]() mutable {
        --to.held_;
        if (to.take(std::move(socket))) to.shortage_.passed();
      });
      taken = true;
    } else if (is_shortage(failure)) {
      shortage_.met(os::reason(failure));
    }
    if (!taken) return accept_later(listener);
    shortage_.passed();
    accept(listener);
  }
  void accept_later(Listener& listener) {
    listener.pause.expires_after(accept_pause);
    listener.pause.async_wait([this, &listener](ErrorCode) {
      listener.accepting = false;
      accept(listener);
    });
    listener.accepting = true;
  }

  // Returns false, and closes the socket, if there is not enough memory for a connection.
  bool take(Socket socket) {
    const auto begins = [&] {
      begin(std::move(socket));
      return true;
    };
    return engine::attempt(begins, [this](std::string_view why) {
      shortage_.met(why);
      return false;
    });
  }
  void closed(Connection* connection) {
    held_ -= connections_.erase(connection);
    if (io_.stopped()) return;
    if (giver_ == this) return accept_more();
    asio::post(giver_->io_, [giver = giver_] { giver->accept_more(); });
  }

  void begin(Socket socket) {
    ErrorCode ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    if (tls_ == nullptr) return begin_session(std::move(socket));
    begin_session(TlsStream(std::move(socket), *tls_));
  }
  template <class Stream>
  void begin_session(Stream stream) {
    auto session =
        std::make_shared<Session<Stream>>(std::move(stream), router_, slow_lane_, requests_, unread_answers_,
                                          [this](Connection* one) { closed(one); });
    connections_.insert(session.get());
    ++held_;
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
               "rejected a request because the requests in flight exceed --request-bytes-max");
    oldest->refuse_for_memory();
    return true;
  }

  // Scans all connections. This is cheap enough, because it happens only when the responses in memory exceed
  // their limit.
  bool close_oldest_writer() {
    Connection* oldest = nullptr;
    for (Connection* connection : connections_) {
      const HeldBytes::Share& share = connection->unread();
      if (share.bytes > 0 && (oldest == nullptr || share.moved < oldest->unread().moved)) oldest = connection;
    }
    if (oldest == nullptr) return false;
    log::write(log::Level::warning,
               "closed a connection whose client does not read its responses (--unread-bytes-max)");
    router_.metrics().add(compat::Meter::closed_unread);
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

  const Router& router_;
  SlowLane& slow_lane_;
  const ServerSettings& settings_;
  TlsContext* const tls_;
  const std::size_t connections_max_;  // this thread's share
  HeldBytes requests_, unread_answers_;
  std::unordered_set<Connection*> connections_;  // outlives io_, whose pending handlers hold them
  std::atomic<std::size_t> held_ = 0;            // connections, including those on their way to this thread
  Shortage shortage_;
  asio::io_context io_{1};
  asio::executor_work_guard<Executor> waits_{io_.get_executor()};  // for connections from other threads
  std::vector<std::unique_ptr<Listener>> listeners_;
  Timer ticker_{io_};
  std::vector<IoThread*> takers_{this};
  std::size_t turn_ = 0;
  IoThread* giver_ = this;
  std::thread thread_;
};

// The addresses to listen on; the first one appears in URLs. Names are not resolved: the C library's name
// service does not work in a static executable, and a server for tests needs only addresses.
Expected<std::vector<asio::ip::address>, std::string> addresses_of(const ServerSettings& settings) {
  if (settings.host == "localhost")
    return std::vector<asio::ip::address>{asio::ip::address_v4::loopback(), asio::ip::address_v6::loopback()};
  ErrorCode failure;
  const auto address = asio::ip::make_address(settings.host, failure);
  if (failure) return Unexpected{"host '" + settings.host + "' is neither an IP address nor localhost"};
  return std::vector{address};
}

std::string url_host(const asio::ip::address& address) {
  return address.is_v6() ? "[" + address.to_string() + "]" : address.to_string();
}

// A machine without IPv6 has no ::1.
bool is_missing_address(const tcp::endpoint& endpoint, const ErrorCode& failure) {
  return endpoint.address() == asio::ip::address_v6::loopback() && failure != asio::error::address_in_use &&
         !is_shortage(failure);
}

}  // namespace

struct Server::State {
  State(compat::Emulator& emulator, ServerSettings settings_)
      : settings(std::move(settings_)),
        router(emulator, settings.access),
        slow_lane(settings.waiting_max, emulator.server_metrics()) {}
  // Waiting requests are stopped first, and answered while the io threads still exist.
  ~State() {
    slow_lane.end();
    for (const auto& io_thread : io_threads) io_thread->stop();
    while (!io_threads.empty()) io_threads.erase(io_threads.begin());
  }

  const ServerSettings settings;
  std::shared_ptr<TlsContext> tls;  // nullptr: plain HTTP
  const Router router;
  SlowLane slow_lane;
  std::string host;  // as written in a URL
  std::uint16_t port = 0;
  std::vector<std::unique_ptr<IoThread>> io_threads;

  [[nodiscard]] std::unique_ptr<IoThread> make_io_thread() {
    return std::make_unique<IoThread>(router, slow_lane, settings, tls.get());
  }
  struct NotListening {
    tcp::endpoint endpoint;
    ErrorCode failure;
  };
  // Makes the io threads, which listen on each address, on the same port.
  Expected<void, NotListening> listen(const std::vector<asio::ip::address>& addresses);
};

Expected<void, Server::State::NotListening> Server::State::listen(
    const std::vector<asio::ip::address>& addresses) {
  const bool shared = settings.threads > 1 && settings.shares_port;
  io_threads.clear();
  for (unsigned i = 0; i < settings.threads; ++i) io_threads.push_back(make_io_thread());
  port = settings.port;
  for (const asio::ip::address& address : addresses) {
    // SO_REUSEPORT would also share the port with another server, so first check that the port is free.
    if (const tcp::endpoint endpoint(address, port); shared && port != 0) {
      const ErrorCode failure = make_io_thread()->listen(endpoint, false);
      if (failure && is_missing_address(endpoint, failure)) continue;
      if (failure) return Unexpected{NotListening{endpoint, failure}};
    }
    for (const auto& io_thread : io_threads) {
      const tcp::endpoint endpoint(address, port);
      const ErrorCode failure = io_thread->listen(endpoint, shared);
      if (failure && is_missing_address(endpoint, failure)) continue;
      if (failure) return Unexpected{NotListening{endpoint, failure}};
      port = io_thread->port();
      if (!shared) break;
    }
  }
  if (shared) return {};
  std::vector<IoThread*> takers;
  for (const auto& io_thread : io_threads) takers.push_back(io_thread.get());
  io_threads.front()->give_to(std::move(takers));
  return {};
}

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
  TRY(const std::vector<asio::ip::address> addresses, addresses_of(state->settings));
  auto listening = state->listen(addresses);
  for (int tries = 1; tries < free_port_tries_max && state->settings.port == 0 && !listening &&
                      listening.error().failure == asio::error::address_in_use;
       ++tries)
    listening = state->listen(addresses);
  if (!listening) {
    const auto& [endpoint, failure] = listening.error();
    return Unexpected{"cannot listen on " + url_host(endpoint.address()) + ":" +
                      std::to_string(endpoint.port()) + ": " +
                      (failure == asio::error::address_in_use ? "the port is taken" : os::reason(failure))};
  }
  state->host = url_host(addresses.front());
  try {
    for (const auto& io_thread : state->io_threads) io_thread->run();
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
