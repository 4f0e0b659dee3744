#include "compat/streams/live_changes.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "compat/json/json.h"
#include "compat/streams/arn_and_iterator.h"
#include "compat/streams/record.h"
#include "compat/streams/told_change.h"

namespace mayfly::compat {
namespace {

constexpr std::chrono::seconds quiet_max{15};

template <class Change>
bool fits(const LiveChanges::Filter& filter, const Change& change) {
  const engine::Table& table = *change.table;
  return table.account == filter.scope.account && table.region == filter.scope.region &&
         (!filter.table || table.name == *filter.table) && (!filter.kind || change.kind == *filter.kind) &&
         (!filter.cause || change.cause == *filter.cause);
}

std::string text_of(const engine::KeptChange& kept) {
  const ToldChange change = told(kept.change());
  std::string text;
  if (change.record.sequence != 0) text += "id: " + sequence_number(change.record.sequence) + "\n";
  text += "event: ";
  text += event_name(change.record.kind);
  text += "\ndata: ";
  json::Writer out(text);
  out.begin_object();
  out.key("table");
  out.string(change.table_name);
  out.key("record");
  write_stream_record(out, change.stream, change.record);
  out.end_object();
  text += "\n\n";
  text.shrink_to_fit();
  return text;
}

}  // namespace

LiveChanges::Reader::~Reader() { changes_.leave(follower_); }

bool LiveChanges::Reader::next(std::string& piece, const std::stop_token& stop) {
  return changes_.next(*follower_, piece, stop);
}

std::unique_ptr<LiveChanges::Reader> LiveChanges::follow(Filter filter) {
  Followers::iterator follower;
  {
    const engine::Lock lock(mutex_);
    follower = followers_.emplace(followers_.end());
    follower->filter = std::move(filter);
  }
  std::unique_ptr<Reader> reader(new Reader(*this, follower));  // from here on, ~Reader calls leave()
  const engine::Lock joining(joining_);
  if (!subscription_)
    subscription_ = database_.change_feed().subscribe([this](const engine::Change& change) { note(change); });
  return reader;
}

void LiveChanges::leave(Followers::iterator follower) {
  const engine::Lock joining(joining_);
  {
    const engine::Lock lock(mutex_);
    while (follower->waiting > 0) pass_first(*follower);
    followers_.erase(follower);
    if (!followers_.empty()) return;
  }
  subscription_.end();
}

std::size_t LiveChanges::held_bytes() const {
  const engine::Lock lock(mutex_);
  return held_bytes_;
}

void LiveChanges::count(Held& held, std::size_t bytes) {
  constexpr std::size_t overhead = sizeof(Held) + 128;  // list nodes and allocator headers
  held_bytes_ += bytes + overhead - held.bytes;
  held.bytes = bytes + overhead;
}

void LiveChanges::note(const engine::Change& change) {
  const engine::Lock lock(mutex_);
  const auto wanted = [&](const Follower& follower) {
    return !follower.cut && fits(follower.filter, change);
  };
  if (std::none_of(followers_.begin(), followers_.end(), wanted)) return;
  const auto held = std::make_shared<Held>(Held{.table = change.table,
                                                .kind = change.kind,
                                                .cause = change.cause,
                                                .change = change.kept(),
                                                .text = {}});
  const auto at = changes_.insert(changes_.end(), held);
  for (Follower& follower : followers_) {
    if (!wanted(follower)) continue;
    if (follower.waiting++ == 0) follower.first = at;
    ++held->readers;
    follower.came.notify_all();
  }
  count(*held, engine::KeptChange::bytes_of(change));
  drop_oldest();
}

void LiveChanges::drop_oldest() {
  while (held_bytes_ > held_bytes_max) {
    const auto oldest = changes_.begin();
    const std::shared_ptr<Held> held = *oldest;
    // Each reader gets its changes in order, so a reader that has not received the oldest change yet receives
    // that change next.
    for (Follower& follower : followers_) {
      if (held->readers == 0) break;
      if (follower.waiting == 0 || follower.first != oldest) continue;
      if (follower.taken > 0) {
        follower.cut = true;
        while (follower.waiting > 0) pass_first(follower);
      } else {
        ++follower.dropped;
        pass_first(follower);
      }
      follower.came.notify_all();
    }
  }
}

void LiveChanges::pass_first(Follower& follower) {
  const auto passed = follower.first;
  follower.taken = 0;
  if (--follower.waiting > 0) {
    do ++follower.first;
    while (!fits(follower.filter, **follower.first));
  }
  Held& held = **passed;
  if (--held.readers > 0) return;
  held_bytes_ -= held.bytes;
  changes_.erase(passed);
}

void LiveChanges::make_text(const std::shared_ptr<Held>& held) {
  const engine::Lock making(making_text_);
  std::shared_ptr<const engine::KeptChange> change;
  {
    const engine::Lock lock(mutex_);
    if (held->readers == 0 || !held->change) return;
    change = held->change;
  }
  std::string text = text_of(*change);
  const engine::Lock lock(mutex_);
  if (held->readers == 0) return;
  held->text = std::move(text);
  held->change.reset();
  count(*held, held->text.capacity());
  drop_oldest();
}

bool LiveChanges::next(Follower& follower, std::string& piece, const std::stop_token& stop) {
  engine::Lock lock(mutex_);
  const auto something = [&] { return follower.waiting > 0 || follower.dropped > 0 || follower.cut; };
  if (!follower.came.wait_for(lock, stop, quiet_max, something)) {
    piece += ": still here\n\n";
    return true;
  }
  const std::size_t bytes_max = piece.size() + piece_bytes_max;
  while (!follower.cut && something() && piece.size() < bytes_max) {
    if (follower.dropped > 0) {
      piece +=
          "event: gap\ndata: {\"dropped\":" + std::to_string(std::exchange(follower.dropped, 0)) + "}\n\n";
      continue;
    }
    const std::shared_ptr<Held> held = *follower.first;
    if (held->change) {
      lock.unlock();
      make_text(held);
      lock.lock();
      continue;
    }
    const std::string_view rest = std::string_view(held->text).substr(follower.taken);
    const std::string_view part = rest.substr(0, bytes_max - piece.size());
    piece += part;
    follower.taken += part.size();
    if (part.size() == rest.size()) pass_first(follower);
  }
  return !follower.cut;
}

}  // namespace mayfly::compat
