// An export, an import or a bulk put, as it is described: what was asked for, how far it is, how it ended.
//
//   job.id       "01791506763707-476754e8": when it began, in ms, and what nobody can guess
//   job.counts   {"ProcessedItemCount": 10, "ImportedItemCount": 9, "ErrorCount": 1}, by AWS's names
//   job.request  what its kind answers of the request, as JSON: nobody else reads it
//
// A job is stored as a document of its account's state (engine/documents.h), so that a snapshot has the jobs
// that there were, a restore brings those back, and a reset drops them: they name tables, tokens and instants
// of an account, which all are the account's state. What a job put into a bucket stays there.
//
//   "@job" / "REGION/import/01791506763707-476754e8"
//   {"table":…,"table_uuid":…,"arn":…,"status":"IN_PROGRESS","started":1791506763707,"counts":{…},…}
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/catalog.h"
#include "engine/clock.h"
#include "engine/documents.h"

namespace mayfly::compat::jobs {

enum class Kind : std::uint8_t { table_export, table_import, bulk_put };
std::string_view name_of(Kind kind);  // "export", "import", "bulk-put"

enum class Status : std::uint8_t {
  in_progress,  // or it waits for its turn
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

// How far it is. `done` of `total` are of one unit, whichever its kind counts by; total 0: not known yet.
struct Progress {
  std::uint64_t done = 0, total = 0;
  Counts counts;
  friend bool operator==(const Progress&, const Progress&) = default;
};

// How it ended.
struct Ending {
  Status status = Status::completed;
  std::string failure_code{}, failure_message{};  // AWS's FailureCode: "S3NoSuchBucket"
};

struct Job {
  engine::Scope scope;
  Kind kind = Kind::table_export;
  std::string id;
  std::string arn;
  std::string table_name, table_uuid;  // as its kind names them: of an import's table before it is there
  std::string client_token;            // empty: none
  std::string request;
  engine::Instant started = 0;  // by the account's clock, as `ended`
  std::optional<engine::Instant> ended;
  Ending ending{.status = Status::in_progress};  // its status while it runs, too
  Progress progress;

  [[nodiscard]] Status status() const { return ending.status; }
  [[nodiscard]] bool over() const { return is_over(ending.status); }
  [[nodiscard]] std::int64_t count(std::string_view name) const;  // 0: nothing was counted
  // 0 to 100, rounded down; 100 only of one that is over.
  [[nodiscard]] int percent() const;
};

inline constexpr std::string_view document_kind = "@job";
engine::DocumentName document_name(const Job& job);
engine::Document to_document(const Job& job);
// Nothing: it is no job's.
std::optional<Job> from_document(const engine::Document& document);

}  // namespace mayfly::compat::jobs
