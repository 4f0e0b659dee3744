// gzip and Zstandard, in pieces: what exports pack, and what imports unpack.
//
//   auto unpacker = Unpacker::of(Compression::gzip);
//   while (!input.empty() || unpacker->holds_more())
//     if (const auto step = unpacker->step(input, text); !step) return step.error();  // a sentence
//   CHECK_OK(unpacker->end());                                       // the file may end here
//
// A step adds at most step_bytes, whatever it is given: nobody's bytes unpack to more memory than that and
// the window: 32 KB, or for Zstandard up to 8 MB, which is what its levels up to 19 use. Several gzip members
// or frames in one file are one text. An empty file has an empty text.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "compat/data_files/record.h"
#include "engine/expected.h"

namespace mayfly::compat::data_files {

class Unpacker {
 public:
  static constexpr std::size_t step_bytes = 64 * 1024;

  static std::unique_ptr<Unpacker> of(Compression compression);
  virtual ~Unpacker() = default;
  // Takes from the front of `input` what it has read. Where that fails, `out` has what came before; of
  // Zstandard only what came in steps before this one, which is all that the library tells.
  virtual Expected<void, std::string> step(std::string_view& input, std::string& out) = 0;
  // There may be more to come without further input.
  [[nodiscard]] virtual bool holds_more() const = 0;
  // Whether the file may end here.
  [[nodiscard]] virtual Expected<void, std::string> end() const = 0;
};

// gzip, as exports are packed. The same text is always the same bytes.
class Gzip {
 public:
  Gzip();
  ~Gzip();
  void add(std::string_view text);
  void end();  // Requires: once, and nothing is added then.
  // What is packed so far, once.
  std::string take();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mayfly::compat::data_files
