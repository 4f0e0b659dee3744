#include "http/client.h"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>
#include <utility>
#include <vector>

#include "http/name_lookup.h"
#include "http/tls.h"

namespace mayfly::http {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
using compat::outbound::Url;
using ErrorCode = boost::system::error_code;

std::vector<tcp::endpoint> endpoints_of(const Url& url) {
  std::vector<tcp::endpoint> endpoints;
  for (const auto& address : look_up(url.host)) endpoints.emplace_back(address, url.port);
  return endpoints;
}

}  // namespace

std::string request_head(const Url& server, const ClientRequest& request, std::size_t body_bytes) {
  std::string head = request.method + " " + request.path + " HTTP/1.1\r\nHost: " + server.authority +
                     "\r\nUser-Agent: mayfly/" MAYFLY_VERSION "\r\nAccept: */*\r\nConnection: close\r\n";
  if (!request.content_type.empty()) head += "Content-Type: " + request.content_type + "\r\n";
  head += "Content-Length: " + std::to_string(body_bytes) + "\r\n";
  for (const auto& [name, value] : request.headers) head += name + ": " + value + "\r\n";
  return head + "\r\n";
}

namespace {

// One request and its answer, on a stream that is open.
template <class Stream>
Expected<ClientAnswer, std::string> exchange(Stream& stream, const Url& server, const ClientRequest& request,
                                             const std::function<bool(std::string_view)>& piece) {
  const Unexpected cut_short{server.authority + " ended the connection before its answer was whole"};
  const std::string head = request_head(server, request, request.body.size());
  const std::array<asio::const_buffer, 2> buffers = {asio::buffer(head), asio::buffer(request.body)};
  ErrorCode failure;
  asio::write(stream, buffers, failure);
  if (failure) return cut_short;

  beast::flat_buffer buffer;
  beast::http::response_parser<beast::http::string_body> parser;
  parser.body_limit(boost::none);  // a stream of events has no end
  beast::http::read_header(stream, buffer, parser, failure);
  while (!failure) {
    std::string& body = parser.get().body();
    if (piece && parser.get().result_int() == 200 && !body.empty()) {
      if (!piece(body)) break;
      body.clear();
    }
    if (parser.is_done()) break;
    beast::http::read_some(stream, buffer, parser, failure);
  }
  if (failure) return cut_short;
  auto answer = parser.release();
  return ClientAnswer{.status = static_cast<int>(answer.result_int()), .body = std::move(answer.body())};
}

}  // namespace

Expected<ClientAnswer, std::string> fetch(const Url& server, const ClientRequest& request,
                                          const std::function<bool(std::string_view)>& piece,
                                          const std::string& ca_file, const std::stop_token& stop) {
  const std::vector<tcp::endpoint> endpoints = endpoints_of(server);
  if (endpoints.empty()) return Unexpected{"host '" + server.host + "' cannot be found"};
  asio::io_context io{1};
  tcp::socket socket(io);
  ErrorCode failure;
  asio::connect(socket, endpoints, failure);
  if (failure) return Unexpected{"cannot connect to " + server.authority + ": " + failure.message()};
  // Whoever reads or writes on the socket is woken.
  const std::stop_callback ends(stop,
                                [descriptor = socket.native_handle()] { ::shutdown(descriptor, SHUT_RDWR); });
  if (!server.tls) return exchange(socket, server, request, piece);

  TRY(const auto tls, tls_of_client(ca_file));
  asio::ssl::stream<tcp::socket> stream(std::move(socket), *tls);
  // The certificate must be the host's; of names the server is told, too, which one it is asked by.
  X509_VERIFY_PARAM* const expected = SSL_get0_param(stream.native_handle());
  if (X509_VERIFY_PARAM_set1_ip_asc(expected, server.host.c_str()) != 1) {
    X509_VERIFY_PARAM_set1_host(expected, server.host.data(), server.host.size());
    SSL_set_tlsext_host_name(stream.native_handle(), server.host.c_str());
  }
  stream.handshake(asio::ssl::stream_base::client, failure);
  if (failure) {
    const long verified = SSL_get_verify_result(stream.native_handle());
    return Unexpected{"cannot speak TLS with " + server.authority + ": " +
                      (verified == X509_V_OK ? failure.message() : X509_verify_cert_error_string(verified))};
  }
  return exchange(stream, server, request, piece);
}

}  // namespace mayfly::http
