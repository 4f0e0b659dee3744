// TLS by OpenSSL: the certificate of a server, and the issuers that the commands trust. Only versions 1.2 and
// 1.3 are allowed, and only with forward secrecy and authenticated encryption.
//
//   auto tls = tls_of_server("cert.pem", "key.pem");
//   if (!tls) fail(tls.error());   // "cannot use the TLS key key.pem: it does not match the certificate"
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "engine/base/expected.h"

namespace mayfly::http {

using TlsContext = boost::asio::ssl::context;

// Loads the certificate, followed by its chain, and its key from PEM files. The key must not be encrypted.
Expected<std::shared_ptr<TlsContext>, std::string> tls_of_server(const std::string& cert_file,
                                                                 const std::string& key_file);
// Trusts the issuers in `ca_file`, or the system's issuers (os/trust.h) if `ca_file` is empty. SSL_CERT_FILE
// and SSL_CERT_DIR override the system's issuers, as in other programs that use OpenSSL.
Expected<std::shared_ptr<TlsContext>, std::string> tls_of_client(const std::string& ca_file);

// Returns a log sentence that says why a handshake with a client failed. Returns an empty string if the
// client disconnected.
std::string handshake_failure(const boost::system::error_code& failure);

}  // namespace mayfly::http
