// Builds the events that functions receive, {"Records":[…]}, and the messages about failed batches that
// destinations receive.
//
//   Record record = make_record(stream, change, arrived);
//   post(event_body({&record, 1}));
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/clock.h"
#include "engine/schema/table.h"
#include "engine/tables/change_log.h"

namespace mayfly::compat::triggers {

// A stream record in the form that Lambda sends (compat/streams/record.h), including eventSourceARN.
struct Record {
  engine::Sequence sequence = 0;
  std::string number;  // the sequence number as text, as the record shows it
  engine::Instant created = 0;
  engine::Instant arrived = 0;  // in the stream's time; the record's age is measured from this time
  std::string json;
};
Record make_record(const engine::Stream& stream, const engine::ChangeRecord& change,
                   engine::Instant stream_now);

// An open tumbling window.
struct Window {
  engine::Instant start = 0;
  std::string state = "{}";  // JSON that the function's last call returned
  friend bool operator==(const Window&, const Window&) = default;
};

struct WindowEvent {
  const Window& window;
  engine::Instant end;
  bool final;             // the last call for this window
  bool terminated_early;  // the window ends early because its state is too large
};

// `window` is set for a mapping with tumbling windows, whose events have additional members.
std::string event_body(std::span<const Record> records, const engine::Stream& stream,
                       std::string_view shard_id, const std::optional<WindowEvent>& window = std::nullopt);

struct FailedBatch {
  std::string_view request_id;
  std::string_view function_arn;
  std::string_view condition;  // RetryAttemptsExhausted, RecordAgeExceeded
  int invocations;             // number of calls to the function with these records
  int status;                  // status of the last call; 0: the function was never called
  std::string_view executed_version;
  std::string_view function_error;  // empty: no error
  engine::Instant now;
  std::string_view shard_id;
  std::string_view stream_arn;
  std::span<const Record> records;
  bool with_records;  // whether to include the event itself, as for buckets
};
std::string failure_body(const FailedBatch& batch);

}  // namespace mayfly::compat::triggers
