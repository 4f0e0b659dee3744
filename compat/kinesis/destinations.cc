#include "compat/kinesis/destinations.h"

#include <algorithm>
#include <numeric>
#include <system_error>

#include "compat/kinesis/record.h"
#include "compat/wire/base64.h"
#include "compat/wire/json.h"
#include "compat/wire/shape.h"
#include "engine/attempt.h"
#include "engine/clock.h"
#include "engine/mutex.h"

namespace mayfly::compat::kinesis {
namespace {

using outbound::Invocation;
using std::chrono::milliseconds;

constexpr std::string_view kind = "kinesis-destination";
constexpr std::size_t records_max = 500,
                      bytes_max = 4 * 1024 * 1024;  // of one PutRecords; Kinesis takes 5 MB
constexpr milliseconds retry_wait_min{100}, retry_wait_max{10'000};

// "kinesis-destination" / "REGION/TABLE UUID/STREAM ARN"
// {"table":"carts","uuid":…,"stream":"arn:…","active":true,"microseconds":false}
engine::Document to_document(const engine::Scope& scope, const Destination& destination) {
  engine::Document document{{scope.account, std::string(kind),
                             scope.region + "/" + destination.table_uuid + "/" + destination.stream_arn},
                            {}};
  json::Writer out(document.bytes);
  out.begin_object();
  out.key("table");
  out.string(destination.table);
  out.key("uuid");
  out.string(destination.table_uuid);
  out.key("stream");
  out.string(destination.stream_arn);
  out.key("active");
  out.boolean(destination.active);
  out.key("microseconds");
  out.boolean(destination.microseconds);
  out.end_object();
  return document;
}

std::optional<Destination> from_document(const engine::Document& document) {
  const auto parsed = json::parse(document.bytes);
  if (parsed == nullptr) return std::nullopt;
  const auto text = [&](std::string_view name) {
    return std::string(string_member(parsed->root(), name).value_or(""));
  };
  return Destination{text("table"), text("uuid"), text("stream"),
                     boolean_member(parsed->root(), "active").value_or(false),
                     boolean_member(parsed->root(), "microseconds").value_or(false)};
}

// Kinesis look-alikes want a signature, and look at its form only.
std::vector<std::pair<std::string, std::string>> headers_for(std::string_view account,
                                                             std::string_view region, engine::Instant now) {
  std::string date = engine::iso8601(now).substr(0, 19);  // 2024-05-01T00:00:00 -> 20240501T000000Z
  std::erase_if(date, [](char c) { return c == '-' || c == ':'; });
  return {
      {"X-Amz-Target", "Kinesis_20131202.PutRecords"},
      {"X-Amz-Date", date + "Z"},
      {"Authorization", "AWS4-HMAC-SHA256 Credential=" + std::string(account) + "/" + date.substr(0, 8) +
                            "/" + std::string(region) +
                            "/kinesis/aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, Signature=" +
                            std::string(64, '0')}};
}

}  // namespace

Destinations::Destinations(engine::Database& database, KinesisOptions options)
    : database_(database),
      invoker_(std::move(options.invoker)),
      endpoint_(std::move(options.endpoint)),
      waiting_bytes_max_(options.waiting_bytes_max) {
  load();
}

Destinations::~Destinations() {
  const engine::Lock lock(mutex_);
  subscription_.end();
  stop_.request_stop();
  came_.ring();
  if (thread_.joinable()) thread_.join();
}

void Destinations::load() {
  std::map<std::string, std::vector<Destination>, std::less<>> by_table;
  bool active = false;
  for (const engine::Document& stored : database_.documents().list(kind)) {
    auto destination = from_document(stored);
    if (!destination) continue;
    active = active || destination->active;
    auto& list = by_table[destination->table_uuid];
    list.push_back(*std::move(destination));
  }
  {
    const engine::Lock lock(waiting_mutex_);
    by_table_ = std::move(by_table);
  }
  if (active && !listen())
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
}

bool Destinations::listen() {
  const engine::Lock lock(mutex_);
  if (listening_ || !endpoint_ || !invoker_) return true;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    return false;
  }
  subscription_ = database_.subscribe([this](const engine::Change& change) { take(change); });
  listening_ = true;
  return true;
}

std::vector<Destination> Destinations::list(std::string_view table_uuid) const {
  const engine::Lock lock(waiting_mutex_);
  const auto found = by_table_.find(table_uuid);
  return found == by_table_.end() ? std::vector<Destination>() : found->second;
}

bool Destinations::set(const engine::Scope& scope, const Destination& destination) {
  if (destination.active && !listen()) return false;
  const engine::Document document = to_document(scope, destination);
  database_.documents().put(document.name, document.bytes);
  {
    const engine::Lock lock(waiting_mutex_);
    auto& list = by_table_[destination.table_uuid];
    const auto same = std::find_if(list.begin(), list.end(), [&](const Destination& other) {
      return other.stream_arn == destination.stream_arn;
    });
    if (same == list.end()) {
      list.push_back(destination);
    } else {
      *same = destination;
    }
  }
  return true;
}

std::uint64_t Destinations::dropped() const {
  const engine::Lock lock(waiting_mutex_);
  return dropped_;
}

std::size_t Destinations::Waiting::bytes() const {
  return sizeof(Waiting) + stream_arn.size() + partition_key.size() + data.size() +
         (change ? change->bytes() : 0);
}

void Destinations::Waiting::render() {
  if (!change) return;  // Kinesis refused it before
  const engine::Change told = change->change();
  partition_key = kinesis::partition_key(told);
  data = record_json(told, microseconds);
  change.reset();
}

void Destinations::keep_within_bounds() {
  while (waiting_.size() > waiting_max || waiting_bytes_ > waiting_bytes_max_) {
    waiting_bytes_ -= waiting_.front().bytes();
    waiting_.pop_front();
    ++dropped_;
  }
}

void Destinations::take(const engine::Change& change) {
  {
    const engine::Lock lock(waiting_mutex_);
    const auto found = by_table_.find(change.table->uuid);
    if (found == by_table_.end()) return;
    for (const Destination& destination : found->second) {
      if (!destination.active) continue;
      waiting_.emplace_back(destination, change);
      waiting_bytes_ += waiting_.back().bytes();
    }
    keep_within_bounds();
  }
  came_.ring();
}

bool Destinations::take_first(std::vector<Waiting>& batch) {
  const engine::Lock lock(waiting_mutex_);
  if (waiting_.empty() || (!batch.empty() && waiting_.front().stream_arn != batch.front().stream_arn))
    return false;
  waiting_bytes_ -= waiting_.front().bytes();
  batch.push_back(std::move(waiting_.front()));
  waiting_.pop_front();
  under_way_ = batch.size();
  return true;
}

void Destinations::give_back_last(std::vector<Waiting>& batch) {
  const engine::Lock lock(waiting_mutex_);
  waiting_.push_front(std::move(batch.back()));
  waiting_bytes_ += waiting_.front().bytes();
  batch.pop_back();
  under_way_ = batch.size();
}

void Destinations::take_batch(std::vector<Waiting>& batch) {
  std::size_t bytes = 0;
  while (batch.size() < records_max && take_first(batch)) {
    batch.back().render();
    bytes += batch.back().data.size();
    // One that is larger than a request may be goes alone: Kinesis shall say so.
    if (bytes > bytes_max && batch.size() > 1) return give_back_last(batch);
  }
}

void Destinations::run() {
  milliseconds wait = retry_wait_min;
  while (!stop_.stop_requested()) {
    const auto ticket = came_.ticket();
    std::vector<Waiting> batch;
    std::vector<std::size_t> refused;
    const auto take_and_put = [&] {
      take_batch(batch);
      return batch.empty() || put(batch, refused);
    };
    const bool taken = engine::attempt(take_and_put, [&](std::string_view) {
      refuse_all(batch, refused);
      return false;
    });
    if (taken && batch.empty()) {
      progress_.ring();
      came_.wait(ticket, std::nullopt);
      continue;
    }
    {
      const engine::Lock lock(waiting_mutex_);
      for (auto place = refused.rbegin(); place != refused.rend(); ++place) {
        waiting_.push_front(std::move(batch[*place]));
        waiting_bytes_ += waiting_.front().bytes();
      }
      keep_within_bounds();
      under_way_ = 0;
    }
    if (taken && refused.empty()) {
      wait = retry_wait_min;
      continue;
    }
    const auto deadline = engine::host_time() + wait;
    while (!stop_.stop_requested() && came_.wait(came_.ticket(), deadline)) {}
    wait = std::min(wait * 2, retry_wait_max);
  }
}

void Destinations::refuse_all(const std::vector<Waiting>& batch, std::vector<std::size_t>& refused) {
  refused.resize(batch.size());
  std::iota(refused.begin(), refused.end(), std::size_t{0});
}

bool Destinations::put(const std::vector<Waiting>& batch, std::vector<std::size_t>& refused) {
  const Waiting& first = batch.front();
  Invocation invocation{
      .url = *endpoint_,
      .headers = headers_for(first.table->account, first.table->region, database_.now(first.table->account)),
      .content_type = "application/x-amz-json-1.1"};
  json::Writer out(invocation.body);
  out.begin_object();
  out.key("StreamARN");
  out.string(first.stream_arn);
  out.key("StreamName");
  out.string(first.stream_arn.substr(first.stream_arn.rfind('/') + 1));
  out.key("Records");
  out.begin_array();
  for (const Waiting& record : batch) {
    std::string data;
    append_base64(data, record.data);
    out.begin_object();
    out.key("Data");
    out.string(data);
    out.key("PartitionKey");
    out.string(record.partition_key);
    out.end_object();
  }
  out.end_array();
  out.end_object();

  const auto answer = invoker_->post(invocation, stop_.get_token());
  const auto body = answer && answer->status < 300 ? json::parse(answer->body) : nullptr;
  if (body == nullptr) {
    refuse_all(batch, refused);
    return false;
  }
  if (const json::Value* records = body->root().member("Records")) {
    for (std::size_t place = 0; place < batch.size() && place < records->items().size(); ++place) {
      if (records->items()[place].member("ErrorCode") != nullptr) refused.push_back(place);
    }
  }
  return true;
}

bool Destinations::settle(engine::RealTime deadline, const std::stop_token& stop) {
  const std::stop_callback wakes_us(stop, [this] { progress_.ring(); });
  while (true) {
    const auto ticket = progress_.ticket();
    {
      const engine::Lock lock(waiting_mutex_);
      if (waiting_.empty() && under_way_ == 0) return true;
    }
    if (stop.stop_requested() || !progress_.wait(ticket, deadline)) return false;
  }
}

}  // namespace mayfly::compat::kinesis
