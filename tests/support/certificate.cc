#include "tests/support/certificate.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <memory>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace mayfly::testing {

namespace {

template <class Write>
void write_file(const std::string& path, Write write) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "w"), &std::fclose);
  REQUIRE(file);
  REQUIRE(write(file.get()) == 1);
}

}  // namespace

Certificate::Certificate(const std::string& names) {
  const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> pair(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  const std::unique_ptr<X509, void (*)(X509*)> made(X509_new(), &X509_free);
  X509_set_version(made.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -60);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), 3600);
  X509_set_pubkey(made.get(), pair.get());
  X509_NAME* const subject = X509_get_subject_name(made.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("mayfly's tests"), -1, -1, 0);
  X509_set_issuer_name(made.get(), subject);
  const std::unique_ptr<X509_EXTENSION, void (*)(X509_EXTENSION*)> extension(
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str()), &X509_EXTENSION_free);
  REQUIRE(extension);
  X509_add_ext(made.get(), extension.get(), -1);
  REQUIRE(X509_sign(made.get(), pair.get(), EVP_sha256()) > 0);

  write_file(cert, [&](std::FILE* file) { return PEM_write_X509(file, made.get()); });
  write_file(key, [&](std::FILE* file) {
    return PEM_write_PrivateKey(file, pair.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
  write_file(encrypted_key, [&](std::FILE* file) {
    return PEM_write_PrivateKey(file, pair.get(), EVP_aes_128_cbc(),
                                reinterpret_cast<const unsigned char*>("word"), 4, nullptr, nullptr);
  });
}

}  // namespace mayfly::testing
