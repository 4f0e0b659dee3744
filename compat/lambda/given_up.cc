#include "compat/lambda/given_up.h"

#include <algorithm>

#include "compat/json/json.h"

namespace mayfly::compat::triggers {
namespace {

GivenUp::Record shown_record(const Record& record) {
  GivenUp::Record shown{record.number, {}, "{}"};
  const auto document = json::parse(record.json);
  if (document == nullptr) return shown;
  if (const json::Value* event = document->root().member("eventName")) shown.event = event->string();
  const json::Value* change = document->root().member("dynamodb");
  const json::Value* keys = change == nullptr ? nullptr : change->member("Keys");
  if (keys != nullptr) {
    shown.key.clear();
    json::Writer out(shown.key);
    out.value(*keys);
  }
  return shown;
}

std::size_t bytes_of(const GivenUp& batch) {
  std::size_t bytes = sizeof batch + batch.function.size() + batch.condition.size() +
                      batch.destination.size() + batch.error.error.size() + batch.error.type.size() +
                      batch.error.message.size();
  for (const GivenUp::Record& record : batch.records)
    bytes += sizeof record + record.number.size() + record.event.size() + record.key.size();
  return bytes;
}

}  // namespace

std::pair<std::vector<GivenUp::Record>, std::size_t> shown_records(std::span<const Record> batch) {
  std::vector<GivenUp::Record> shown;
  std::size_t bytes = 0;
  for (const Record& record : batch.first(std::min(batch.size(), given_up_records_max))) {
    GivenUp::Record next = shown_record(record);
    bytes += next.key.size();
    if (!shown.empty() && bytes > given_up_record_bytes_max) break;
    shown.push_back(std::move(next));
  }
  const std::size_t left_out = batch.size() - shown.size();
  return {std::move(shown), left_out};
}

void GivenUpLog::add(GivenUp batch) {
  const std::size_t bytes = bytes_of(batch);
  const engine::Lock lock(mutex_);
  ++added_;
  bytes_ += bytes;
  kept_.push_back({std::move(batch), bytes});
  while (kept_.size() > batches_max || (bytes_ > bytes_max && kept_.size() > 1)) {
    bytes_ -= kept_.front().bytes;
    kept_.pop_front();
  }
}

GivenUpLog::Mark GivenUpLog::reported() const {
  const engine::Lock lock(mutex_);
  return reported_;
}

GivenUpLog::Found GivenUpLog::since(Mark mark) const {
  const engine::Lock lock(mutex_);
  const Mark after = std::max(mark, forgotten_);
  const auto wanted = static_cast<std::size_t>(added_ - std::min(after, added_));
  const std::size_t found = std::min(wanted, kept_.size());
  Found answer{{}, wanted - found, added_};
  for (auto one = kept_.end() - static_cast<std::ptrdiff_t>(found); one != kept_.end(); ++one)
    answer.batches.push_back(one->batch);
  return answer;
}

void GivenUpLog::set_reported(Mark end) {
  const engine::Lock lock(mutex_);
  reported_ = std::max(reported_, end);
}

void GivenUpLog::forget() {
  const engine::Lock lock(mutex_);
  kept_.clear();
  bytes_ = 0;
  forgotten_ = reported_ = added_;
}

}  // namespace mayfly::compat::triggers
