// Computes the MD5 of data that arrives in pieces, with OpenSSL: for the checksums of exports and S3's ETags.
// It is not a security measure.
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
  // The hash: 16 raw bytes. Requires: called once, and after the last add.
  std::string end();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mayfly::compat
