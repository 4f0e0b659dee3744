#include "http/base/sha256.h"

#include <array>
#include <new>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace mayfly::http {

namespace {

using Digest = std::array<unsigned char, EVP_MAX_MD_SIZE>;

std::string text_of(const Digest& digest, unsigned size) {
  return {reinterpret_cast<const char*>(digest.data()), size};
}

}  // namespace

std::string sha256(std::string_view bytes) {
  Digest digest;
  unsigned size = 0;
  // EVP_Digest fails only if memory runs out.
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1)
    throw std::bad_alloc();
  return text_of(digest, size);
}

std::string hmac_sha256(std::string_view key, std::string_view bytes) {
  Digest digest;
  unsigned size = 0;
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data(),
           &size) == nullptr)
    throw std::bad_alloc();
  return text_of(digest, size);
}

struct Sha256::State {
  EVP_MD_CTX* const context = EVP_MD_CTX_new();
  State() {
    if (context == nullptr || EVP_DigestInit_ex(context, EVP_sha256(), nullptr) != 1) throw std::bad_alloc();
  }
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;

void Sha256::add(std::string_view bytes) {
  if (EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) != 1) throw std::bad_alloc();
}

std::string Sha256::end() {
  Digest digest;
  unsigned size = 0;
  if (EVP_DigestFinal_ex(state_->context, digest.data(), &size) != 1) throw std::bad_alloc();
  return text_of(digest, size);
}

bool equal_secrets(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace mayfly::http
