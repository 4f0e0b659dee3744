// MD5, by OpenSSL, of what comes in pieces: the checksums of exports, and S3's ETags. It protects nothing.
//
//   Md5 sum;
//   sum.add("message "), sum.add("digest");
//   engine::hex(sum.end()) == "f96b697d7cb7938d525a2f31aaf161d0"
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace mayfly::compat {

class Md5 {
 public:
  Md5();
  ~Md5();
  void add(std::string_view bytes);
  // 16 bytes, not printable. Requires: once, and nothing is added then.
  std::string end();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mayfly::compat
