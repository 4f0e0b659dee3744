#include "engine/schema/stream_directory.h"

#include <iterator>
#include <utility>

namespace mayfly::engine {

namespace {

std::tuple<std::string_view, std::string_view, std::string_view, std::string_view> name_of(
    const Stream& stream) {
  return {stream.account, stream.region, stream.table_name, stream.label};
}

}  // namespace

void StreamDirectory::put(Stream stream) {
  const auto shared = std::make_shared<const Stream>(std::move(stream));
  by_name_[Name(name_of(*shared))] = shared->id;
  by_id_[shared->id] = shared;
}

void StreamDirectory::erase(StreamId id) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return;
  // A restored stream has the same name as the stream that it replaces, so the name may already refer to
  // another stream.
  const auto named = by_name_.find(name_of(*found->second));
  if (named != by_name_.end() && named->second == id) by_name_.erase(named);
  by_id_.erase(found);
}

const Stream* StreamDirectory::find(StreamId id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second.get();
}

std::shared_ptr<const Stream> StreamDirectory::share(StreamId id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

const Stream* StreamDirectory::find(std::string_view account, std::string_view region,
                                    std::string_view table_name, std::string_view label) const {
  const auto found = by_name_.find(std::tuple(account, region, table_name, label));
  return found == by_name_.end() ? nullptr : find(found->second);
}

const Stream* StreamDirectory::last_of(std::string_view account, std::string_view region,
                                       std::string_view table_name) const {
  // "~" sorts after all labels, which begin with a digit.
  auto after = by_name_.lower_bound(std::tuple(account, region, table_name, std::string_view("~")));
  if (after == by_name_.begin()) return nullptr;
  const Stream* stream = find(std::prev(after)->second);
  const bool is_of_table =
      stream->account == account && stream->region == region && stream->table_name == table_name;
  return is_of_table ? stream : nullptr;
}

bool StreamDirectory::has(std::string_view account) const {
  const std::string_view first;
  const auto found = by_name_.lower_bound(std::tuple(account, first, first, first));
  return found != by_name_.end() && std::get<0>(found->first) == account;
}

std::vector<Stream> StreamDirectory::all() const {
  std::vector<Stream> streams;
  streams.reserve(by_id_.size());
  for (const auto& [id, stream] : by_id_) streams.push_back(*stream);
  return streams;
}

std::vector<Stream> StreamDirectory::of(std::string_view account,
                                        std::optional<std::string_view> region) const {
  std::vector<Stream> streams;
  for (auto each = by_name_.lower_bound(
           std::tuple(account, region.value_or(""), std::string_view(), std::string_view()));
       each != by_name_.end(); ++each) {
    const Stream& stream = *find(each->second);
    if (stream.account != account || (region && stream.region != *region)) break;
    streams.push_back(stream);
  }
  return streams;
}

}  // namespace mayfly::engine
