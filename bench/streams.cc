// Measures a stream of a million records that eight threads write and one consumer follows through splits and
// a kill -9, compared with the same writes without a reader and without splits. Operations are called in
// process with JSON, and the database is in a directory.
//
//   bench_streams [records]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <unistd.h>

#include "bench/report.h"
#include "tests/support/stream_run.h"

namespace mayfly::bench {
namespace {

int run(int records) {
  std::string directory = (std::filesystem::temp_directory_path() / "mayfly-bench-XXXXXX").string();
  if (mkdtemp(directory.data()) == nullptr) return 1;
  testing::StreamRun run{.directory = directory + "/followed",
                         .writers = 8,
                         .writes = records / 8,
                         .items = 1000,
                         .first_shards = 2,
                         .reshards = 40,
                         .kill_after = records / 2,
                         .first_half = {"first half"}};
  const testing::StreamOutcome outcome = testing::run_stream(run);
  run.directory = directory + "/unread";
  const double alone = testing::write_alone(run);
  std::filesystem::remove_all(directory);

  Report report("a stream, in a directory", "records/s");
  report.row("written and followed, until the kill",
             static_cast<double>(outcome.seen_before_kill) / outcome.seconds_before_kill, records / alone);
  report.row("written and followed, after the kill",
             static_cast<double>(outcome.seen - outcome.seen_before_kill) / outcome.seconds_after_kill,
             records / alone);
  report.print();
  std::printf("%lld of %d records seen, %lld before the kill; %zu shards; reopened in %.0f ms\n",
              static_cast<long long>(outcome.seen), records / 8 * 8,
              static_cast<long long>(outcome.seen_before_kill), outcome.shards,
              outcome.seconds_to_open * 1000);
  std::printf("%s\n", outcome.wrong.empty() ? "each once and in order per item" : outcome.wrong.c_str());
  return outcome.wrong.empty() ? 0 : 1;
}

}  // namespace
}  // namespace mayfly::bench

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "1000000";
  if (first == "first half") mayfly::testing::play_first_half();
  return mayfly::bench::run(std::atoi(first.c_str()));
}
