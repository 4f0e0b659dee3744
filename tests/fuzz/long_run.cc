#include "tests/fuzz/long_run.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <unistd.h>

#include "engine/base/byte_order.h"
#include "tests/fuzz/must.h"

namespace mayfly::testing {

LongRun& LongRun::get() {
  static LongRun run;
  return run;
}

LongRun::LongRun() {
  const char* const path = std::getenv("MAYFLY_FUZZ_SEQUENCE");
  if (path == nullptr) return;
  is_long_ = true;
  file_ = std::fopen(path, "wb");
  must(file_ != nullptr, "the file of inputs can be written", path);
}

void LongRun::begin_anew() {
  if (file_ == nullptr) return;
  std::rewind(file_);
  must(ftruncate(fileno(file_), 0) == 0, "the file of inputs can be written");
}

void LongRun::add(std::string_view input) {
  if (file_ == nullptr) return;
  std::string bytes;
  engine::append_little_endian(bytes, static_cast<std::uint32_t>(input.size()));
  bytes += input;
  std::fwrite(bytes.data(), 1, bytes.size(), file_);
  must(std::fflush(file_) == 0, "the file of inputs can be written");
}

std::vector<std::string_view> inputs_of_sequence(std::string_view bytes) {
  std::vector<std::string_view> inputs;
  while (bytes.size() >= sizeof(std::uint32_t)) {
    const auto size = engine::read_little_endian<std::uint32_t>(bytes);
    bytes.remove_prefix(sizeof(std::uint32_t));
    if (size > bytes.size()) break;
    inputs.push_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return inputs;
}

}  // namespace mayfly::testing
