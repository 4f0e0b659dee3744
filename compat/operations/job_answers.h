// What the operations on imports and bulk puts have in common: ARNs of jobs, pages of lists, what answers say
// of a job and of its request.
//
//   parse_job_arn("arn:aws:dynamodb:us-east-1:000000000000:table/carts/import/0170…-1a2b3c4d", "/import/")
//   TRY(const JobPage page, page_of(context.jobs.list(scope, kind), 10, string_member(request,
//   "NextToken")));
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/data_files/record.h"
#include "compat/jobs/job.h"
#include "compat/tables/arn.h"
#include "compat/wire/error.h"
#include "compat/wire/json.h"

namespace mayfly::compat {

struct JobArn {
  std::string_view region, account, table, id;
};
// Whether an ARN, well-formed or not, names another account, service or partition: IAM refuses those before
// the operation looks at the ARN (ScyllaDB's test/alternator/test_export.py, August 2026).
bool is_of_others(std::string_view arn, std::string_view account);

// A table's ARN, `kind` and an id. Nothing: it is none.
std::optional<JobArn> parse_job_arn(std::string_view arn, std::string_view kind);

struct JobPage {
  std::vector<std::shared_ptr<const jobs::Job>> jobs;
  std::string next_token;  // empty: that was the last
};
// `jobs` are in their order, the latest first. ValidationException: the token is of no list.
Result<JobPage> page_of(std::vector<std::shared_ptr<const jobs::Job>> jobs, std::size_t limit,
                        std::optional<std::string_view> next_token);

// The member InputCompressionType.
data_files::Compression read_compression(const json::Value& object);

// Those members of an object that it has.
void write_members(json::Writer& out, const json::Value& object,
                   std::initializer_list<std::string_view> names);
void write_count(json::Writer& out, const jobs::Job& job, std::string_view name);
void write_times(json::Writer& out, const jobs::Job& job);    // StartTime, EndTime
void write_failure(json::Writer& out, const jobs::Job& job);  // FailureCode, FailureMessage
// S3BucketOwner: the account, where nobody is named.
void write_bucket_owner(json::Writer& out, const json::Value& given, std::string_view account);

}  // namespace mayfly::compat
