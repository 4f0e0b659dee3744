#include "http/name_lookup.h"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <random>
#include <sstream>
#include <string_view>

#include "http/request.h"

namespace mayfly::http {

namespace {

namespace asio = boost::asio;
using asio::ip::address;
using asio::ip::udp;
using ErrorCode = boost::system::error_code;

constexpr std::chrono::milliseconds answer_time_max{2000};
constexpr std::uint16_t dns_port = 53;
constexpr std::size_t header_bytes = 12, answer_bytes_max = 4096;
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

std::vector<address> ask(const address& server, const std::string& name) {
  const std::string asked = question(static_cast<std::uint16_t>(std::random_device{}()), name);
  if (asked.empty()) return {};
  asio::io_context io{1};
  const udp::endpoint endpoint(server, dns_port);
  udp::socket socket(io);
  ErrorCode failure;
  if (socket.open(endpoint.protocol(), failure) || socket.connect(endpoint, failure)) return {};
  socket.send(asio::buffer(asked), 0, failure);
  if (failure) return {};
  std::array<char, answer_bytes_max> answer{};
  std::size_t received = 0;
  socket.async_receive(asio::buffer(answer), [&](ErrorCode error, std::size_t bytes) { received = error ? 0 : bytes; });
  io.run_for(answer_time_max);
  return addresses_in({answer.data(), received}, asked);
}

}  // namespace

std::vector<address> look_up(const std::string& host) {
  ErrorCode failure;
  if (const address parsed = asio::ip::make_address(host, failure); !failure) return {parsed};
  if (equals_ignoring_case(host, "localhost")) return {asio::ip::address_v4::loopback(), asio::ip::address_v6::loopback()};
  if (auto found = from_hosts_file(host); !found.empty()) return found;
  const Resolver resolver = read_resolver();
  std::vector<std::string> names;
  if (host.find('.') == std::string::npos) {
    for (const std::string& domain : resolver.domains) names.push_back(host + "." + domain);
  }
  names.push_back(host);
  for (const std::string& name : names) {
    for (const address& server : resolver.servers) {
      if (auto found = ask(server, name); !found.empty()) return found;
    }
  }
  return {};
}

}  // namespace mayfly::http
