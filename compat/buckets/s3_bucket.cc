#include "compat/buckets/s3_bucket.h"

#include <algorithm>

#include "compat/buckets/s3_xml.h"
#include "compat/wire/percent_encoding.h"
#include "engine/base/whole_number.h"

namespace mayfly::compat::buckets {
namespace {

using outbound::InvocationAnswer;
using outbound::InvocationFailure;

Failure failure_of(const InvocationFailure& failure) {
  switch (failure.kind) {
    case InvocationFailure::Kind::unreachable:
    case InvocationFailure::Kind::unable: return service_unavailable(failure.sentence);
    case InvocationFailure::Kind::timed_out: return request_timeout(failure.sentence);
    case InvocationFailure::Kind::no_answer:
    case InvocationFailure::Kind::stopped: break;
  }
  return internal_error(failure.sentence);
}

// Returns the failure that an unsuccessful response describes.
Failure failure_of(const InvocationAnswer& answer) {
  Failure failure = read_error(answer.body).value_or(failure_of_status(answer.status));
  failure.status = answer.status;
  if (failure.request_id.empty()) failure.request_id = answer.header("x-amz-request-id");
  if (failure.extended_request_id.empty()) failure.extended_request_id = answer.header("x-amz-id-2");
  return failure;
}

Failure no_answer_of_s3(std::string_view what) {
  return internal_error("The bucket's endpoint answered " + std::string(what));
}

struct Range {
  std::uint64_t first, last, all;
};

// Parses a Content-Range header: "bytes 0-9/443".
std::optional<Range> range_of(std::string_view text) {
  constexpr std::string_view unit = "bytes ";
  if (!text.starts_with(unit)) return std::nullopt;
  text.remove_prefix(unit.size());
  const auto dash = text.find('-'), slash = text.find('/');
  if (dash == text.npos || slash == text.npos || dash > slash) return std::nullopt;
  const auto first = engine::whole_number<std::uint64_t>(text.substr(0, dash));
  const auto last = engine::whole_number<std::uint64_t>(text.substr(dash + 1, slash - dash - 1));
  const auto all = engine::whole_number<std::uint64_t>(text.substr(slash + 1));
  if (!first || !last || !all || *first > *last || *last >= *all) return std::nullopt;
  return Range{*first, *last, *all};
}

// Reads the response to a GET of a range.
Outcome<Piece> piece_of(InvocationAnswer answer, std::uint64_t offset) {
  Piece piece{.version = std::string(answer.header("etag"))};
  // There is nothing at this offset: the object is empty, or has become shorter.
  if (answer.status == 416 && offset == 0) return piece;
  if (answer.status == 416) return Unexpected{changed_meanwhile()};
  if (answer.status == 200) {  // the endpoint does not support ranges and sent the whole object
    piece.object_bytes = answer.body.size();
    if (offset < answer.body.size()) piece.bytes = answer.body.substr(offset, piece_bytes_max);
    return piece;
  }
  if (answer.status != 206) return Unexpected{failure_of(answer)};
  const auto range = range_of(answer.header("content-range"));
  // A shorter range is rejected as well: an endpoint could otherwise require one request for each byte.
  if (!range || range->first != offset || range->last - range->first + 1 != answer.body.size() ||
      answer.body.size() != std::min<std::uint64_t>(piece_bytes_max, range->all - offset))
    return Unexpected{no_answer_of_s3("with a range other than the requested one")};
  piece.object_bytes = range->all;
  piece.bytes = std::move(answer.body);
  return piece;
}

}  // namespace

// Builds and sends a bucket's requests.
class S3Bucket::Requests {
 public:
  Requests(S3Endpoint endpoint, std::string_view bucket) : endpoint_(std::move(endpoint)) {
    base_ = endpoint_.url.text.substr(0, endpoint_.url.text.find_first_of("?#"));
    while (base_.ends_with('/')) base_.pop_back();
    base_ += '/';
    append_encoded(base_, bucket, "");
  }

  struct Request {
    std::string method;
    std::string_view key{};
    std::string query{};  // for example "uploads="
    std::vector<std::pair<std::string, std::string>> headers{};
    std::string body{};
  };
  // Passes the response to `answered` if its status is at most `status_max`; otherwise, passes a failure.
  void send(Request request, int status_max, std::stop_token stop, Done<InvocationAnswer> answered) const {
    std::string url = base_;
    if (!request.key.empty()) {
      url += '/';
      append_encoded(url, request.key, "/");
    }
    if (!request.query.empty()) url += '?' + request.query;
    auto parsed = outbound::Url::parse(url);
    if (!parsed) return answered(Unexpected{internal_error(parsed.error())});
    endpoint_.invoker->start({.url = *std::move(parsed),
                              .body = std::move(request.body),
                              .headers = std::move(request.headers),
                              .method = std::move(request.method),
                              .content_type = "",
                              .signing = outbound::SigningScope{"s3", endpoint_.region}},
                             std::move(stop),
                             [status_max, answered = std::move(answered)](outbound::Invoker::Answer answer) {
                               if (!answer) return answered(Unexpected{failure_of(answer.error())});
                               if (answer->status > status_max)
                                 return answered(Unexpected{failure_of(*answer)});
                               answered(*std::move(answer));
                             });
  }

 private:
  const S3Endpoint endpoint_;
  std::string base_;
};

namespace {

constexpr int success_max = 299, any_status = 999;

std::string parameter(std::string_view name, std::string_view value) {
  std::string out = std::string(name) + "=";
  append_encoded(out, value, "");
  return out;
}

}  // namespace

// Buffers data that has not been sent yet. The first full part begins a multipart upload; an object that fits
// in one part is sent by a single PUT.
class S3Bucket::PartsUpload final : public Upload {
 public:
  PartsUpload(std::shared_ptr<const Requests> requests, std::string_view key)
      : state_(std::make_shared<State>(std::move(requests), std::string(key))) {}
  ~PartsUpload() override {
    if (state_->id.empty()) return;
    state_->requests->send(
        {.method = "DELETE", .key = state_->key, .query = parameter("uploadId", state_->id)}, any_status, {},
        [](const auto&) {
          // A failure is ignored: bucket owners have lifecycle rules that remove abandoned uploads.
        });
  }

  void append(std::string_view bytes, std::stop_token stop, Done<void> done) override {
    if (auto problem = problem_of_key(state_->key)) return done(Unexpected{*std::move(problem)});
    if (bytes.size() > object_bytes_max - state_->bytes) return done(Unexpected{entity_too_large()});
    state_->bytes += bytes.size();
    state_->waiting += bytes;
    if (state_->waiting.size() < part_bytes) return done(Outcome<void>());
    send_part(state_, std::move(stop), std::move(done));
  }

  void finish(std::stop_token stop, Done<Stored> done) override {
    if (auto problem = problem_of_key(state_->key)) return done(Unexpected{*std::move(problem)});
    if (state_->id.empty()) return put(std::move(stop), std::move(done));
    if (state_->waiting.empty()) return complete(state_, std::move(stop), std::move(done));
    send_part(state_, stop, [state = state_, stop, done = std::move(done)](Outcome<void> sent) {
      if (!sent) return done(Unexpected{sent.error()});
      complete(state, stop, done);
    });
  }

 private:
  struct State {
    State(std::shared_ptr<const Requests> requests_, std::string key_)
        : requests(std::move(requests_)), key(std::move(key_)) {}
    const std::shared_ptr<const Requests> requests;
    const std::string key;
    std::string waiting;
    std::string id;  // empty: the multipart upload has not begun, or is complete
    std::vector<std::string> etags;
    std::uint64_t bytes = 0;
  };
  using Shared = std::shared_ptr<State>;

  void put(std::stop_token stop, Done<Stored> done) {
    state_->requests->send({.method = "PUT", .key = state_->key, .body = std::move(state_->waiting)},
                           success_max, std::move(stop),
                           [state = state_, done = std::move(done)](Outcome<InvocationAnswer> answer) {
                             if (!answer) return done(Unexpected{answer.error()});
                             done(Stored{bare_etag(answer->header("etag")), state->bytes});
                           });
  }

  static void send_part(const Shared& state, std::stop_token stop, Done<void> done) {
    if (!state->id.empty()) return send_waiting(state, std::move(stop), std::move(done));
    state->requests->send({.method = "POST", .key = state->key, .query = "uploads="}, success_max, stop,
                          [state, stop, done = std::move(done)](Outcome<InvocationAnswer> answer) {
                            if (!answer) return done(Unexpected{answer.error()});
                            state->id = read_upload_id(answer->body).value_or("");
                            if (state->id.empty())
                              return done(Unexpected{no_answer_of_s3("without an upload id")});
                            send_waiting(state, stop, done);
                          });
  }

  static void send_waiting(const Shared& state, std::stop_token stop, Done<void> done) {
    const std::string query = parameter("partNumber", std::to_string(state->etags.size() + 1)) + "&" +
                              parameter("uploadId", state->id);
    state->requests->send(
        {.method = "PUT", .key = state->key, .query = query, .body = std::exchange(state->waiting, {})},
        success_max, std::move(stop), [state, done = std::move(done)](Outcome<InvocationAnswer> answer) {
          if (!answer) return done(Unexpected{answer.error()});
          state->etags.emplace_back(answer->header("etag"));
          done(Outcome<void>());
        });
  }

  static void complete(const Shared& state, std::stop_token stop, Done<Stored> done) {
    state->requests->send({.method = "POST",
                           .key = state->key,
                           .query = parameter("uploadId", state->id),
                           .body = completion(state->etags)},
                          success_max, std::move(stop),
                          [state, done = std::move(done)](Outcome<InvocationAnswer> answer) {
                            if (!answer) return done(Unexpected{answer.error()});
                            // S3 sends status 200 before it knows the outcome; only the body shows an error.
                            const auto etag = read_etag(answer->body);
                            if (!etag) return done(Unexpected{failure_of(*answer)});
                            state->id.clear();
                            done(Stored{*etag, state->bytes});
                          });
  }

  const Shared state_;
};

S3Bucket::S3Bucket(S3Endpoint endpoint, std::string name)
    : requests_(std::make_shared<Requests>(std::move(endpoint), name)) {}

void S3Bucket::list(std::string_view prefix, const std::optional<std::string>& token, std::stop_token stop,
                    Done<Listing> done) {
  std::string query = "encoding-type=url&list-type=2&" + parameter("max-keys", std::to_string(listed_max)) +
                      "&" + parameter("prefix", prefix);
  if (token) query += "&" + parameter("continuation-token", *token);
  requests_->send({.method = "GET", .query = std::move(query)}, success_max, std::move(stop),
                  [done = std::move(done)](Outcome<InvocationAnswer> answer) {
                    if (!answer) return done(Unexpected{answer.error()});
                    auto listing = read_listing(answer->body);
                    if (!listing) return done(Unexpected{no_answer_of_s3("without a valid listing")});
                    done(*std::move(listing));
                  });
}

void S3Bucket::head(std::string_view key, std::stop_token stop, Done<Object> done) {
  if (auto problem = problem_of_key(key)) return done(Unexpected{*std::move(problem)});
  requests_->send({.method = "HEAD", .key = key}, success_max, std::move(stop),
                  [key = std::string(key), done = std::move(done)](Outcome<InvocationAnswer> answer) {
                    if (!answer) return done(Unexpected{answer.error()});
                    const auto bytes = engine::whole_number<std::uint64_t>(answer->header("content-length"));
                    if (!bytes) return done(Unexpected{no_answer_of_s3("without an object size")});
                    done(Object{key, *bytes});
                  });
}

void S3Bucket::read(std::string_view key, std::uint64_t offset, std::string_view version,
                    std::stop_token stop, Done<Piece> done) {
  if (auto problem = problem_of_key(key)) return done(Unexpected{*std::move(problem)});
  std::vector<std::pair<std::string, std::string>> headers = {
      {"Range", "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + piece_bytes_max - 1)}};
  if (!version.empty()) headers.emplace_back("If-Match", version);
  requests_->send(
      {.method = "GET", .key = key, .headers = std::move(headers)}, any_status, std::move(stop),
      [offset, version = std::string(version), done = std::move(done)](Outcome<InvocationAnswer> answer) {
        if (!answer) return done(Unexpected{answer.error()});
        auto piece = piece_of(*std::move(answer), offset);
        // Compare the versions here as well, because not every endpoint supports If-Match.
        if (piece && !version.empty() && !piece->version.empty() && piece->version != version)
          return done(Unexpected{changed_meanwhile()});
        done(std::move(piece));
      });
}

std::unique_ptr<Upload> S3Bucket::upload(std::string_view key) {
  return std::make_unique<PartsUpload>(requests_, key);
}

}  // namespace mayfly::compat::buckets
