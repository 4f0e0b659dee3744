// Receives the findings of a verification, one after the other, and counts what has been checked.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/storage/storage.h"
#include "engine/values/checked_counts.h"

namespace mayfly::engine {

// An error in storage.
struct Finding {
  std::string_view kind;          // category under which it is counted: "a missing index entry"
  std::string text;               // one line; may contain the raw bytes of keys
  Batch mend;                     // repairs this error, even if there are others; empty: no repair
  std::vector<std::string> keys;  // storage keys that a repair may move out if `mend` is empty
};

class Findings {
 public:
  using Found = std::function<void(Finding finding)>;
  using Progress = std::function<void(std::uint64_t keys)>;  // called now and then with the count so far

  explicit Findings(Found found, Progress progress = nullptr)
      : found_(std::move(found)), progress_(std::move(progress)) {}

  void add(Finding finding) { found_(std::move(finding)); }
  // Adds one checked key to `count`, which is a member of `checked`.
  void pass(std::uint64_t& count) {
    ++count;
    if (++keys_ % keys_between_progress == 0 && progress_) progress_(keys_);
  }

  Checked checked;

 private:
  static constexpr std::uint64_t keys_between_progress = 1024;

  const Found found_;
  const Progress progress_;
  std::uint64_t keys_ = 0;
};

}  // namespace mayfly::engine
