// Computes the MD5 checksum of data that arrives in pieces, with OpenSSL. Exports and S3's ETags contain such
// checksums, which are not a security measure.
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
  // Returns the checksum, 16 raw bytes. Requires: called once, after the last add().
  std::string end();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mayfly::compat
