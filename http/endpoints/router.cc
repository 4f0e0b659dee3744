#include "http/endpoints/router.h"

#include <optional>

#include "compat/emulator.h"
#include "compat/json/json.h"
#include "engine/base/attempt.h"
#include "engine/base/hurry.h"
#include "engine/base/stopwatch.h"
#include "http/access/sigv4.h"
#include "http/base/crc32.h"
#include "http/base/log.h"
#include "http/endpoints/admin.h"
#include "http/endpoints/answer_log.h"
#include "http/endpoints/console.h"
#include "http/endpoints/lambda.h"
#include "http/endpoints/mcp.h"
#include "http/requests/compression.h"
#include "http/requests/refusals.h"

namespace mayfly::http {

namespace {

constexpr std::string_view amz_json = "application/x-amz-json-1.0";

// The response headers that scripts of an allowed origin may read, and how long (in seconds) a preflight may
// be cached.
constexpr std::string_view exposed_headers =
    "Access-Control-Expose-Headers: x-amzn-RequestId, x-amzn-ErrorType, x-amz-crc32, Date\r\n";
constexpr std::string_view preflight_age = "Access-Control-Max-Age: 172800\r\n";

Reply not_found() {
  Reply reply;
  reply.status = 404;
  reply.body = "<UnknownOperationException/>\n";
  return reply;
}

// GET / answers like a DynamoDB endpoint or, if root_refuses is set, like DynamoDB Local. A browser in which
// a user opens this URL, recognized by its Sec-Fetch-Site header, gets an explanation instead. A script of an
// allowed origin sends an Origin header and gets the same answer as any other client.
Reply root(const Request& request, const compat::Emulator& emulator, const AccessRules& access) {
  Reply reply;
  if (access.root_refuses) {
    reply.status = 400;
    reply.content_type = "application/x-amz-json-1.0";
    reply.body =
        R"({"__type":"com.amazonaws.dynamodb.v20120810#MissingAuthenticationToken","message":"Request must )"
        R"(contain either a valid (registered) AWS access key ID or X.509 certificate."})";
  } else if (request.has(Header::sec_fetch_site) && !request.has(Header::origin)) {
    reply.content_type = "text/html; charset=utf-8";
    reply.extra_headers =
        "Content-Security-Policy: default-src 'none'\r\nX-Content-Type-Options: nosniff\r\n";
    const std::string_view console =
        "<li><a href=\"/_mayfly/console\">/_mayfly/console</a>: browse tables, time and streams</li>";
    reply.body = "<!doctype html><html lang=\"en\"><title>Mayfly</title><h1>Mayfly " MAYFLY_VERSION
                 "</h1><p>DynamoDB for tests. Use this address as the endpoint of an AWS SDK.</p>"
                 "<ul>" +
                 std::string(access.control ? console : "") +
                 "<li><a href=\"/_mayfly/\">/_mayfly/</a>: the calls of the control API</li>"
                 "<li><a href=\"/_mayfly/health\">/_mayfly/health</a></li>"
                 "<li><a href=\"/_mayfly/metrics\">/_mayfly/metrics</a></li></ul></html>\n";
  } else {
    reply.body = "healthy: dynamodb." + emulator.region() + ".amazonaws.com ";
  }
  return reply;
}

Reply preflight(const Request& request) {
  Reply reply;
  if (request.has(Header::access_control_request_headers)) {
    reply.extra_headers += "Access-Control-Allow-Headers: ";
    reply.extra_headers += request.header(Header::access_control_request_headers);
    reply.extra_headers += "\r\n";
  }
  if (request.has(Header::access_control_request_method)) {
    reply.extra_headers += "Access-Control-Allow-Methods: ";
    reply.extra_headers += request.header(Header::access_control_request_method);
    reply.extra_headers += "\r\n";
  }
  reply.extra_headers += preflight_age;
  return reply;
}

Reply answered(compat::Answer answer, std::string_view content_type) {
  answer.content_type = content_type;
  return reply_of(std::move(answer));
}

// Replaces the body with its decompressed content. Returns a reply on failure.
std::optional<Reply> decompress_body(Request& request, std::string_view content_type) {
  const std::string_view name = request.header(Header::content_encoding);
  if (name.empty() || equals_ignoring_case(name, "identity")) return std::nullopt;
  std::optional<DecompressFailure> failure = DecompressFailure::malformed;
  std::string content;
  for (const Encoding encoding : {Encoding::gzip, Encoding::deflate}) {
    if (equals_ignoring_case(name, name_of(encoding))) {
      failure = decompress(request.body, encoding, body_bytes_max, content);
    }
  }
  if (!failure) {
    request.body = std::move(content);
    return std::nullopt;
  }
  if (*failure == DecompressFailure::too_large) return too_large();
  // DynamoDB reports an internal error for a body that it cannot decode.
  return answered(compat::error_answer(compat::error::internal_server_error().error), content_type);
}

SignatureRules signature_rules(const AccessRules& access) {
  if (!access.keys) return {};
  return {.keys = access.keys.get(), .now = engine::SystemClock().now()};
}

// A request that is answered on an io thread has no `stop` and must not wait. waits_as() has found that the
// request would not have to wait. A fault rule that has been added since then applies only to later requests.
std::stop_token or_no_wait(const std::stop_token& stop) {
  if (stop.stop_possible()) return stop;
  static const auto* const stopped = [] {
    auto* const made = new std::stop_source;
    made->request_stop();
    return made;
  }();
  return stopped->get_token();
}

// Answers an operation. DynamoDB reports a parsing error before any other error. So if a request fails for
// another reason, it is parsed here to find out whether it also has a parsing error. A good request is parsed
// only once, by dispatch.
compat::Answer operate(const Request& request, const compat::Result<engine::Scope>& scope,
                       compat::Emulator& emulator, const std::stop_token& stop) {
  const auto refuse = [&](const compat::Error& error) {
    const auto room = emulator.request_memory().room_for(request.body);
    const bool is_json = request.body.empty() || json::parse(request.body) != nullptr;
    return compat::error_answer(is_json ? error : compat::error::serialization({}).error);
  };
  if (!request.route.operation) return refuse(compat::error::unknown_operation().error);
  if (!scope) return refuse(scope.error());
  return emulator.execute(emulator.scope_of(*scope), request.route.operation, request.body,
                          request.header(Header::host), or_no_wait(stop));
}

// On an io thread, a read whose response takes too long to compress moves to the slow lane. A write can no
// longer move at this point, so its long response is sent uncompressed.
void compress_answer(Reply& reply, std::string_view accept_encoding, bool has_time) {
  constexpr std::uint64_t nanoseconds_per_byte = 20;  // measured on text without repetitions
  if (reply.body.size() < compressed_answer_bytes_min) return;
  const Encoding encoding = choose_encoding(accept_encoding);
  if (encoding == Encoding::identity) return;
  engine::Hurry::spend(nanoseconds_per_byte * reply.body.size());
  if (!has_time && !engine::Hurry::is_on() && reply.body.size() > quick_body_bytes_max) return;
  reply.body = compress(reply.body, encoding);
  reply.content_encoding = name_of(encoding);
}

Reply post(Request& request, compat::Emulator& emulator, const AccessRules& access,
           const std::stop_token& stop) {
  std::string_view content_type = request.header(Header::content_type);
  content_type = trim(content_type.substr(0, content_type.find(';')));
  if (!request.body.empty() && content_type != plain_json && content_type != amz_json) return not_found();
  content_type = content_type == amz_json ? amz_json : plain_json;

  // The signature is checked before the body is decompressed, because clients sign the bytes as sent. If the
  // signature is invalid, nothing is decompressed or parsed.
  const auto scope = authenticate(request, emulator.region(), signature_rules(access));
  if (!scope && access.keys) return answered(compat::error_answer(scope.error()), content_type);
  if (auto reply = decompress_body(request, content_type)) return *std::move(reply);
  Reply reply = answered(operate(request, scope, emulator, stop), content_type);
  compress_answer(reply, request.header(Header::accept_encoding), stop.stop_possible());
  return reply;
}

// A control call is signed for DynamoDB, in a header. The signature only admits the call: the account still
// comes from X-Mayfly-Account, as without a signature.
std::optional<Reply> refuse_unsigned(const Request& request, const compat::Emulator& emulator,
                                     const AccessRules& access) {
  if (!access.keys || request.route.kind == Route::Kind::health) return std::nullopt;
  SignatureRules rules = signature_rules(access);
  rules.by = SignedBy::header;
  const auto scope = authenticate(request, emulator.region(), rules);
  if (scope) return std::nullopt;
  Reply reply = refused(request, scope.error());
  reply.status = compat::error_status(compat::Error::Kind::forbidden);
  return reply;
}

Reply answer_route(Request& request, compat::Emulator& emulator, const AccessRules& access,
                   const std::stop_token& stop) {
  using Kind = Route::Kind;
  const Kind kind = request.route.kind;
  switch (kind) {
    case Kind::root:
      if (request.method == "POST") return post(request, emulator, access, stop);
      if (request.method == "GET" || request.method == "HEAD") return root(request, emulator, access);
      return not_found();
    case Kind::invocation:
    case Kind::lambda: {
      if (kind == Kind::lambda && request.method != "GET" && !access.control) {
        return refused(
            request,
            {compat::Error::Kind::forbidden,
             "Event source mappings are read-only while the control API is disabled (--no-control)."});
      }
      SignatureRules rules = signature_rules(access);
      rules.by = SignedBy::header;
      rules.service = "lambda";
      return lambda(request, emulator, rules, stop);
    }
    case Kind::console:
      if (access.control) return console(request);
      [[fallthrough]];
    case Kind::mcp:
    case Kind::health:
    case Kind::control:
      if (auto reply = refuse_unsigned(request, emulator, access)) return *std::move(reply);
      return admin(request, emulator, access, stop);
    case Kind::nothing: break;
  }
  return not_found();
}

Reply route(const Admitted& admitted, compat::Emulator& emulator, const AccessRules& access,
            const std::stop_token& stop) {
  Request& request = admitted.request();
  const bool cross_origin = !admitted.origin().empty();
  Reply reply = cross_origin && request.method == "OPTIONS" ? preflight(request)
                                                            : answer_route(request, emulator, access, stop);
  if (cross_origin) {
    reply.extra_headers += "Access-Control-Allow-Origin: ";
    reply.extra_headers += admitted.origin();
    reply.extra_headers += "\r\nVary: Origin\r\n";
    reply.extra_headers += exposed_headers;
  }
  reply.head_only = request.method == "HEAD";
  return reply;
}

std::optional<Waiting> operation_waits_as(const Request& request, const compat::Emulator& emulator) {
  if (emulator.faults().any()) return Waiting::operations;
  if (request.route.operation) {
    switch (emulator.expectation(*request.route.operation)) {
      case compat::Expectation::short_work: break;
      case compat::Expectation::long_work: return Waiting::processors;
      case compat::Expectation::waiting: return Waiting::locks;
      case compat::Expectation::whole_tables: return Waiting::operations;
    }
  }
  const bool is_large =
      request.body.size() > quick_body_bytes_max || !request.header(Header::content_encoding).empty();
  return is_large ? std::optional(Waiting::processors) : std::nullopt;
}

// `call` is nullptr if no control call has the request's path and method.
std::optional<Waiting> call_waits_as(const compat::control::ControlCall* call) {
  if (call == nullptr) return Waiting::calls;
  switch (call->waits) {
    case compat::control::Waits::not_at_all: return std::nullopt;
    case compat::control::Waits::briefly: return Waiting::calls;
    case compat::control::Waits::for_changes: return Waiting::changes;
    case compat::control::Waits::for_others: return Waiting::awaits;
    case compat::control::Waits::forever: break;
  }
  return Waiting::events;
}

}  // namespace

Expected<Admitted, Reply> Router::admit(Request& request, std::string& known_host) const {
  auto admitted = http::admit(request, access_, known_host);
  if (admitted) return *admitted;
  Reply reply = refused(request, admitted.error());
  log::answer(request, reply);
  return Unexpected{std::move(reply)};
}

std::optional<Waiting> Router::waits_as(const Request& request) const {
  switch (request.route.kind) {
    case Route::Kind::root: return operation_waits_as(request, emulator_);
    case Route::Kind::invocation: return Waiting::invocations;
    case Route::Kind::lambda: return Waiting::locks;
    case Route::Kind::mcp: return request.method == "POST" ? std::optional(Waiting::agents) : std::nullopt;
    case Route::Kind::health:
    case Route::Kind::control: return call_waits_as(request.route.found->call);
    case Route::Kind::console:
    case Route::Kind::nothing: break;
  }
  return std::nullopt;
}

Reply Router::answer(const Admitted& admitted, const std::stop_token& stop) const {
  std::optional<engine::Stopwatch> stopwatch;
  if (log::enabled(log::Level::debug)) stopwatch.emplace();
  Reply reply = answer_or_500(admitted, stop);
  // The checksum is computed here, because this code may run on the slow lane.
  if (body_goes_apart(reply)) reply.body_crc = crc32(reply.body);
  log::control(admitted.request(), reply);
  if (stopwatch) log::answer(admitted.request(), reply, stopwatch->elapsed());
  return reply;
}

// compat already turns its own failures into 500 responses. This function does the same for failures to
// decompress a request, to compress a response and to make a reply.
Reply Router::answer_or_500(const Admitted& admitted, const std::stop_token& stop) const {
  const auto fail = [](std::string_view why) {
    log::write(log::Level::error, "a request failed: " + std::string(why));
    return answered(compat::error_answer(compat::error::internal_server_error().error), amz_json);
  };
  return engine::attempt([&] { return route(admitted, emulator_, access_, stop); }, fail);
}

compat::ServerMetrics& Router::metrics() const { return emulator_.server_metrics(); }

}  // namespace mayfly::http
