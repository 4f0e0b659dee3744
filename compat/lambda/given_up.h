// Logs the batches that a mapping has given up, so that a settle call can report them.
//
//   GivenUpLog log;
//   const auto mark = log.reported();     // when a settle call begins
//   log.add(given_up);                    // a lane gives up a batch meanwhile
//   const auto found = log.since(mark);   // when the settle call ends: contains this batch
//   log.set_reported(found.end);          // the next settle call does not report the batch again
//
// The log keeps the newest batches: at most `batches_max` batches and `bytes_max` bytes. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compat/lambda/lambda_event.h"
#include "engine/base/mutex.h"

namespace mayfly::compat::triggers {

// How a function call failed.
struct CallError {
  int status = 0;
  std::string error;          // as sent to a destination: "Unhandled"; empty: only a part of the batch failed
  std::string type, message;  // errorType and errorMessage of the response; each can be empty
};

// The batch that a lane is retrying.
struct Retrying {
  int attempts = 0;  // failed attempts
  std::size_t records = 0;
  CallError error;  // error of the last attempt
};

struct GivenUp {
  struct Record {
    std::string number;  // the sequence number as text, as records show it
    std::string event;   // INSERT, MODIFY, REMOVE
    std::string key;     // JSON: {"id":{"S":"1"}}
  };
  std::string function;     // the function's name
  std::string condition;    // RetryAttemptsExhausted, RecordAgeExceeded
  std::string destination;  // empty: no destination
  int attempts = 0;         // 0: the function was never called
  CallError error;          // error of the last attempt
  std::vector<Record> records;
  std::size_t left_out = 0;  // records that are not in `records`
};

inline constexpr std::size_t given_up_records_max = 10, given_up_record_bytes_max = 16 * 1024;

// Returns the first records of a batch, as many as a GivenUp holds, and the number of the remaining ones.
std::pair<std::vector<GivenUp::Record>, std::size_t> shown_records(std::span<const Record> batch);

class GivenUpLog {
 public:
  static constexpr std::size_t batches_max = 100, bytes_max = 64 * 1024;

  using Mark = std::uint64_t;
  struct Found {
    std::vector<GivenUp> batches;  // oldest first
    std::size_t left_out = 0;      // older batches that the log has dropped
    Mark end = 0;
  };

  void add(GivenUp batch);
  // Returns the mark up to which settle calls have reported.
  [[nodiscard]] Mark reported() const;
  [[nodiscard]] Found since(Mark mark) const;
  void set_reported(Mark end);
  // Makes later settle calls skip all batches that have been added so far.
  void forget();

 private:
  struct Kept {
    GivenUp batch;
    std::size_t bytes;
  };

  mutable engine::Mutex mutex_;
  std::deque<Kept> kept_ GUARDED_BY(mutex_);
  std::size_t bytes_ GUARDED_BY(mutex_) = 0;
  Mark added_ GUARDED_BY(mutex_) = 0;      // batches added so far
  Mark forgotten_ GUARDED_BY(mutex_) = 0;  // how many of them the log has dropped
  Mark reported_ GUARDED_BY(mutex_) = 0;
};

}  // namespace mayfly::compat::triggers
