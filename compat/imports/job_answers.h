// Code shared by the responses about imports and bulk puts: ARNs of jobs, pages of lists, and descriptions of
// jobs and their requests.
//
//   parse_job_arn("arn:aws:dynamodb:us-east-1:000000000000:table/carts/import/0170…-1a2b3c4d", "/import/")
//   TRY(const JobPage page, page_of(context.jobs.list(scope, kind), 10, next_token));
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/data_files/record.h"
#include "compat/jobs/job.h"
#include "compat/json/json.h"
#include "compat/tables/arn.h"
#include "compat/wire/error.h"

namespace mayfly::compat::imports {

struct JobArn {
  std::string_view account, id;
};
// Parses a table's ARN followed by `kind` and an id. Returns nullopt for anything else.
std::optional<JobArn> parse_job_arn(std::string_view arn, std::string_view kind);

struct JobPage {
  std::vector<std::shared_ptr<const jobs::Job>> jobs;
  std::string next_token;  // empty on the last page
};
// Requires: `jobs` are sorted, latest first. Error: ValidationException if the token does not come from such
// a list.
Result<JobPage> page_of(std::vector<std::shared_ptr<const jobs::Job>> jobs, std::size_t limit,
                        std::optional<std::string_view> next_token);

// Reads the member InputCompressionType.
data_files::Compression read_compression(const json::Value& object);

// Writes the listed members that the object has.
void write_members(json::Writer& out, const json::Value& object,
                   std::initializer_list<std::string_view> names);
void write_count(json::Writer& out, const jobs::Job& job, std::string_view name);
void write_times(json::Writer& out, const jobs::Job& job);    // StartTime, EndTime
void write_failure(json::Writer& out, const jobs::Job& job);  // FailureCode, FailureMessage
// Writes S3BucketOwner: the given owner, or else the account.
void write_bucket_owner(json::Writer& out, const json::Value& given, std::string_view account);

}  // namespace mayfly::compat::imports
