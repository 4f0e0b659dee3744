// Packs gzip for exports, and unpacks gzip and Zstandard for imports, piece by piece.
//
//   auto unpacker = Unpacker::of(Compression::gzip);
//   while (!input.empty() || unpacker->holds_more())
//     if (const auto step = unpacker->step(input, text); !step) return step.error();  // a sentence
//   CHECK_OK(unpacker->end());                                       // the file can end here
//
// A step adds at most step_bytes bytes, regardless of its input. Unpacking therefore takes no more memory
// than step_bytes plus the window: 32 KB for gzip, and up to 8 MB for Zstandard, which is enough for its
// levels up to 19. The contents of several gzip members or Zstandard frames in one file are concatenated. An
// empty file unpacks to nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "compat/data_files/record.h"
#include "engine/base/expected.h"

namespace mayfly::compat::data_files {

class Unpacker {
 public:
  static constexpr std::size_t step_bytes = 64 * 1024;

  static std::unique_ptr<Unpacker> of(Compression compression);
  virtual ~Unpacker() = default;
  // Removes the bytes that it reads from the front of `input`. On failure, `out` has the text before the
  // error or, with Zstandard, only the text from earlier steps, because the library does not report more.
  virtual Expected<void, std::string> step(std::string_view& input, std::string& out) = 0;
  // Whether step() may produce more text without further input.
  [[nodiscard]] virtual bool holds_more() const = 0;
  // Returns an error if the file cannot end here.
  [[nodiscard]] virtual Expected<void, std::string> end() const = 0;
};

// Packs gzip for exports. Deterministic: the same input always produces the same bytes.
class Gzip {
 public:
  Gzip();
  ~Gzip();
  void add(std::string_view text);
  void end();  // Requires: called once; nothing is added afterwards.
  // Returns and removes the bytes that are packed so far.
  std::string take();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mayfly::compat::data_files
