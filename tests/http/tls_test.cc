// Tests a server with TLS: which files it accepts, how it responds, and when it closes connections.
#include "http/base/tls.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <openssl/ssl.h>
#include <thread>

#include "http/outbound/client.h"
#include "tests/support/certificate.h"
#include "tests/support/running.h"

namespace mayfly::testing {

using compat::outbound::Url;
using http::ClientRequest;
using Json = nlohmann::json;

namespace {

http::ServerSettings over_tls(const Certificate& certificate) {
  http::ServerSettings settings;
  settings.tls_cert_file = certificate.cert;
  settings.tls_key_file = certificate.key;
  return settings;
}

Url url_of(const Running& running, const std::string& host = "127.0.0.1") {
  return *Url::parse("https://" + host + ":" + std::to_string(running.port()),
                     compat::outbound::Schemes::http_and_https);
}

std::string tls_problem(const std::string& cert, const std::string& key) {
  const auto tls = http::tls_of_server(cert, key);
  REQUIRE_FALSE(tls);
  return tls.error();
}

ClientRequest list_tables() {
  return {.method = "POST",
          .path = "/",
          .content_type = "application/x-amz-json-1.0",
          .headers =
              {{"X-Amz-Target", "DynamoDB_20120810.ListTables"},
               {"X-Amz-Date", "20240101T000000Z"},
               {"Authorization",
                "AWS4-HMAC-SHA256 Credential=A/20240101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, "
                "Signature=0"}},
          .body = "{}"};
}

// Performs a handshake with OpenSSL, using TLS versions from `least` to `most`. Returns "refused" or the
// negotiated version.
std::string handshake(std::uint16_t port, int least, int most, const char* ciphers = nullptr) {
  const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free);
  SSL_CTX_set_security_level(context.get(), 0);
  SSL_CTX_set_min_proto_version(context.get(), least);
  SSL_CTX_set_max_proto_version(context.get(), most);
  if (ciphers != nullptr) REQUIRE(SSL_CTX_set_cipher_list(context.get(), ciphers) == 1);
  BIO* const connection = BIO_new_ssl_connect(context.get());
  const std::unique_ptr<BIO, void (*)(BIO*)> owner(connection, &BIO_free_all);
  BIO_set_conn_hostname(connection, ("127.0.0.1:" + std::to_string(port)).c_str());
  if (BIO_do_handshake(connection) != 1) return "refused";
  SSL* ssl = nullptr;
  BIO_get_ssl(connection, &ssl);
  return SSL_get_version(ssl);
}

}  // namespace

TEST_CASE("a server with a certificate serves HTTPS and has an https URL") {
  const Certificate certificate;
  Running running(over_tls(certificate));
  CHECK(running.server->url() == "https://127.0.0.1:" + std::to_string(running.port()));
  for (const std::string host : {"127.0.0.1", "localhost"}) {
    const auto answer = http::fetch(url_of(running, host), list_tables(), {}, certificate.cert);
    INFO((answer ? "" : answer.error()));
    REQUIRE(answer);
    CHECK(answer->status == 200);
    CHECK(answer->body == R"({"TableNames":[]})");
  }
}

TEST_CASE("https URLs need a caller that supports TLS and default to port 443") {
  const auto url = Url::parse("https://localhost/x", compat::outbound::Schemes::http_and_https);
  REQUIRE(url);
  CHECK(url->tls);
  CHECK(url->port == 443);
  CHECK(url->host == "localhost");
  CHECK(url->target == "/x");
  CHECK_FALSE(Url::parse("http://localhost", compat::outbound::Schemes::http_and_https)->tls);
  CHECK(Url::parse("https://localhost").error() ==
        "'https://localhost' is not a valid URL: only http:// is supported");
}

TEST_CASE("large bodies pass over TLS in both directions") {
  const Certificate certificate;
  Running running(over_tls(certificate));
  ClientRequest put = list_tables();
  const auto operate = [&](const std::string& operation, const std::string& body) {
    put.headers[0].second = "DynamoDB_20120810." + operation;
    put.body = body;
    const auto answer = http::fetch(url_of(running), put, {}, certificate.cert);
    REQUIRE(answer);
    INFO(answer->body.substr(0, 300));
    CHECK(answer->status == 200);
    return answer->body;
  };
  operate("CreateTable",
          R"({"TableName":"carts","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],)"
          R"("KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"})");
  for (const char* id : {"a", "b"}) {
    operate("PutItem", R"({"TableName":"carts","Item":{"id":{"S":")" + std::string(id) +
                           R"("},"text":{"S":")" + std::string(390'000, id[0]) + R"("}}})");
  }
  CHECK(Json::parse(operate("Scan", R"({"TableName":"carts"})"))["Count"] == 2);
}

TEST_CASE("a client verifies the issuer and the server's name in the certificate") {
  const Certificate certificate, elsewhere("DNS:elsewhere.example");
  Running running(over_tls(certificate)), other(over_tls(elsewhere));
  const auto told = [](const Running& server, const std::string& ca_file) {
    std::string sentence = http::fetch(url_of(server), list_tables(), {}, ca_file).error();
    return sentence.substr(sentence.find(": ") + 2);
  };
  CHECK(told(running, "") == "self-signed certificate");
  CHECK(told(running, elsewhere.cert) == "self-signed certificate");
  CHECK(told(other, elsewhere.cert) == "IP address mismatch");
  CHECK(http::fetch(url_of(running), list_tables(), {}, "/nowhere.pem").error() ==
        "cannot use the certificates in /nowhere.pem: No such file or directory");
}

TEST_CASE("an invalid certificate or key file is reported clearly") {
  const Certificate certificate, other;
  CHECK(http::tls_of_server(certificate.cert, certificate.key));
  CHECK(tls_problem("", certificate.key) ==
        "TLS needs a certificate and its key, but there is no certificate (--tls-cert)");
  CHECK(tls_problem(certificate.cert, "") ==
        "TLS needs a certificate and its key, but there is no key (--tls-key)");
  CHECK(tls_problem("/nowhere", certificate.key) ==
        "cannot use the TLS certificate /nowhere: No such file or directory");
  CHECK(tls_problem(certificate.cert, "/nowhere") ==
        "cannot use the TLS key /nowhere: No such file or directory");
  CHECK(tls_problem(certificate.cert, other.key) ==
        "cannot use the TLS key " + other.key + ": it does not match the certificate");
  CHECK(tls_problem(certificate.cert, certificate.encrypted_key) ==
        "cannot use the TLS key " + certificate.encrypted_key + ": it is encrypted");
  CHECK(tls_problem(certificate.key, certificate.key) ==
        "cannot use the TLS certificate " + certificate.key + ": no start line");
  CHECK(tls_problem(certificate.cert, certificate.cert)
            .starts_with("cannot use the TLS key " + certificate.cert));
}

TEST_CASE("only TLS 1.2 and 1.3 with forward secrecy are supported") {
  const Certificate certificate;
  Running running(over_tls(certificate));
  CHECK(handshake(running.port(), TLS1_3_VERSION, TLS1_3_VERSION) == "TLSv1.3");
  CHECK(handshake(running.port(), TLS1_2_VERSION, TLS1_2_VERSION) == "TLSv1.2");
  CHECK(handshake(running.port(), TLS1_VERSION, TLS1_1_VERSION) == "refused");
  CHECK(handshake(running.port(), TLS1_2_VERSION, TLS1_2_VERSION, "ECDHE-ECDSA-AES128-SHA256") == "refused");
}

TEST_CASE("a TLS server closes connections that send plain HTTP or nothing") {
  const Certificate certificate;
  http::ServerSettings settings = over_tls(certificate);
  settings.stalled_max = std::chrono::milliseconds(300);
  settings.idle_max = std::chrono::hours(1);
  settings.tick = std::chrono::milliseconds(20);
  Running running(settings);
  HttpClient plain(running.port());
  plain.send(http_request("GET", "/"));
  CHECK(plain.closed_by_server());
  // A handshake has the same time limit as a stalled request, even if its bytes trickle in.
  HttpClient silent(running.port()), half(running.port());
  half.send(std::string("\x16\x03\x01\x01\x00\x01", 6));
  CHECK(silent.closed_by_server());
  CHECK(half.closed_by_server());
  // Single bytes do not count as progress; at this rate the handshake would take 80 seconds.
  HttpClient slow(running.port());
  std::atomic<bool> closed = false;
  std::thread sender([&] {
    slow.send(std::string("\x16\x03\x01\x40\x00\x01", 6));
    for (int sent = 0; sent < 16'000 && !closed; ++sent) {
      slow.send(std::string_view("\0", 1));
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  const bool ended = slow.closed_by_server();
  closed = true;
  sender.join();
  CHECK(ended);
}

TEST_CASE("access rules are the same over TLS except that the server's own origin is https") {
  const Certificate certificate;
  Running running(over_tls(certificate));
  const auto status = [&](std::vector<std::pair<std::string, std::string>> headers,
                          const std::string& path = "/") {
    const auto answer =
        http::fetch(url_of(running), {.method = "GET", .path = path, .headers = std::move(headers)}, {},
                    certificate.cert);
    REQUIRE(answer);
    return answer->status;
  };
  const std::string authority = "127.0.0.1:" + std::to_string(running.port());
  CHECK(status({}) == 200);
  CHECK(status({{"Origin", "https://" + authority}}) == 200);
  CHECK(status({{"Origin", "http://" + authority}}) == 403);
  CHECK(status({{"Origin", "https://evil.example"}}) == 403);
  CHECK(status({{"Sec-Fetch-Site", "cross-site"}}, "/_mayfly/clock") == 403);
  Running unsecured;
  CHECK(unsecured.ask(http_request("GET", "/", {{"Origin", "https://127.0.0.1"}})).status == 403);
}

TEST_CASE("events arrive over TLS as they happen and a client that disconnects frees its slot") {
  const Certificate certificate;
  http::ServerSettings settings = over_tls(certificate);
  settings.waiting_max = 1;
  Running running(settings);
  for (int i = 0; i < 3; ++i) {
    std::string pieces;
    const auto first = [&](std::string_view piece) {
      pieces += piece;
      return false;
    };
    // The only slot is free again once the previous client has disconnected.
    for (pieces.clear(); pieces.empty();) {
      const auto answer =
          http::fetch(url_of(running), {.method = "GET", .path = "/_mayfly/events"}, first, certificate.cert);
      REQUIRE(answer);
    }
    CHECK(pieces.find("\n") != std::string::npos);
  }
}

}  // namespace mayfly::testing
