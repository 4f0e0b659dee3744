#include "compat/kinesis/destinations.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "compat/json/json.h"
#include "compat/json/json_tree.h"
#include "compat/kinesis/record.h"
#include "compat/outbound/call.h"
#include "compat/wire/base64.h"
#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/storage/documents.h"

namespace mayfly::compat::kinesis {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kind = "@kinesis-destination";
// The kind that earlier versions of Mayfly gave to these documents. In those versions, snapshots did not
// contain destinations, and restoring a snapshot did not change them.
constexpr std::string_view kind_before = "kinesis-destination";
constexpr std::size_t records_max = 500,
                      bytes_max = 4 * 1024 * 1024;  // of one PutRecords call; Kinesis accepts 5 MB
constexpr milliseconds retry_wait_min{100}, retry_wait_max{10'000};

// "@kinesis-destination" / "REGION/TABLE UUID/STREAM ARN"
// {"table":"carts","uuid":…,"stream":"arn:…","active":true,"microseconds":false}; "microseconds" is present
// only if it was set
engine::DocumentName document_name(const engine::Scope& scope, const Destination& destination) {
  return {scope.account, std::string(kind),
          scope.region + "/" + destination.table_uuid + "/" + destination.stream_arn};
}

engine::Document to_document(const engine::Scope& scope, const Destination& destination) {
  json::Tree shown{{"table", destination.table},
                   {"uuid", destination.table_uuid},
                   {"stream", destination.stream_arn},
                   {"active", destination.active}};
  if (destination.microseconds) shown["microseconds"] = *destination.microseconds;
  return {document_name(scope, destination), json::print(shown)};
}

std::optional<Destination> from_document(const engine::Document& document) {
  const auto parsed = json::parse_tree(document.bytes);
  if (!parsed) return std::nullopt;
  const auto text = [&](std::string_view name) {
    return std::string(json::string_member(*parsed, name).value_or(""));
  };
  return Destination{text("table"), text("uuid"), text("stream"),
                     json::boolean_member(*parsed, "active").value_or(false),
                     json::boolean_member(*parsed, "microseconds")};
}

auto with_stream(auto& destinations, std::string_view arn) {
  return std::find_if(destinations.begin(), destinations.end(),
                      [&](const Destination& one) { return one.stream_arn == arn; });
}

// Kinesis emulators require a signature, but check only its form.
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

// Sends one request after another. Between steps, it waits for the response to the call in flight, for the
// end of a pause, or for changes.
class Destinations::Puts final : public engine::Task, public std::enable_shared_from_this<Puts> {
 public:
  explicit Puts(Destinations& destinations) : of_(destinations) {}

 private:
  Next step() override;
  Next failed(std::string_view why) override;
  [[nodiscard]] outbound::Invocation request() const;  // for the batch
  // Removes from the batch the records that Kinesis accepted.
  void drop_taken(const outbound::Invoker::Answer& answer);
  Next put_again();  // sends the rest of the batch after a pause

  Destinations& of_;  // exists during every step: ~Destinations ends the scheduler first
  std::vector<Waiting> batch_;
  std::optional<outbound::Call> call_;  // in flight
  milliseconds wait_ = retry_wait_min;
  std::optional<engine::RealTime> rest_until_;
};

Destinations::Destinations(engine::Database& database, KinesisOptions options)
    : database_(database),
      invoker_(std::move(options.invoker)),
      endpoint_(std::move(options.endpoint)),
      waiting_bytes_max_(options.waiting_bytes_max),
      scheduler_(database.options().make_scheduler(1)),
      puts_(std::make_shared<Puts>(*this)) {
  load();
}

Destinations::~Destinations() {
  database_.documents().listen(this, {});
  {
    const engine::Lock lock(mutex_);
    subscription_.end();
  }
  stop_.request_stop();
  scheduler_->end();  // waits for one short step, but not for the end of the stopped call
}

bool Destinations::add(const engine::Document& stored, ByTable& by_table) {
  auto destination = from_document(stored);
  if (!destination) return false;
  const bool active = destination->active;
  std::vector<Destination>& of_table = by_table[destination->table_uuid];
  of_table.push_back(*std::move(destination));
  return active;
}

void Destinations::load() {
  engine::Documents& documents = database_.documents();
  for (engine::Document& stored : documents.list(kind_before)) {
    const engine::DocumentName before = stored.name;
    stored.name.kind = kind;
    documents.write({before}, {stored});
  }
  std::map<std::string, ByTable, std::less<>> by_account;
  bool active = false;
  for (const engine::Document& stored : documents.list(kind)) {
    active = add(stored, by_account[stored.name.account]) || active;
  }
  const engine::Lock changing(mutex_);
  {
    const engine::Lock lock(waiting_mutex_);
    by_account_ = std::move(by_account);
  }
  if (active && !listen())
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  documents.listen(this, [this](std::string_view account) { reload(account); });
}

void Destinations::reload(std::string_view account) {
  const engine::Lock changing(mutex_);
  ByTable by_table;
  bool active = false;
  for (const engine::Document& stored : database_.documents().list(account, kind)) {
    active = add(stored, by_table) || active;
  }
  // If no thread can be started now, changes are not sent until the next time a destination is set.
  if (active) static_cast<void>(listen());
  const engine::Lock lock(waiting_mutex_);
  by_account_.insert_or_assign(std::string(account), std::move(by_table));
}

bool Destinations::listen() {
  if (!endpoint_ || !invoker_) return true;
  const bool stepped = scheduler_->start();
  if (listening_) return stepped;
  subscription_ = database_.change_feed().subscribe([this](const engine::Change& change) { take(change); });
  listening_ = true;
  return stepped;
}

std::vector<Destination> Destinations::list(const engine::Table& table) const {
  const engine::Lock lock(waiting_mutex_);
  const std::vector<Destination>* const found = find(table);
  return found == nullptr ? std::vector<Destination>() : *found;
}

const std::vector<Destination>* Destinations::find(const engine::Table& table) const {
  const auto account = by_account_.find(table.account);
  if (account == by_account_.end()) return nullptr;
  const auto found = account->second.find(table.uuid);
  return found == account->second.end() ? nullptr : &found->second;
}

Result<Destination> Destinations::change(const engine::Table& table, std::string_view stream_arn,
                                         const Decide& decide) {
  const engine::Lock changing(mutex_);
  const std::vector<Destination> present = list(table);
  const auto before = with_stream(present, stream_arn);
  TRY(Destination destination,
      decide(before != present.end() ? *before
                                     : Destination{table.name, table.uuid, std::string(stream_arn)}));
  if (destination.active && !listen()) return error::internal_server_error();
  const engine::Document document = to_document({table.account, table.region}, destination);
  database_.documents().put(document.name, document.bytes);
  const engine::Lock lock(waiting_mutex_);
  auto& of_table = by_account_[table.account][table.uuid];
  const auto same = with_stream(of_table, stream_arn);
  if (same == of_table.end()) {
    of_table.push_back(destination);
  } else {
    *same = destination;
  }
  return destination;
}

void Destinations::forget(const engine::Table& table) {
  const engine::Lock changing(mutex_);
  std::vector<engine::DocumentName> names;
  for (const Destination& destination : list(table))
    names.push_back(document_name({table.account, table.region}, destination));
  if (names.empty()) return;
  database_.documents().write(names, {});
  const engine::Lock lock(waiting_mutex_);
  by_account_.find(table.account)->second.erase(table.uuid);
}

std::uint64_t Destinations::dropped() const {
  const engine::Lock lock(waiting_mutex_);
  return dropped_;
}

std::size_t Destinations::Waiting::bytes() const {
  return sizeof(Waiting) + stream_arn.size() + partition_key.size() + data.size() +
         (change ? change->bytes() : 0);
}

void Destinations::Waiting::render(engine::Random& ids) {
  if (!change) return;  // already rendered for an earlier attempt
  const engine::Change told = change->change();
  partition_key = kinesis::partition_key(told);
  data = record_json(told, microseconds, ids);
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
    const std::vector<Destination>* const found = find(*change.table);
    if (found == nullptr) return;
    for (const Destination& destination : *found) {
      if (!destination.active) continue;
      waiting_.emplace_back(destination, change);
      waiting_bytes_ += waiting_.back().bytes();
    }
    keep_within_bounds();
  }
  scheduler_->wake(puts_);
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
    batch.back().render(*database_.options().random);
    bytes += batch.back().data.size();
    // A record larger than the limit is sent alone, so that Kinesis rejects it.
    if (bytes > bytes_max && batch.size() > 1) return give_back_last(batch);
  }
}

void Destinations::give_back(std::vector<Waiting>& batch) {
  while (!batch.empty()) give_back_last(batch);
  const engine::Lock lock(waiting_mutex_);
  under_way_ = 0;
  keep_within_bounds();
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

// --- sending

engine::Task::Next Destinations::Puts::step() {
  if (of_.stop_.stop_requested()) return Next::when_woken();
  if (call_) {
    const auto answer = call_->take();
    if (!answer) return Next::when_woken();
    call_.reset();
    drop_taken(*answer);
    if (!batch_.empty()) return put_again();
    of_.give_back(batch_);  // the batch is empty; it is no longer in flight
    wait_ = retry_wait_min;
  }
  if (rest_until_) {
    if (of_.scheduler_->now() < *rest_until_) return Next::at(*rest_until_);
    rest_until_.reset();
  }
  of_.take_batch(batch_);
  if (batch_.empty()) {
    of_.progress_.ring();
    return Next::when_woken();
  }
  auto invocation = request();
  call_.emplace(of_.scheduler_, weak_from_this());
  call_->start(*of_.invoker_, std::move(invocation), of_.stop_.get_token());
  return Next::when_woken();
}

engine::Task::Next Destinations::Puts::failed(std::string_view) {
  call_.reset();
  return put_again();
}

engine::Task::Next Destinations::Puts::put_again() {
  of_.give_back(batch_);
  rest_until_ = of_.scheduler_->now() + wait_;
  wait_ = std::min(wait_ * 2, retry_wait_max);
  return Next::at(*rest_until_);
}

outbound::Invocation Destinations::Puts::request() const {
  const Waiting& first = batch_.front();
  const engine::Table& table = *first.table;
  outbound::Invocation invocation{
      .url = *of_.endpoint_,
      .headers = headers_for(table.account, table.region, of_.database_.accounts().of(table.account).now()),
      .content_type = "application/x-amz-json-1.1"};
  json::Writer out(invocation.body);
  out.begin_object();
  out.key("StreamARN");
  out.string(first.stream_arn);
  out.key("StreamName");
  out.string(first.stream_arn.substr(first.stream_arn.rfind('/') + 1));
  out.key("Records");
  out.begin_array();
  for (const Waiting& record : batch_) {
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
  return invocation;
}

void Destinations::Puts::drop_taken(const outbound::Invoker::Answer& answer) {
  const auto body = answer && answer->status < 300 ? json::parse(answer->body) : nullptr;
  if (body == nullptr) return;  // no record was accepted
  const json::Value* records = body->root().member("Records");
  const std::size_t answered = records == nullptr ? 0 : std::min(batch_.size(), records->items().size());
  std::size_t left = 0;
  for (std::size_t place = 0; place < answered; ++place) {
    if (records->items()[place].member("ErrorCode") == nullptr) continue;
    if (left != place) batch_[left] = std::move(batch_[place]);
    ++left;
  }
  batch_.erase(batch_.begin() + static_cast<std::ptrdiff_t>(left), batch_.end());
}

}  // namespace mayfly::compat::kinesis
