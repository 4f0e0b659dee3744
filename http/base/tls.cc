#include "http/base/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <utility>

namespace mayfly::http {

namespace {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;

bool is(const ErrorCode& failure, int library, int reason) {
  return failure.category() == asio::error::get_ssl_category() &&
         static_cast<unsigned>(failure.value()) == ERR_PACK(library, 0, reason);
}

// "key values mismatch (x509 certificate routines)" -> "key values mismatch"
std::string words_of(const ErrorCode& failure) {
  const std::string text = failure.message();
  return text.substr(0, text.find(" ("));
}

Expected<std::shared_ptr<TlsContext>, std::string> new_context(TlsContext::method method) {
  auto context = std::make_shared<TlsContext>(method);
  SSL_CTX* const native = context->native_handle();
  // For TLS 1.2, allows only the cipher suites that browsers still offer. TLS 1.3 has only such suites.
  if (SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION) != 1 ||
      SSL_CTX_set_cipher_list(native, "ECDHE+AESGCM:ECDHE+CHACHA20") != 1)
    return Unexpected{std::string("cannot set up TLS")};
  SSL_CTX_set_options(native, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  return context;
}

}  // namespace

Expected<std::shared_ptr<TlsContext>, std::string> tls_of_server(const std::string& cert_file,
                                                                 const std::string& key_file) {
  if (cert_file.empty() || key_file.empty()) {
    return Unexpected{std::string("TLS needs a certificate and its key, but there is no ") +
                      (cert_file.empty() ? "certificate (--tls-cert)" : "key (--tls-key)")};
  }
  TRY(const auto context, new_context(TlsContext::tls_server));
  SSL_CTX_set_options(context->native_handle(), SSL_OP_CIPHER_SERVER_PREFERENCE);
  ErrorCode failure;
  context->use_certificate_chain_file(cert_file, failure);
  if (failure) return Unexpected{"cannot use the TLS certificate " + cert_file + ": " + words_of(failure)};

  const auto fail = [&](const std::string& why) {
    return Unexpected{"cannot use the TLS key " + key_file + ": " + why};
  };
  // Without a callback, OpenSSL would ask for the password on the terminal.
  bool encrypted = false;
  context->set_password_callback([&encrypted](std::size_t, TlsContext::password_purpose) {
    encrypted = true;
    return std::string();
  });
  context->use_private_key_file(key_file, TlsContext::pem, failure);
  if (encrypted) return fail("it is encrypted");
  if (is(failure, ERR_LIB_X509, X509_R_KEY_VALUES_MISMATCH)) return fail("it does not match the certificate");
  if (failure) return fail(words_of(failure));
  return context;
}

Expected<std::shared_ptr<TlsContext>, std::string> tls_of_client(const std::string& ca_file) {
  TRY(auto context, new_context(TlsContext::tls_client));
  ErrorCode failure;
  if (ca_file.empty()) {
    context->set_default_verify_paths(failure);
  } else {
    context->load_verify_file(ca_file, failure);
  }
  if (failure) return Unexpected{"cannot use the certificates in " + ca_file + ": " + words_of(failure)};
  context->set_verify_mode(asio::ssl::verify_peer);
  return context;
}

std::string handshake_failure(const ErrorCode& failure) {
  if (failure.category() != asio::error::get_ssl_category()) return {};
  if (is(failure, ERR_LIB_SSL, SSL_R_HTTP_REQUEST))
    return "closed a connection whose client used plain HTTP instead of TLS; the client's URL must begin "
           "with https://";
  return "a client's TLS handshake failed: " + words_of(failure);
}

}  // namespace mayfly::http
