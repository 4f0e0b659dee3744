#include "compat/wire/md5.h"

#include <array>
#include <new>
#include <openssl/evp.h>

namespace mayfly::compat {

struct Md5::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

// Fails only if memory runs out.
Md5::Md5() : state_(std::make_unique<State>()) {
  if (state_->context == nullptr || EVP_DigestInit_ex(state_->context, EVP_md5(), nullptr) != 1)
    throw std::bad_alloc();
}

Md5::~Md5() = default;

void Md5::add(std::string_view bytes) {
  if (EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) != 1) throw std::bad_alloc();
}

std::string Md5::end() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  if (EVP_DigestFinal_ex(state_->context, digest.data(), &size) != 1) throw std::bad_alloc();
  return {reinterpret_cast<const char*>(digest.data()), size};
}

}  // namespace mayfly::compat
