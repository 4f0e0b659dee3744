// Resolves host names to addresses with c-ares, because the C library's name service does not work in a
// static executable.
//
// Addresses resolve to themselves, and localhost to the loopback addresses. Other names are resolved as
// usual: from /etc/hosts, then with the name servers and search domains of /etc/resolv.conf, IPv4 and IPv6.
// On Windows, hosts, name servers and search domains are those of Windows.
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
  std::chrono::milliseconds answer_time_max{2000};  // for all queries about one name
};

// Calls `done` with the addresses, once, on the context's thread. There are no addresses if the host does not
// exist or no name server answered in time.
using Found = std::function<void(std::vector<boost::asio::ip::address>)>;
void look_up(boost::asio::io_context& io, const std::string& host, Found done, const NameServers& asked = {});

// Blocks until the addresses are known, and returns them.
std::vector<boost::asio::ip::address> look_up(const std::string& host, const NameServers& asked = {});

}  // namespace mayfly::http
