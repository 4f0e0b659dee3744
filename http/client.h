// HTTP from the asking side: how a request's head is written, one whole exchange, which waits for its answer,
// and connections that are kept from one exchange to the next. (invoker.h makes many at once, of the same
// heads and with the same parser.)
//
//   auto answer = fetch(*Url::parse("http://127.0.0.1:8000"), {.method = "GET", .path = "/_mayfly/clock"});
//   if (!answer) fail(answer.error());  // "cannot connect to 127.0.0.1:8000: Connection refused"
//
//   Connections connections(*Url::parse("https://dynamodb.eu-west-1.amazonaws.com",
//   Schemes::http_and_https)); auto answer = connections.ask(request, 10s);  // from any thread, each on a
//   connection of its own
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
#include "engine/expected.h"

namespace mayfly::http {

struct ClientRequest {
  std::string method;
  std::string path;
  std::string content_type;  // empty: says none
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  bool keeps_connection = false;  // else the server is told to close it
};

struct ClientAnswer {
  int status = 0;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers{};  // as they were sent

  // The first header of that name, in whatever case; empty: there is none.
  [[nodiscard]] std::string_view header(std::string_view name) const;
};

// All that stands before the body. `request.body` is not looked at.
std::string request_head(const compat::outbound::Url& server, const ClientRequest& request,
                         std::size_t body_bytes);

// Limits of an answer.
struct AnswerLimits {
  std::size_t bytes_max = std::size_t{64} * 1024 * 1024;  // of its body
  std::chrono::milliseconds time_max{60'000};             // from its first byte to its last
};

// Limit on bytes that were read and not yet parsed: a header, a chunk's size with its extensions, or an
// answer's trailers. Beast limits only the header.
inline constexpr std::size_t answer_buffer_bytes_max = std::size_t{64} * 1024;
// Answers such as 100 and 103 that precede the final one. 101 is final.
inline constexpr int interim_answers_max = 16;
inline constexpr std::string_view too_many_interim_answers = "more than 16 interim answers (1xx)";
constexpr bool is_interim(int status) { return status >= 100 && status < 200 && status != 101; }

// Waits as long as it takes for the first byte of an answer. Uses the first of the
// host's addresses that answers. For https:// the server must show a certificate for its host, of an issuer
// in `ca_file`, or, if that is empty, of one the system trusts. Redirects are not followed. `piece` is given
// the body of a 200 as it arrives, which is then neither kept nor limited; false ends the connection. A
// request to `stop` ends the exchange at once, except while the host's name is looked up.
Expected<ClientAnswer, std::string> fetch(const compat::outbound::Url& server, const ClientRequest& request,
                                          const std::function<bool(std::string_view)>& piece = {},
                                          const std::string& ca_file = {}, const std::stop_token& stop = {},
                                          const AnswerLimits& limits = {});

struct ExchangeFailure {
  // `unusable`: it could not be asked at all, by our own settings. `refused`: the answer is too large, or
  // not HTTP. `stopped`: by a stop token.
  enum class Kind : std::uint8_t { unreachable, timed_out, cut_short, unusable, refused, stopped };
  Kind kind;
  std::string sentence;  // for people, as fetch() says it
};

// "the server answered with HTTP status 302, a redirect, which is not followed"
std::string status_sentence(const ClientAnswer& answer);

// Connections to one server. Each is one thread's as long as an exchange takes, and then the next one's that
// asks; who finds none open, or one that the server has closed meanwhile, opens another.
//
// Thread-safe.
class Connections {
 public:
  static constexpr std::size_t idle_max = 64;  // how many are kept while nobody needs them

  // `ca_file`: as fetch() takes it.
  explicit Connections(compat::outbound::Url server, std::string ca_file = {});
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  // `time_max`: for all of it, from the name's look-up to the answer's last byte. `stop`: as fetch() takes
  // it.
  Expected<ClientAnswer, ExchangeFailure> ask(const ClientRequest& request,
                                              std::chrono::milliseconds time_max,
                                              const std::stop_token& stop = {});
  [[nodiscard]] const compat::outbound::Url& server() const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace mayfly::http
