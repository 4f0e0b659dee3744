// Batches that a mapping gave up, kept until a settle reports them.
//
//   GivenUpLog log;
//   const auto mark = log.reported();     // when a settle begins
//   log.add(given_up);                    // a lane gives a batch up meanwhile
//   const auto found = log.since(mark);   // when it ends: this batch
//   log.set_reported(found.end);          // the next settle does not see it again
//
// The log keeps the newest batches, at most `batches_max` of them and `bytes_max` bytes. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compat/triggers/lambda_event.h"
#include "engine/mutex.h"

namespace mayfly::compat::triggers {

// How a call of a function failed.
struct CallError {
  int status = 0;
  std::string error;          // what a destination is told: "Unhandled"; empty: the batch failed in part
  std::string type, message;  // errorType and errorMessage of the answer; each may be empty
};

// The batch that a lane is retrying.
struct Retrying {
  int attempts = 0;  // that failed
  std::size_t records = 0;
  CallError error;  // of the last
};

struct GivenUp {
  struct Record {
    std::string number;  // the sequence number as records spell it
    std::string event;   // INSERT, MODIFY, REMOVE
    std::string key;     // JSON: {"id":{"S":"1"}}
  };
  std::string function;     // its name
  std::string condition;    // RetryAttemptsExhausted, RecordAgeExceeded
  std::string destination;  // empty: there is none
  int attempts = 0;         // 0: the function was never called
  CallError error;          // of the last
  std::vector<Record> records;
  std::size_t left_out = 0;  // records that are not in `records`
};

inline constexpr std::size_t given_up_records_max = 10, given_up_record_bytes_max = 16 * 1024;

// The first records of a batch, as many as a GivenUp has, and how many others there are.
std::pair<std::vector<GivenUp::Record>, std::size_t> shown_records(std::span<const Record> batch);

class GivenUpLog {
 public:
  static constexpr std::size_t batches_max = 100, bytes_max = 64 * 1024;

  using Mark = std::uint64_t;
  struct Found {
    std::vector<GivenUp> batches;  // oldest first
    std::size_t left_out = 0;      // older batches that the log no longer has
    Mark end = 0;
  };

  void add(GivenUp batch);
  // Where the last settle that was answered ended.
  [[nodiscard]] Mark reported() const;
  [[nodiscard]] Found since(Mark mark) const;
  void set_reported(Mark end);
  // Batches until now are in no later answer.
  void forget();

 private:
  struct Kept {
    GivenUp batch;
    std::size_t bytes;
  };

  mutable engine::Mutex mutex_;
  std::deque<Kept> kept_ GUARDED_BY(mutex_);
  std::size_t bytes_ GUARDED_BY(mutex_) = 0;
  Mark added_ GUARDED_BY(mutex_) = 0;      // batches, ever
  Mark forgotten_ GUARDED_BY(mutex_) = 0;  // of these
  Mark reported_ GUARDED_BY(mutex_) = 0;
};

}  // namespace mayfly::compat::triggers
