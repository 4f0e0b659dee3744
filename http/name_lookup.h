// Host names -> addresses, by c-ares: the C library's own name service does not survive static linking.
//
// Addresses stand for themselves and localhost is the loopback; for other names it is as everywhere:
// /etc/hosts, then the name servers and the search domains of /etc/resolv.conf, IPv4 and IPv6.
//
//   look_up("localhost") == {127.0.0.1, ::1}
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace mayfly::http {

struct NameServers {
  std::string servers;  // "10.0.0.53,10.0.0.54:5353"; empty: those of /etc/resolv.conf
  std::chrono::milliseconds answer_time_max{2000};  // for all that is asked about one name
};

// Tells `done` the addresses, once, on the context's thread; none: there is no such host, or nobody who knows
// it answered in time.
using Found = std::function<void(std::vector<boost::asio::ip::address>)>;
void look_up(boost::asio::io_context& io, const std::string& host, Found done, const NameServers& asked = {});

// The same; waits for the answer.
std::vector<boost::asio::ip::address> look_up(const std::string& host, const NameServers& asked = {});

}  // namespace mayfly::http
