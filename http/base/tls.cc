#include "http/base/tls.h"

#include <cstdlib>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <utility>

#include "os/reason.h"
#include "os/trust.h"

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
  const std::string text = os::reason(failure);
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

Expected<void, std::string> trust_file(TlsContext& context, const std::string& file) {
  ErrorCode failure;
  context.load_verify_file(file, failure);
  if (failure) return Unexpected{"cannot use the certificates in " + file + ": " + words_of(failure)};
  return {};
}

// Ignores a certificate that OpenSSL cannot read, because a system's store can have some.
void trust(X509_STORE* store, const std::string& der) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  if (X509* const certificate = d2i_X509(nullptr, &bytes, static_cast<long>(der.size()))) {
    X509_STORE_add_cert(store, certificate);
    X509_free(certificate);
  }
  ERR_clear_error();
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
  if (!ca_file.empty()) {
    CHECK_OK(trust_file(*context, ca_file));
  } else if (std::getenv("SSL_CERT_FILE") != nullptr || std::getenv("SSL_CERT_DIR") != nullptr) {
    ErrorCode failure;
    context->set_default_verify_paths(failure);
    if (failure) return Unexpected{"cannot use SSL_CERT_FILE or SSL_CERT_DIR: " + words_of(failure)};
  } else {
    const os::TrustedIssuers issuers = os::trusted_issuers();
    if (!issuers.file.empty()) CHECK_OK(trust_file(*context, issuers.file));
    X509_STORE* const store = SSL_CTX_get_cert_store(context->native_handle());
    for (const std::string& der : issuers.certificates) trust(store, der);
  }
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
