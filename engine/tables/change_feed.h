// Tells subscribers about committed changes, in commit order, after they can be read.
//
// The feed reports every item write in every table, with the item before and after it, whether or not the
// table has a stream. A subscription receives each commit that begins after subscribe() has returned, and
// none that ended before. Without listeners, a commit pays only for checking whether a list is empty.
//
//   auto subscription = feed.subscribe(
//       [&](const Change& change) { work_to_do.notify(change.table->id); });
//
// A listener runs on the committing thread, inside the commit section. It should only take a note and wake
// another thread. It must not write, subscribe or end a subscription, and everything in a Change becomes
// invalid when the listener returns. A listener that needs the change for longer takes kept(), a copy of the
// bytes, and reads it outside the commit section. Code that decodes or prints a change asserts that its
// thread is not telling().
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/mutex.h"
#include "engine/base/watermark.h"
#include "engine/schema/table.h"
#include "engine/tables/change_log.h"

namespace mayfly::engine {

struct KeptChange;

struct Change {
  const std::shared_ptr<const Table>& table;  // as the write saw it
  ChangeRecord::Kind kind;
  Cause cause;
  Instant at;                           // by the account's clock
  std::string_view key;                 // encoded by key_codec
  std::string_view old_item, new_item;  // item_codec's bytes; empty: absent
  std::optional<Sequence> sequence;     // of the record in the table's stream, if it has one
  ShardNumber shard;                    // of that record
  // Cache for kept().
  mutable std::shared_ptr<const KeptChange> copy = nullptr;

  // The item's key attributes.
  [[nodiscard]] Item keys() const;
  // A copy that stays valid, shared by all listeners that need one.
  [[nodiscard]] std::shared_ptr<const KeptChange> kept() const;
};

// A change that stays valid after the listener returns.
struct KeptChange {
  explicit KeptChange(const Change& change)
      : table(change.table),
        kind(change.kind),
        cause(change.cause),
        at(change.at),
        key(change.key),
        old_item(change.old_item),
        new_item(change.new_item),
        sequence(change.sequence),
        shard(change.shard) {}
  [[nodiscard]] Change change() const {  // valid as long as this object
    return {table, kind, cause, at, key, old_item, new_item, sequence, shard};
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_of(change()); }
  static std::size_t bytes_of(const Change& change) {
    return sizeof(KeptChange) + change.key.size() + change.old_item.size() + change.new_item.size();
  }

  std::shared_ptr<const Table> table;
  ChangeRecord::Kind kind;
  Cause cause;
  Instant at;
  std::string key, old_item, new_item;
  std::optional<Sequence> sequence;
  ShardNumber shard;
};

class ChangeSource;

class ChangeFeed {
 public:
  using Listener = std::function<void(const Change&)>;

 private:
  using Listeners = std::list<Listener>;

 public:
  // Ends when the object is destroyed. After the end, no call of the listener is in progress, and none
  // follows.
  class Subscription {
   public:
    Subscription() = default;
    Subscription(Subscription&& other) noexcept;
    Subscription& operator=(Subscription&& other) noexcept;
    ~Subscription() { end(); }
    void end();
    explicit operator bool() const { return feed_ != nullptr; }

   private:
    friend class ChangeFeed;
    Subscription(ChangeFeed& feed, Listeners::iterator listener) : feed_(&feed), listener_(listener) {}
    ChangeFeed* feed_ = nullptr;
    Listeners::iterator listener_;
  };

  // `commits` is the mutex that is held to commit and to publish.
  ChangeFeed(Mutex& commits, const Watermark& watermark) : commits_(commits), watermark_(watermark) {}

  [[nodiscard]] Subscription subscribe(Listener listener);
  // Calls `visit` while no commit is in progress: listeners have received all changes that can be read by
  // then.
  template <class Visit>
  void between_commits(Visit visit) {
    const Lock lock(commits_);
    visit();
  }

  // Returns the last readable record after every listener has received all records up to it. Waits for a
  // commit in progress.
  [[nodiscard]] Sequence told() {
    const Lock lock(commits_);
    return watermark_.published();
  }

  // Requires: the caller holds `commits`. (The analysis cannot see that the mutex it holds is `commits`.)
  [[nodiscard]] bool listened() const NO_THREAD_SAFETY_ANALYSIS { return !listeners_.empty(); }
  void tell(const ChangeSource& transaction, Instant at) NO_THREAD_SAFETY_ANALYSIS;
  void tell(const Change& change) noexcept NO_THREAD_SAFETY_ANALYSIS;
  // For listeners: the number of the transaction whose change they are receiving. Later transactions have
  // larger numbers.
  [[nodiscard]] std::uint64_t commit() const NO_THREAD_SAFETY_ANALYSIS { return commit_; }
  // Whether this thread is calling listeners. If so, it holds `commits`, and all commits wait for it.
  [[nodiscard]] static bool telling();

 private:
  Mutex& commits_;
  const Watermark& watermark_;
  Listeners listeners_ GUARDED_BY(commits_);
  std::uint64_t commit_ GUARDED_BY(commits_) = 0;
};

// The changes of a transaction, which the committer passes to the feed once they are committed.
class ChangeSource {
 public:
  virtual ~ChangeSource() = default;
  virtual void tell(ChangeFeed& feed, Instant at) const = 0;
};

}  // namespace mayfly::engine
