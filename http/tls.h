// TLS by OpenSSL: what a server shows, and whom the commands trust. Versions 1.2 and 1.3, with forward
// secrecy and authenticated encryption only.
//
//   auto tls = tls_of_server("cert.pem", "key.pem");
//   if (!tls) fail(tls.error());   // "cannot use the TLS key key.pem: it is not the certificate's"
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "engine/expected.h"

namespace mayfly::http {

using TlsContext = boost::asio::ssl::context;

// The certificate, with those that lead to its issuer behind it, and its key: PEM files, the key unencrypted.
Expected<std::shared_ptr<TlsContext>, std::string> tls_of_server(const std::string& cert_file,
                                                                 const std::string& key_file);
// Trusts the issuers in `ca_file`, or, if that is empty, the system's; SSL_CERT_FILE and SSL_CERT_DIR name
// others.
Expected<std::shared_ptr<TlsContext>, std::string> tls_of_client(const std::string& ca_file);

// Why a client could not be spoken to, a sentence for the log; empty: it left.
std::string handshake_failure(const boost::system::error_code& failure);

}  // namespace mayfly::http
