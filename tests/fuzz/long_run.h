// A fuzzer's run of millions of inputs, beside the run of one: what lasts longer than an input looks over
// less after each, and keeps what came before.
//
// script/fuzz says by the environment that a run is long: MAYFLY_FUZZ_SEQUENCE names a file, in which the
// inputs stand that came since what lasts was begun anew. `kept_inputs TARGET FILE` runs them again, one
// after the other; so what breaks only after others breaks again. It is written as they come, since who is
// ended by a sanitizer writes nothing any more.
//
//   (size:u32le input)*
#pragma once

#include <cstdio>
#include <string_view>
#include <vector>

namespace mayfly::testing {

class LongRun {
 public:
  // As the environment says.
  static LongRun& get();

  [[nodiscard]] bool is_long() const { return is_long_; }
  // Also without a file: what is run again from one must go as it went.
  void be_long() { is_long_ = true; }

  void begin_anew();  // none of the inputs before matters any more
  void add(std::string_view input);

 private:
  LongRun();

  std::FILE* file_ = nullptr;
  bool is_long_ = false;
};

// What such a file holds, as far as it is whole.
std::vector<std::string_view> inputs_of_sequence(std::string_view bytes);

}  // namespace mayfly::testing
