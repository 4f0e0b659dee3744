// What a function is sent: {"Records":[…]}, and what a destination is sent of a batch that failed.
//
//   Record record = make_record(stream, change, arrived);
//   post(event_body({&record, 1}));
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/change_log.h"
#include "engine/clock.h"
#include "engine/table.h"

namespace mayfly::compat::triggers {

// One record of a stream, as Lambda shows it (compat/streams/record.h), with eventSourceARN.
struct Record {
  engine::Sequence sequence = 0;
  std::string number;  // as the record spells it
  engine::Instant created = 0;
  engine::Instant arrived = 0;  // in the stream's time: what its age is counted from
  std::string json;
};
Record make_record(const engine::Stream& stream, const engine::ChangeRecord& change,
                   engine::Instant stream_now);

// A tumbling window that is open.
struct Window {
  engine::Instant start = 0;
  std::string state = "{}";  // JSON: what the function returned last
  friend bool operator==(const Window&, const Window&) = default;
};

struct WindowEvent {
  const Window& window;
  engine::Instant end;
  bool final;             // the last call of this window
  bool terminated_early;  // because its state is too large
};

// `window` of a mapping with tumbling windows, whose events say more.
std::string event_body(std::span<const Record> records, const engine::Stream& stream,
                       std::string_view shard_id, const std::optional<WindowEvent>& window = std::nullopt);

struct FailedBatch {
  std::string_view request_id;
  std::string_view function_arn;
  std::string_view condition;  // RetryAttemptsExhausted, RecordAgeExceeded
  int invocations;             // of the function, with these records
  int status;                  // of the last; 0: it was never called
  std::string_view executed_version;
  std::string_view function_error;  // empty: none
  engine::Instant now;
  std::string_view shard_id;
  std::string_view stream_arn;
  std::span<const Record> records;
  bool with_records;  // the event itself: of what is sent to buckets
};
std::string failure_body(const FailedBatch& batch);

}  // namespace mayfly::compat::triggers
