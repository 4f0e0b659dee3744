// Whether RocksDB's write-ahead logs hold what was written to them, asked before a directory is opened.
//
// A process that is killed leaves a log that ends within a record, a power cut one with sectors that were
// never written: of such a tail nothing was acknowledged (with fsync), and it is cut off. Anything else that
// is not as it was written is damage to what was acknowledged. RocksDB's own modes do not tell the two apart:
// kPointInTimeRecovery, its default, opens silently what stands before the first damage,
// kTolerateCorruptedTailRecords takes a length that was changed for a torn tail, and kAbsoluteConsistency,
// which is right for logs that have passed here, refuses torn tails.
//
//   CHECK_OK(mend_write_ahead_logs(directory));
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/expected.h"

namespace mayfly::engine {

// A log that does not end where its last record does.
struct LogFlaw {
  std::string path;
  bool damaged;        // else torn
  std::size_t offset;  // of the record that is torn or damaged
};
// By the logs' numbers; nothing is changed. The error is a sentence for people.
Expected<std::vector<LogFlaw>, std::string> flawed_logs(const std::string& directory);
std::string sentence(const LogFlaw& flaw);  // "what … holds from byte 17 on is not what was written there"

// The error is a sentence for people; then nothing was changed.
// Requires: nobody else writes to the directory meanwhile.
Expected<void, std::string> mend_write_ahead_logs(const std::string& directory);

// Of one log's bytes. `is_last`: no later log has records.
struct LogCheck {
  enum class Result : std::uint8_t { whole, torn, damaged };
  Result result = Result::whole;
  std::size_t offset = 0;  // of the record that is torn, or of what is damaged
};
LogCheck check_log(std::string_view bytes, bool is_last);

}  // namespace mayfly::engine
