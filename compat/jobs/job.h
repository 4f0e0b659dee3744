// Describes an export, an import or a bulk put: its request, its progress, and how it ended.
//
//   job.id       "01791506763707-476754e8": its start in ms, and an unguessable part
//   job.counts   {"ProcessedItemCount": 10, "ImportedItemCount": 9, "ErrorCount": 1}, by AWS's names
//   job.request  the request's members that descriptions of the job show, as JSON; opaque to other code
//
// A job is stored as a document of its account's state (engine/storage/documents.h). A snapshot therefore
// contains the account's jobs, a restore brings them back, and a reset removes them. Jobs refer to tables,
// tokens and instants of the account, which are also account state. A restore or a reset does not remove the
// objects that a job has put into a bucket.
//
//   "@job" / "REGION/import/01791506763707-476754e8"
//   {"table":…,"table_uuid":…,"arn":…,"status":"IN_PROGRESS","started":1791506763707,"counts":{…},…}
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/clock.h"
#include "engine/storage/documents.h"
#include "engine/tables/catalog.h"

namespace mayfly::compat::jobs {

enum class Kind : std::uint8_t { table_export, table_import, bulk_put };
std::string_view name_of(Kind kind);  // "export", "import", "bulk-put"

enum class Status : std::uint8_t {
  in_progress,  // running, or waiting for its turn
  completed,
  completed_with_errors,
  cancelling,
  cancelled,
  failed,
};
std::string_view name_of(Status status);  // AWS's: "IN_PROGRESS"
constexpr bool is_over(Status status) {
  return status != Status::in_progress && status != Status::cancelling;
}

using Counts = std::map<std::string, std::int64_t, std::less<>>;

// The progress of a job. `done` and `total` have the same unit, which depends on the kind; a total of 0 means
// not known yet.
struct Progress {
  std::uint64_t done = 0, total = 0;
  Counts counts;
  friend bool operator==(const Progress&, const Progress&) = default;
};

// How a job ended.
struct Ending {
  Status status = Status::completed;
  std::string failure_code{}, failure_message{};  // AWS's FailureCode: "S3NoSuchBucket"
};

struct Job {
  engine::Scope scope;
  Kind kind = Kind::table_export;
  std::string id;
  std::string arn;
  // Set by the code for the job's kind. An import sets them before its table exists.
  std::string table_name, table_uuid;
  std::string client_token;  // empty: no token
  std::string request;
  engine::Instant started = 0;  // by the account's clock, like `ended`
  std::optional<engine::Instant> ended;
  Ending ending{.status = Status::in_progress};  // its `status` is also set while the job runs
  Progress progress;

  [[nodiscard]] Status status() const { return ending.status; }
  [[nodiscard]] bool over() const { return is_over(ending.status); }
  [[nodiscard]] std::int64_t count(std::string_view name) const;  // 0 if nothing was counted
  // 0 to 100, rounded down; 100 only when the job is over.
  [[nodiscard]] int percent() const;
};

inline constexpr std::string_view document_kind = "@job";
engine::DocumentName document_name(const Job& job);
engine::Document to_document(const Job& job);
// Returns nullopt if the document is not a job's.
std::optional<Job> from_document(const engine::Document& document);

}  // namespace mayfly::compat::jobs
