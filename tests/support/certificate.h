// A self-signed certificate for this machine's own addresses, and its key, as PEM files.
//
//   Certificate certificate;
//   Running server({.tls_cert_file = certificate.cert, .tls_key_file = certificate.key});
//   http::fetch(url, request, {}, certificate.cert)
#pragma once

#include <string>

namespace mayfly::testing {

class Certificate {
 public:
  // `names` is a subjectAltName in OpenSSL's notation. The files are deleted with the object.
  explicit Certificate(const std::string& names = "DNS:localhost,IP:127.0.0.1,IP:::1");
  ~Certificate();
  Certificate(const Certificate&) = delete;
  Certificate& operator=(const Certificate&) = delete;

 private:
  const std::string directory_;

 public:
  const std::string cert = directory_ + "/cert.pem", key = directory_ + "/key.pem";
  const std::string encrypted_key = directory_ + "/encrypted.pem";
};

}  // namespace mayfly::testing
