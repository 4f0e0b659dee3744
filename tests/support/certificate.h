// A self-signed certificate for this machine's own addresses, and its key, as PEM files.
//
//   Certificate certificate;
//   Running server({.tls_cert_file = certificate.cert, .tls_key_file = certificate.key});
//   http::fetch(url, request, {}, certificate.cert)
#pragma once

#include <string>

#include "tests/support/temporary_directory.h"

namespace mayfly::testing {

class Certificate {
 public:
  // `names` is a subjectAltName in OpenSSL's notation. The files are deleted with the object.
  explicit Certificate(const std::string& names = "DNS:localhost,IP:127.0.0.1,IP:::1");

 private:
  const TemporaryDirectory directory_;

 public:
  const std::string cert = directory_.path() + "/cert.pem", key = directory_.path() + "/key.pem";
  const std::string encrypted_key = directory_.path() + "/encrypted.pem";
};

}  // namespace mayfly::testing
