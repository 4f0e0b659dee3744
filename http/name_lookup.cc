#include "http/name_lookup.h"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <string_view>
#include <utility>

#include "http/request.h"

namespace mayfly::http {

namespace {

namespace asio = boost::asio;
using asio::ip::address;
using asio::ip::udp;
using ErrorCode = boost::system::error_code;

constexpr std::chrono::milliseconds answer_time_max{2000};
constexpr std::uint16_t dns_port = 53;
constexpr std::size_t answer_bytes_max = 4096;
constexpr std::uint16_t type_address = 1, class_internet = 1;

std::vector<address> from_hosts_file(const std::string& host) {
  std::vector<address> found;
  std::ifstream file("/etc/hosts");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string text, name;
    words >> text;
    ErrorCode failure;
    const address parsed = asio::ip::make_address(text, failure);
    if (failure) continue;
    while (words >> name) {
      if (equals_ignoring_case(name, host)) found.push_back(parsed);
    }
  }
  return found;
}

struct Resolver {
  std::vector<address> servers;
  std::vector<std::string> domains;  // that names without a dot may be in
};

Resolver read_resolver() {
  Resolver resolver;
  std::ifstream file("/etc/resolv.conf");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string keyword, word;
    words >> keyword;
    while (words >> word) {
      ErrorCode failure;
      if (keyword == "search" || keyword == "domain") resolver.domains.push_back(word);
      if (keyword != "nameserver") continue;
      const address server = asio::ip::make_address(word, failure);
      if (!failure) resolver.servers.push_back(server);
    }
  }
  return resolver;
}

// RFC 1035: header := id flags questions answers authorities additionals, each u16 big-endian
//           question := (length:u8 label)* 0 type:u16 class:u16
// Empty: the name has a label that is none.
std::string question(std::uint16_t id, std::string_view name) {
  std::string bytes;
  for (const unsigned value : {unsigned{id}, 0x0100u, 1u, 0u, 0u, 0u}) {
    bytes += static_cast<char>(value >> 8);
    bytes += static_cast<char>(value & 255);
  }
  while (!name.empty()) {
    const std::string_view label = name.substr(0, name.find('.'));
    if (label.empty() || label.size() > 63) return {};
    bytes += static_cast<char>(label.size());
    bytes += label;
    name.remove_prefix(std::min(label.size() + 1, name.size()));
  }
  bytes += std::string{0, 0, type_address, 0, class_internet};
  return bytes;
}

// answer := name type:u16 class:u16 ttl:u32 length:u16 data
std::vector<address> addresses_in(std::string_view bytes, std::string_view asked) {
  const auto number = [&](std::size_t at) {
    return at + 2 > bytes.size() ? 0u
                                 : static_cast<unsigned>(static_cast<unsigned char>(bytes[at]) << 8 |
                                                         static_cast<unsigned char>(bytes[at + 1]));
  };
  std::vector<address> found;
  if (bytes.size() < asked.size() || bytes.substr(0, 2) != asked.substr(0, 2)) return found;
  std::size_t at = asked.size();  // the question is repeated
  for (unsigned left = number(6); left > 0 && at < bytes.size(); --left) {
    while (at < bytes.size() && bytes[at] != 0 && (static_cast<unsigned char>(bytes[at]) & 0xC0) != 0xC0) {
      at += static_cast<unsigned char>(bytes[at]) + 1u;
    }
    at += at < bytes.size() && bytes[at] != 0 ? 2 : 1;  // a pointer to a name, or a name's end
    const std::size_t data = at + 10, length = number(at + 8);
    if (data + length > bytes.size()) break;
    if (number(at) == type_address && length == 4) {
      asio::ip::address_v4::bytes_type octets;
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(data), 4, octets.begin());
      found.emplace_back(asio::ip::address_v4(octets));
    }
    at = data + length;
  }
  return found;
}

// Asks each server for each name, one after the other, until one knows it.
class Asking : public std::enable_shared_from_this<Asking> {
 public:
  Asking(asio::io_context& io, std::vector<address> servers, std::vector<std::string> names, Found done)
      : socket_(io),
        timer_(io),
        servers_(std::move(servers)),
        names_(std::move(names)),
        done_(std::move(done)) {}

  void next() {
    for (; name_ < names_.size(); ++name_, server_ = 0) {
      while (server_ < servers_.size()) {
        if (ask(servers_[server_++], names_[name_])) return;
      }
    }
    done_({});
  }

 private:
  // False: it could not even be sent.
  bool ask(const address& server, const std::string& name) {
    asked_ = question(static_cast<std::uint16_t>(std::random_device{}()), name);
    if (asked_.empty()) return false;
    const udp::endpoint endpoint(server, dns_port);
    ErrorCode failure;
    socket_.close(failure);
    if (socket_.open(endpoint.protocol(), failure) || socket_.connect(endpoint, failure)) return false;
    socket_.send(asio::buffer(asked_), 0, failure);
    if (failure) return false;
    timer_.expires_after(answer_time_max);
    timer_.async_wait([self = shared_from_this()](ErrorCode cancelled) {
      ErrorCode ignored;
      if (!cancelled) self->socket_.cancel(ignored);
    });
    socket_.async_receive(
        asio::buffer(answer_), [self = shared_from_this()](ErrorCode error, std::size_t bytes) {
          self->timer_.cancel();
          if (auto found = addresses_in({self->answer_.data(), error ? 0 : bytes}, self->asked_);
              !found.empty()) {
            return self->done_(std::move(found));
          }
          self->next();
        });
    return true;
  }

  udp::socket socket_;
  asio::steady_timer timer_;
  const std::vector<address> servers_;
  const std::vector<std::string> names_;
  std::size_t name_ = 0, server_ = 0;
  std::string asked_;
  std::array<char, answer_bytes_max> answer_{};
  const Found done_;
};

// Those that are found without asking anybody.
std::vector<address> known(const std::string& host) {
  ErrorCode failure;
  if (const address parsed = asio::ip::make_address(host, failure); !failure) return {parsed};
  if (equals_ignoring_case(host, "localhost"))
    return {asio::ip::address_v4::loopback(), asio::ip::address_v6::loopback()};
  return from_hosts_file(host);
}

}  // namespace

void look_up(asio::io_context& io, const std::string& host, Found done) {
  if (auto found = known(host); !found.empty()) {
    asio::post(io, [found = std::move(found), done = std::move(done)] { done(found); });
    return;
  }
  Resolver resolver = read_resolver();
  std::vector<std::string> names;
  if (host.find('.') == std::string::npos) {
    for (const std::string& domain : resolver.domains) names.push_back(host + "." + domain);
  }
  names.push_back(host);
  const auto asking =
      std::make_shared<Asking>(io, std::move(resolver.servers), std::move(names), std::move(done));
  asio::post(io, [asking] { asking->next(); });
}

std::vector<address> look_up(const std::string& host) {
  asio::io_context io{1};
  std::vector<address> addresses;
  look_up(io, host, [&](std::vector<address> found) { addresses = std::move(found); });
  io.run();
  return addresses;
}

}  // namespace mayfly::http
