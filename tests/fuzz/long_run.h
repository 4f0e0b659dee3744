// A long run is a fuzzer's run of millions of inputs. All other runs have only a few inputs. State that
// outlives an input, such as the emulator, is checked less often in a long run, and the inputs are recorded.
//
// script/fuzz starts a long run by setting MAYFLY_FUZZ_SEQUENCE to the name of a file. The file contains the
// inputs since the state was last created. `kept_inputs TARGET FILE` runs them again in order, which
// reproduces failures that depend on earlier inputs. Each input is written before it runs, because a process
// that a sanitizer ends cannot write anything afterward.
//
//   (size:u32le input)*
#pragma once

#include <cstdio>
#include <string_view>
#include <vector>

namespace mayfly::testing {

class LongRun {
 public:
  // The run of this process, as the environment configures it.
  static LongRun& get();

  [[nodiscard]] bool is_long() const { return is_long_; }
  // Makes this run a long run that records no inputs, so that a recorded run can be replayed exactly.
  void be_long() { is_long_ = true; }

  void begin_anew();  // call when the state is new; forgets all recorded inputs
  void add(std::string_view input);

 private:
  LongRun();

  std::FILE* file_ = nullptr;
  bool is_long_ = false;
};

// Returns the inputs in the bytes of a recorded file. A truncated input at the end is ignored.
std::vector<std::string_view> inputs_of_sequence(std::string_view bytes);

}  // namespace mayfly::testing
