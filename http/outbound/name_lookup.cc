#include "http/outbound/name_lookup.h"

#include <ares.h>
#include <boost/asio/generic/datagram_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "http/requests/request.h"

namespace mayfly::http {

namespace {

namespace asio = boost::asio;
using asio::ip::address;
// A socket of c-ares, over UDP or TCP. It is only waited for.
using WatchedSocket = asio::generic::datagram_protocol::socket;
using ErrorCode = boost::system::error_code;

constexpr int server_tries_max = 2;

std::vector<address> addresses_of(const ares_addrinfo* found) {
  std::vector<address> addresses;
  for (const auto* node = found != nullptr ? found->nodes : nullptr; node != nullptr; node = node->ai_next) {
    if (node->ai_family == AF_INET) {
      sockaddr_in four{};
      std::memcpy(&four, node->ai_addr, sizeof four);
      addresses.emplace_back(asio::ip::address_v4(ntohl(four.sin_addr.s_addr)));
    } else if (node->ai_family == AF_INET6) {
      sockaddr_in6 six{};
      std::memcpy(&six, node->ai_addr, sizeof six);
      asio::ip::address_v6::bytes_type bytes;
      std::memcpy(bytes.data(), &six.sin6_addr, bytes.size());
      addresses.emplace_back(asio::ip::address_v6(bytes, six.sin6_scope_id));
    }
  }
  return addresses;
}

// One lookup. c-ares opens and closes its sockets; the io context reports when one of them is readable or
// writable, and when time is up.
//
// c-ares is never re-entered: only `run` calls it, and its callbacks only record results.
class Asking : public std::enable_shared_from_this<Asking> {
 public:
  Asking(asio::io_context& io, std::string host, Found done, NameServers asked)
      : io_(io),
        timer_(io),
        deadline_(io),
        host_(std::move(host)),
        done_(std::move(done)),
        asked_(std::move(asked)) {}
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
  ~Asking() {
    ended_ = true;
    if (channel_ != nullptr) ares_destroy(channel_);
  }

  void begin() {
    static const int is_ready = ares_library_init(ARES_LIB_INIT_ALL);  // on Windows
    if (is_ready != ARES_SUCCESS) return done_({});
    ares_options options{};
    options.timeout = static_cast<int>(asked_.answer_time_max.count());
    options.tries = server_tries_max;
    options.sock_state_cb = [](void* self, ares_socket_t socket, int readable, int writable) {
      static_cast<Asking*>(self)->watch(socket, readable != 0, writable != 0);
    };
    options.sock_state_cb_data = this;
    const int set = ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB;
    if (ares_init_options(&channel_, &options, set) != ARES_SUCCESS) {
      channel_ = nullptr;
      return done_({});
    }
    if (!asked_.servers.empty()) ares_set_servers_ports_csv(channel_, asked_.servers.c_str());
    deadline_.expires_after(asked_.answer_time_max);
    deadline_.async_wait([self = shared_from_this()](ErrorCode cancelled) {
      if (!cancelled && self->done_) self->run([&] { ares_cancel(self->channel_); });  // calls `take`
    });
    run([this] {
      ares_addrinfo_hints hints{};
      hints.ai_family = AF_UNSPEC;
      hints.ai_socktype = SOCK_STREAM;  // otherwise each address is returned once per socket type
      const auto found = [](void* self, int, int, ares_addrinfo* addresses) {
        static_cast<Asking*>(self)->take(addresses);
      };
      ares_getaddrinfo(channel_, host_.c_str(), nullptr, &hints, found, this);
    });
  }

 private:
  struct Watched {
    WatchedSocket socket;
    bool reads = false, writes = false;  // the events that c-ares waits for
    bool read_waits = false, write_waits = false;
    Watched(asio::io_context& io, ares_socket_t native) : socket(io) {
      ErrorCode ignored;
      socket.assign(asio::generic::datagram_protocol(AF_INET, 0), native, ignored);
    }
  };

  void watch(ares_socket_t socket, bool reads, bool writes) {
    if (!reads && !writes) {
      // c-ares is about to close the socket, so the io context must not keep the socket's number.
      if (const auto known = sockets_.find(socket); known != sockets_.end()) {
        ErrorCode ignored;
        (void)known->second->socket.release(ignored);
        sockets_.erase(known);
      }
      return;
    }
    if (ended_) return;
    auto& known = sockets_[socket];
    if (!known) known = std::make_shared<Watched>(io_, socket);
    known->reads = reads;
    known->writes = writes;
  }

  void take(ares_addrinfo* addresses) {
    found_ = addresses_of(addresses);
    if (addresses != nullptr) ares_freeaddrinfo(addresses);
    ended_ = true;
  }

  template <class Step>
  void run(Step step) {
    step();
    if (ended_) return end();
    for (const auto& [socket, watched] : sockets_) wait(socket, watched);
    timeval left{};
    if (ares_timeout(channel_, nullptr, &left) == nullptr) return;
    timer_.expires_after(std::chrono::seconds(left.tv_sec) + std::chrono::microseconds(left.tv_usec));
    timer_.async_wait([self = shared_from_this()](ErrorCode cancelled) {
      if (!cancelled) self->process(ARES_SOCKET_BAD, ARES_SOCKET_BAD);
    });
  }

  void process(ares_socket_t readable, ares_socket_t writable) {
    if (done_) run([&] { ares_process_fd(channel_, readable, writable); });
  }

  void wait(ares_socket_t socket, const std::shared_ptr<Watched>& watched) {
    if (watched->reads && !std::exchange(watched->read_waits, true)) {
      watched->socket.async_wait(WatchedSocket::wait_read,
                                 [self = shared_from_this(), watched, socket](ErrorCode failure) {
                                   watched->read_waits = false;
                                   if (!failure) self->process(socket, ARES_SOCKET_BAD);
                                 });
    }
    if (watched->writes && !std::exchange(watched->write_waits, true)) {
      watched->socket.async_wait(WatchedSocket::wait_write,
                                 [self = shared_from_this(), watched, socket](ErrorCode failure) {
                                   watched->write_waits = false;
                                   if (!failure) self->process(ARES_SOCKET_BAD, socket);
                                 });
    }
  }

  void end() {
    if (!done_) return;
    timer_.cancel();
    deadline_.cancel();
    // c-ares closes its sockets here, so the waits for them end and release the last references to this
    // object.
    ares_destroy(std::exchange(channel_, nullptr));
    std::exchange(done_, nullptr)(std::move(found_));
  }

  asio::io_context& io_;
  asio::steady_timer timer_;     // until c-ares retries, or asks another server
  asio::steady_timer deadline_;  // until the lookup is given up
  const std::string host_;
  Found done_;
  const NameServers asked_;
  ares_channel channel_ = nullptr;
  std::map<ares_socket_t, std::shared_ptr<Watched>> sockets_;
  std::vector<address> found_;
  bool ended_ = false;
};

}  // namespace

void look_up(asio::io_context& io, const std::string& host, Found done, const NameServers& asked) {
  ErrorCode failure;
  std::vector<address> known;
  if (const address parsed = asio::ip::make_address(host, failure); !failure) {
    known = {parsed};
  } else if (equals_ignoring_case(host, "localhost")) {
    known = {asio::ip::address_v4::loopback(), asio::ip::address_v6::loopback()};
  }
  if (!known.empty()) {
    asio::post(io, [known = std::move(known), done = std::move(done)] { done(known); });
    return;
  }
  asio::post(io, [asking = std::make_shared<Asking>(io, host, std::move(done), asked)] { asking->begin(); });
}

std::vector<address> look_up(const std::string& host, const NameServers& asked) {
  asio::io_context io{1};
  std::vector<address> addresses;
  look_up(
      io, host, [&](std::vector<address> found) { addresses = std::move(found); }, asked);
  io.run();
  return addresses;
}

}  // namespace mayfly::http
