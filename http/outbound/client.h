// An HTTP client: writes a request's head, makes one blocking exchange, and keeps connections between
// exchanges. (invoker.h runs many exchanges at once.)
//
//   auto answer = fetch(*Url::parse("http://127.0.0.1:8000"), {.method = "GET", .path = "/_mayfly/clock"});
//   if (!answer) fail(answer.error());  // "cannot connect to 127.0.0.1:8000: Connection refused"
//
//   const auto url = Url::parse("https://dynamodb.eu-west-1.amazonaws.com", Schemes::http_and_https);
//   Connections connections(*url);
//   auto answer = connections.ask(request, 10s);  // from any thread; each call uses its own connection
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compat/outbound/url.h"
#include "engine/base/expected.h"

namespace mayfly::http {

struct ClientRequest {
  std::string method;
  std::string path;
  std::string content_type;  // empty: no Content-Type header
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  bool keeps_connection = false;  // false: asks the server to close the connection
};

struct ClientAnswer {
  int status = 0;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers{};  // as they were sent

  // The first header with that name, ignoring case; empty if there is none.
  [[nodiscard]] std::string_view header(std::string_view name) const;
};

// Returns everything that is sent before the body. Ignores `request.body`.
std::string request_head(const compat::outbound::Url& server, const ClientRequest& request,
                         std::size_t body_bytes);

// Limits of an answer.
struct AnswerLimits {
  std::size_t bytes_max = std::size_t{64} * 1024 * 1024;  // maximum size of the answer's body
  std::chrono::milliseconds time_max{60'000};  // time limit from the first byte of the answer to the last
};

// Limit on bytes that were read and not yet parsed: a header, a chunk's size with its extensions, or an
// answer's trailers. Beast limits only the header.
inline constexpr std::size_t answer_buffer_bytes_max = std::size_t{64} * 1024;
// Limit on responses such as 100 and 103 that precede the final one. 101 is final.
inline constexpr int interim_answers_max = 16;
inline constexpr std::string_view too_many_interim_answers = "more than 16 interim responses (1xx)";
constexpr bool is_interim(int status) { return status >= 100 && status < 200 && status != 101; }

// Sends a request and returns the response. Waits without a limit for the first byte of the response. Uses
// the first of the host's addresses that answers. For https://, the server must present a certificate for its
// host from an issuer in `ca_file`, or from one that the system trusts if `ca_file` is empty. Redirects are
// not followed. If `piece` is set, it receives the body of a response with status 200 as it arrives; that
// body is then neither kept nor limited, and returning false ends the connection. A request to `stop` ends
// the exchange immediately, except during the host name lookup.
Expected<ClientAnswer, std::string> fetch(const compat::outbound::Url& server, const ClientRequest& request,
                                          const std::function<bool(std::string_view)>& piece = {},
                                          const std::string& ca_file = {}, const std::stop_token& stop = {},
                                          const AnswerLimits& limits = {});

struct ExchangeFailure {
  // `unusable`: no request could be sent, because of the client's own settings. `refused`: the response is
  // too large, or not HTTP. `stopped`: a stop token ended the exchange.
  enum class Kind : std::uint8_t { unreachable, timed_out, cut_short, unusable, refused, stopped };
  Kind kind;
  std::string sentence;  // human-readable, worded like the errors of fetch()
};

// Returns a sentence such as "the server answered with HTTP status 302 (redirects are not followed)".
std::string status_sentence(const ClientAnswer& answer);

// A pool of connections to one server. An exchange has a connection to itself, and the next exchange reuses
// it. If no connection is idle, or the server has closed the idle one, the exchange opens another.
//
// Thread-safe.
class Connections {
 public:
  static constexpr std::size_t idle_max = 64;  // maximum number of idle connections that are kept

  // `ca_file`: as in fetch().
  explicit Connections(compat::outbound::Url server, std::string ca_file = {});
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  // `time_max` limits the whole exchange, from the name lookup to the last byte of the response. `stop`: as
  // in fetch().
  Expected<ClientAnswer, ExchangeFailure> ask(const ClientRequest& request,
                                              std::chrono::milliseconds time_max,
                                              const std::stop_token& stop = {});
  [[nodiscard]] const compat::outbound::Url& server() const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace mayfly::http
