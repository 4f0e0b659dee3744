// Host names -> addresses, without the C library's name service, which does not survive static linking.
//
// Addresses stand for themselves, localhost is the loopback, other names are looked up in /etc/hosts and
// then, for an IPv4 address, asked of the name servers in /etc/resolv.conf: enough for the services of a
// compose file.
//
//   look_up("localhost") == {127.0.0.1, ::1}
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <functional>
#include <string>
#include <vector>

namespace mayfly::http {

// Tells `done` the addresses, once, on the context's thread; none: there is no such host, or nobody who knows
// it answered within two seconds.
using Found = std::function<void(std::vector<boost::asio::ip::address>)>;
void look_up(boost::asio::io_context& io, const std::string& host, Found done);

// The same; waits for the answer.
std::vector<boost::asio::ip::address> look_up(const std::string& host);

}  // namespace mayfly::http
