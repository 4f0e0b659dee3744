// A fake S3 endpoint in memory, behind an Invoker. It responds like S3 unless `instead` is set.
//
//   auto s3 = std::make_shared<FakeS3>();
//   S3Bucket bucket({*outbound::Url::parse("http://s3"), "us-east-1", s3}, "exports");
//   s3->objects["a"] == "…", s3->requests.back() == "PUT /exports/a"
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compat/outbound/invoker.h"
#include "compat/wire/md5.h"
#include "compat/wire/percent_encoding.h"
#include "engine/base/hex.h"
#include "engine/base/whole_number.h"

namespace mayfly::testing {

class FakeS3 final : public compat::outbound::Invoker {
 public:
  using Invocation = compat::outbound::Invocation;
  using InvocationAnswer = compat::outbound::InvocationAnswer;

  std::string bucket = "exports";
  std::map<std::string, std::string> objects;
  std::map<std::string, std::vector<std::string>> uploads;  // in progress
  std::vector<std::string> requests;
  std::size_t page_size = 1000, largest_body = 0;
  bool knows_ranges = true, knows_conditions = true;
  // Called first. If it returns nullopt, the endpoint responds like S3.
  std::function<std::optional<Answer>(const Invocation&)> instead;

  void start(Invocation invocation, std::stop_token, Done done) override {
    requests.push_back(invocation.method + " " + invocation.url.target);
    largest_body = std::max(largest_body, invocation.body.size());
    if (instead)
      if (auto other = instead(invocation)) return done(*std::move(other));
    done(answer(invocation));
  }

  static InvocationAnswer error(int status, const std::string& code) {
    return {.status = status,
            .body = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>" + code +
                    "</Code><Message>It is " + code +
                    "</Message><RequestId>R1</RequestId><HostId>H1=</HostId></Error>"};
  }

 private:
  static std::string etag_of(std::string_view bytes) {
    compat::Md5 sum;
    sum.add(bytes);
    return "\"" + engine::hex(sum.end()) + "\"";
  }
  static std::string header_of(const Invocation& invocation, std::string_view name) {
    for (const auto& [sent, value] : invocation.headers)
      if (sent == name) return value;
    return "";
  }

  InvocationAnswer answer(const Invocation& invocation) {
    const std::string& target = invocation.url.target;
    const auto mark = std::min(target.find('?'), target.size());
    const std::string path = target.substr(0, mark);
    const std::string query = target.substr(std::min(mark + 1, target.size()));
    const std::string own = "/" + bucket;
    if (path == own) return list(query);
    if (!path.starts_with(own + "/")) return error(404, "NoSuchBucket");
    return object(invocation, compat::decode_path(path.substr(own.size() + 1)), query);
  }

  InvocationAnswer list(const std::string& query) const {
    const std::string prefix = compat::query_value(query, "prefix").value_or("");
    const auto token = compat::query_value(query, "continuation-token");
    std::string contents, next;
    std::size_t count = 0;
    for (const auto& [key, bytes] : objects) {
      if (!key.starts_with(prefix) || (token && key <= *token)) continue;
      if (count++ == page_size) break;
      std::string encoded;
      compat::append_encoded(encoded, key, "/");
      contents += "<Contents><Key>" + encoded + "</Key><Size>" + std::to_string(bytes.size()) +
                  "</Size><StorageClass>STANDARD</StorageClass></Contents>";
      next = key;
    }
    const bool truncated = count > page_size;
    return {.body =
                "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><EncodingType>url"
                "</EncodingType><IsTruncated>" +
                std::string(truncated ? "true" : "false") + "</IsTruncated>" + contents +
                (truncated ? "<NextContinuationToken>" + next + "</NextContinuationToken>" : "") +
                "</ListBucketResult>"};
  }

  InvocationAnswer object(const Invocation& invocation, const std::string& key, const std::string& query) {
    const auto id = compat::query_value(query, "uploadId");
    const std::string& method = invocation.method;
    if (method == "POST" && compat::query_value(query, "uploads")) {
      uploads[key];
      return {.body =
                  "<InitiateMultipartUploadResult><UploadId>the &amp; id</UploadId>"
                  "</InitiateMultipartUploadResult>"};
    }
    if (id && *id != "the & id") return error(404, "NoSuchUpload");
    if (id && method == "DELETE") return uploads.erase(key), InvocationAnswer{.status = 204};
    if (id && method == "PUT") {
      uploads[key].push_back(invocation.body);
      return {.headers = {{"ETag", etag_of(invocation.body)}}};
    }
    if (id) {
      std::string& whole = objects[key] = "";
      for (const std::string& part : uploads[key]) whole += part;
      uploads.erase(key);
      return {.body =
                  "<CompleteMultipartUploadResult><ETag>&quot;whole-2&quot;</ETag>"
                  "</CompleteMultipartUploadResult>"};
    }
    if (method == "PUT") {
      objects[key] = invocation.body;
      return {.headers = {{"ETag", etag_of(invocation.body)}}};
    }
    const auto found = objects.find(key);
    if (found == objects.end())
      return method == "HEAD" ? InvocationAnswer{.status = 404} : error(404, "NoSuchKey");
    const std::string& bytes = found->second;
    if (method == "HEAD") return {.headers = {{"content-length", std::to_string(bytes.size())}}};
    return part(invocation, bytes);
  }

  InvocationAnswer part(const Invocation& invocation, const std::string& bytes) const {
    const std::string etag = etag_of(bytes), wanted = header_of(invocation, "If-Match");
    if (knows_conditions && !wanted.empty() && wanted != etag) return error(412, "PreconditionFailed");
    if (!knows_ranges) return {.body = bytes, .headers = {{"ETag", etag}}};
    const std::string range = header_of(invocation, "Range").substr(6);
    const auto first = *engine::whole_number<std::size_t>(range.substr(0, range.find('-')));
    const auto last = *engine::whole_number<std::size_t>(range.substr(range.find('-') + 1));
    if (first >= bytes.size()) return error(416, "InvalidRange");
    const std::string body = bytes.substr(first, last - first + 1);
    return {.status = 206,
            .body = body,
            .headers = {{"ETag", etag},
                        {"Content-Range", "bytes " + std::to_string(first) + "-" +
                                              std::to_string(first + body.size() - 1) + "/" +
                                              std::to_string(bytes.size())}}};
  }
};

}  // namespace mayfly::testing
