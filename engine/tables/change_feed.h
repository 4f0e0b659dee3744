// Tells subscribers about committed changes, in commit order, once the changes can be read.
//
// The feed reports every item write in every table, with the item before and after it, whether or not the
// table has a stream. A subscription receives every commit that begins after subscribe() has returned, and no
// commit that ended before the call to subscribe(). Without listeners, a commit only checks that the list of
// listeners is empty.
//
//   auto subscription = feed.subscribe(
//       [&](const Change& change) { work_to_do.notify(change.table->id); });
//
// A listener runs on the committing thread, inside the commit section. It should only record what it needs
// and wake another thread. It must not write, subscribe or end a subscription, and everything in a Change
// becomes invalid when the listener returns. A listener that needs the change later calls kept(), which
// copies the bytes, and reads the copy outside the commit section. Code that decodes or prints a change
// asserts that telling() is false.
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
  const std::shared_ptr<const Table>& table;  // the description that the write used
  ChangeRecord::Kind kind;
  Cause cause;
  Instant at;                           // the time of the write, by the account's clock
  std::string_view key;                 // encoded by key_codec
  std::string_view old_item, new_item;  // encoded by item_codec; empty if there is no item
  std::optional<Sequence> sequence;     // the stream record's number, if there is a record
  ShardNumber shard;                    // the shard of that record
  // Cache for kept().
  mutable std::shared_ptr<const KeptChange> copy = nullptr;

  // Returns the item's key attributes.
  [[nodiscard]] Item keys() const;
  // Returns a copy that stays valid. All listeners that call this share one copy.
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
  // A subscription ends when this object is destroyed or end() is called. After that, the listener is not
  // running and is not called again.
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
  // Calls `visit` while no commit is in progress: at that time, listeners have received all changes that can
  // be read.
  template <class Visit>
  void between_commits(Visit visit) {
    const Lock lock(commits_);
    visit();
  }

  // Waits for a commit in progress and returns the number of the last record that can be read. Every listener
  // has then received all records up to this one.
  [[nodiscard]] Sequence told() {
    const Lock lock(commits_);
    return watermark_.published();
  }

  // Requires: the caller holds `commits`. (The thread safety analysis cannot see that the mutex that the
  // caller holds is `commits`.)
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

// A transaction, as a source of changes. The committer calls it to pass the changes to the feed after they
// are committed.
class ChangeSource {
 public:
  virtual ~ChangeSource() = default;
  virtual void tell(ChangeFeed& feed, Instant at) const = 0;
};

}  // namespace mayfly::engine
