#include "compat/imports/job_answers.h"

#include <algorithm>
#include <utility>

#include "compat/json/json_members.h"
#include "compat/wire/shape.h"
#include "engine/base/hex.h"

namespace mayfly::compat::imports {
namespace {

// On AWS, the tokens of these lists consist of hexadecimal digits. The number of digits is at least 112 and a
// multiple of 16.
constexpr std::size_t token_bytes = 56;

std::string token_of(const jobs::Job& job) {
  std::string bytes = job.id;
  bytes.resize(token_bytes, ' ');
  return engine::hex(bytes);
}

}  // namespace

std::optional<JobArn> parse_job_arn(std::string_view arn, std::string_view kind) {
  const auto place = arn.rfind(kind);
  if (place == arn.npos) return std::nullopt;
  const auto table = parse_table_arn(arn.substr(0, place));
  const std::string_view id = arn.substr(place + kind.size());
  if (!table || id.empty() || id.find_first_not_of("0123456789abcdef-") != id.npos) return std::nullopt;
  return JobArn{table->account, id};
}

Result<JobPage> page_of(std::vector<std::shared_ptr<const jobs::Job>> jobs, std::size_t limit,
                        std::optional<std::string_view> next_token) {
  if (next_token) {
    // Compare tokens instead of looking for the job at which the last page ended, because that job may no
    // longer exist.
    const bool is_ours =
        next_token->size() == 2 * token_bytes && next_token->ends_with(engine::hex("        "));
    if (!is_ours) {
      return error::validation("Invalid Request: Provided nextToken is invalid: " + std::string(*next_token));
    }
    std::erase_if(jobs, [&](const auto& job) { return token_of(*job) >= *next_token; });
  }
  JobPage page;
  if (jobs.size() > limit) page.next_token = token_of(*jobs[limit - 1]);
  jobs.resize(std::min(jobs.size(), limit));
  page.jobs = std::move(jobs);
  return page;
}

data_files::Compression read_compression(const json::Value& object) {
  const auto name = string_member(object, "InputCompressionType").value_or("NONE");
  return name == "GZIP"   ? data_files::Compression::gzip
         : name == "ZSTD" ? data_files::Compression::zstd
                          : data_files::Compression::none;
}

void write_members(json::Writer& out, const json::Value& object,
                   std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const json::Value* const value = object.member(name)) {
      out.key(name);
      out.value(*value);
    }
  }
}

void write_count(json::Writer& out, const jobs::Job& job, std::string_view name) {
  if (!job.progress.counts.contains(name)) return;  // counting has not started
  out.key(name);
  out.integer(job.count(name));
}

void write_times(json::Writer& out, const jobs::Job& job) {
  out.key("StartTime");
  out.seconds(job.started);
  if (!job.ended) return;
  out.key("EndTime");
  out.seconds(*job.ended);
}

void write_failure(json::Writer& out, const jobs::Job& job) {
  member_if_any(out, "FailureCode", job.ending.failure_code);
  member_if_any(out, "FailureMessage", job.ending.failure_message);
}

void write_bucket_owner(json::Writer& out, const json::Value& given, std::string_view account) {
  out.key("S3BucketOwner");
  out.string(string_member(given, "S3BucketOwner").value_or(account));
}

}  // namespace mayfly::compat::imports
