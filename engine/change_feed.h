// Tells committed changes to whoever listens, in commit order, after they can be read.
//
// Every item write of every table is told, whether the table has a stream or not, with the item before and
// after. A subscription hears each commit that begins after subscribe() returned and none that ended before.
// While nobody listens a commit pays for looking whether a list is empty.
//
//   auto subscription = database.subscribe(
//       [&](const Change& change) { work_to_do.notify(change.table->id); });
//
// A listener runs on the committing thread, inside the commit section: it takes a note and wakes somebody up.
// It neither writes nor subscribes nor ends a subscription, and everything in a Change goes when it returns.
// A listener that needs it longer takes kept(), bytes that are read outside: code that decodes or prints a
// change asserts that nobody is being told.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/change_log.h"
#include "engine/mutex.h"
#include "engine/table.h"

namespace mayfly::engine {

struct KeptChange;

struct Change {
  const std::shared_ptr<const Table>& table;  // as the write saw it
  ChangeRecord::Kind kind;
  Cause cause;
  Instant at;                           // by the account's clock
  std::string_view key;                 // key_codec's
  std::string_view old_item, new_item;  // item_codec's bytes; empty: there is none
  std::optional<Sequence> sequence;     // of the record in the table's stream, if it has one
  ShardNumber shard;                    // of that record
  // For kept().
  mutable std::shared_ptr<const KeptChange> copy = nullptr;

  // The item's key attributes.
  [[nodiscard]] Item keys() const;
  // One copy for all listeners that need it longer.
  [[nodiscard]] std::shared_ptr<const KeptChange> kept() const;
};

// A change that outlives its telling.
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
  [[nodiscard]] Change change() const {  // as long as this lives
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
  // Ends with the object: no call of the listener is under way then, and none follows.
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

  // `commits`: held by whoever commits and publishes.
  explicit ChangeFeed(Mutex& commits) : commits_(commits) {}

  [[nodiscard]] Subscription subscribe(Listener listener);
  // Calls `visit` while nobody commits: all that can be read by then has been told.
  template <class Visit>
  void between_commits(Visit visit) {
    const Lock lock(commits_);
    visit();
  }

  // Requires: the caller commits. (That its mutex is `commits`, the analysis cannot see.)
  [[nodiscard]] bool listened() const NO_THREAD_SAFETY_ANALYSIS { return !listeners_.empty(); }
  void tell(const ChangeSource& transaction, Instant at) NO_THREAD_SAFETY_ANALYSIS;
  void tell(const Change& change) noexcept NO_THREAD_SAFETY_ANALYSIS;
  // For listeners: the number of the transaction whose change they are told. Later ones have larger numbers.
  [[nodiscard]] std::uint64_t commit() const NO_THREAD_SAFETY_ANALYSIS { return commit_; }
  // Whether this thread is telling: it holds `commits`, and everybody waits for it.
  [[nodiscard]] static bool telling();

 private:
  Mutex& commits_;
  Listeners listeners_ GUARDED_BY(commits_);
  std::uint64_t commit_ GUARDED_BY(commits_) = 0;
};

// What a transaction will have changed, for the committer to tell.
class ChangeSource {
 public:
  virtual ~ChangeSource() = default;
  virtual void tell(ChangeFeed& feed, Instant at) const = 0;
};

}  // namespace mayfly::engine
