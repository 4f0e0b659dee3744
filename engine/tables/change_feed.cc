#include "engine/tables/change_feed.h"

#include <utility>

#include "engine/base/attempt.h"
#include "engine/base/thread_local.h"
#include "engine/schema/index_entries.h"
#include "engine/values/item_codec.h"

namespace mayfly::engine {

Item Change::keys() const {
  return key_attributes(table->keys, decode_item(new_item.empty() ? old_item : new_item));
}

std::shared_ptr<const KeptChange> Change::kept() const {
  if (!copy) copy = std::make_shared<const KeptChange>(*this);
  return copy;
}

namespace {
THREAD_LOCAL bool is_telling = false;
}  // namespace

ChangeFeed::Subscription::Subscription(Subscription&& other) noexcept
    : feed_(std::exchange(other.feed_, nullptr)), listener_(other.listener_) {}

ChangeFeed::Subscription& ChangeFeed::Subscription::operator=(Subscription&& other) noexcept {
  if (this == &other) return *this;
  end();
  feed_ = std::exchange(other.feed_, nullptr);
  listener_ = other.listener_;
  return *this;
}

void ChangeFeed::Subscription::end() {
  if (feed_ == nullptr) return;
  const Lock lock(feed_->commits_);
  feed_->listeners_.erase(listener_);
  feed_ = nullptr;
}

ChangeFeed::Subscription ChangeFeed::subscribe(Listener listener) {
  // No commit is in progress while the lock is held, so the listener receives the next commit completely.
  const Lock lock(commits_);
  return {*this, listeners_.insert(listeners_.end(), std::move(listener))};
}

bool ChangeFeed::telling() { return is_telling; }

void ChangeFeed::tell(const ChangeSource& transaction, Instant at) {
  ++commit_;
  transaction.tell(*this, at);
}

void ChangeFeed::tell(const Change& change) noexcept {
  is_telling = true;
  for (const Listener& listener : listeners_) {
    attempt([&] { listener(change); },
            [](std::string_view) {
              // The listener ran out of memory. The error is ignored, because the write is committed and the
              // client must be told so.
            });
  }
  is_telling = false;
}

}  // namespace mayfly::engine
