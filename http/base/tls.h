// TLS by OpenSSL: the certificate of a server, and the issuers that the commands trust. Versions 1.2 and 1.3,
// with forward secrecy and authenticated encryption only.
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

// Loads the certificate, followed by its chain, and its key: PEM files, the key unencrypted.
Expected<std::shared_ptr<TlsContext>, std::string> tls_of_server(const std::string& cert_file,
                                                                 const std::string& key_file);
// Trusts the issuers in `ca_file`, or the system's if that is empty; SSL_CERT_FILE and SSL_CERT_DIR override
// those.
Expected<std::shared_ptr<TlsContext>, std::string> tls_of_client(const std::string& ca_file);

// Why a handshake with a client failed, a sentence for the log; empty: the client disconnected.
std::string handshake_failure(const boost::system::error_code& failure);

}  // namespace mayfly::http
