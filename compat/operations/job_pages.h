// What the operations on imports and bulk puts have in common: ARNs of jobs, pages of lists, buckets as
// requests name them.
//
//   parse_job_arn("arn:aws:dynamodb:us-east-1:000000000000:table/carts/import/0170…-1a2b3c4d", "/import/")
//   TRY(const JobPage page, page_of(context.jobs.list(scope, kind), 10, string_member(request,
//   "NextToken")));
#pragma once

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

// A bucket as it was named, with its owner, who is the account where nobody is named.
void write_bucket_source(json::Writer& out, const json::Value& given, std::string_view account);

}  // namespace mayfly::compat
