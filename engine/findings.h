// What a verification finds wrong, one thing after the other, and how much it has looked at.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/checked_counts.h"
#include "engine/storage.h"

namespace mayfly::engine {

// One thing that is wrong.
struct Finding {
  std::string_view kind;          // what such things are counted as: "a missing index entry"
  std::string text;               // one line; of keys it has the bytes as they are
  Batch mend;                     // puts it right, whatever else is wrong; empty: nothing can
  std::vector<std::string> keys;  // in storage, of what cannot be mended: it may be moved out of the way
};

class Findings {
 public:
  using Found = std::function<void(Finding finding)>;
  using Progress = std::function<void(std::uint64_t keys)>;  // so many were looked at, now and then

  explicit Findings(Found found, Progress progress = nullptr)
      : found_(std::move(found)), progress_(std::move(progress)) {}

  void add(Finding finding) { found_(std::move(finding)); }
  // One more of what is counted there was looked at.
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
