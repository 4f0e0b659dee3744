// Checks that RocksDB's write-ahead logs contain what was written to them, before a directory is opened.
//
// A killed process leaves a log that ends within a record. A power cut leaves sectors that were never
// written. With fsync, nothing in such a torn tail was acknowledged, so the tail is cut off. Any other
// deviation from what was written is damage to acknowledged data. RocksDB's own modes do not distinguish torn
// tails from damage:
// - kPointInTimeRecovery, the default, silently opens the part before the first damage.
// - kTolerateCorruptedTailRecords mistakes a changed length for a torn tail.
// - kAbsoluteConsistency, which suits logs that have passed this check, rejects torn tails.
//
//   CHECK_OK(mend_write_ahead_logs(directory));
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/expected.h"

namespace mayfly::engine {

// A log that is torn or damaged.
struct LogFlaw {
  std::string path;
  bool damaged;        // false: torn
  std::size_t offset;  // byte offset of the torn or damaged record
};
// Returns the flawed logs, ordered by log number. Changes nothing. The error is a human-readable sentence.
Expected<std::vector<LogFlaw>, std::string> flawed_logs(const std::string& directory);
std::string sentence(const LogFlaw& flaw);  // "the log … is damaged at byte 17"

// Cuts off torn tails. If a log is damaged, returns a human-readable sentence as the error and changes
// nothing.
// Requires: nothing else writes to the directory at the same time.
Expected<void, std::string> mend_write_ahead_logs(const std::string& directory);

// Checks the bytes of one log. `is_last` means that no later log has records.
struct LogCheck {
  enum class Result : std::uint8_t { whole, torn, damaged };
  Result result = Result::whole;
  std::size_t offset = 0;  // byte offset of the torn record or of the damage
};
LogCheck check_log(std::string_view bytes, bool is_last);

}  // namespace mayfly::engine
