// The committed changes that readers of GET /_mayfly/events have not received yet, stored once for all
// readers.
//
// A change that at least one reader wants is copied once when it commits. The first reader that reaches the
// change renders its text, and the other readers send the same text.
//
// Memory is limited to held_bytes_max in total. Above that limit, the oldest change is dropped. A reader that
// had not begun to send that change is told how many changes it lost. If a reader was in the middle of
// sending that change, its stream ends. Slow readers do not cause losses for readers that keep up.
//
//   auto reader = live_changes.follow({.scope = scope, .table = "carts"});
//   while (reader->next(piece, stop)) send(std::exchange(piece, {}));
//
// Thread-safe, but each reader is used by one thread at a time. While there are no readers, there is no
// listener on the change feed.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "engine/base/mutex.h"
#include "engine/database.h"
#include "engine/tables/catalog.h"
#include "engine/tables/change_feed.h"

namespace mayfly::compat {

class LiveChanges {
 public:
  static constexpr std::size_t held_bytes_max = 32 * 1024 * 1024;
  static constexpr std::size_t piece_bytes_max = 64 * 1024;

  struct Filter {
    engine::Scope scope;
    std::optional<std::string> table;
    std::optional<engine::ChangeRecord::Kind> kind;
    std::optional<engine::Cause> cause;
  };

 private:
  // A change or, once a reader has rendered it, its text.
  struct Held {
    std::shared_ptr<const engine::Table> table;
    engine::ChangeRecord::Kind kind;
    engine::Cause cause;
    std::shared_ptr<const engine::KeptChange> change;
    std::string text;
    std::size_t bytes = 0;    // its share of held_bytes_
    std::size_t readers = 0;  // number of readers that have not taken the whole change
  };
  using Changes = std::list<std::shared_ptr<Held>>;
  struct Follower {
    Filter filter;
    Changes::iterator first{};  // first change this reader waits for; valid while waiting > 0
    std::size_t waiting = 0;    // number of changes
    std::size_t taken = 0;      // bytes of the first change's text that were taken
    std::int64_t dropped = 0;   // number of changes not yet reported as lost
    bool cut = false;           // a change was dropped after this reader had taken a part of it
    std::condition_variable_any came{};
  };
  using Followers = std::list<Follower>;

 public:
  // Receives each commit that begins after the reader was created.
  class Reader {
   public:
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    // Waits for changes and appends their text to `piece`, at most piece_bytes_max bytes plus a few lines.
    // Long text is returned in parts. Appends a comment if nothing arrives for a while. Returns false if the
    // stream has ended. Returns soon after `stop` is requested.
    bool next(std::string& piece, const std::stop_token& stop);

   private:
    friend class LiveChanges;
    Reader(LiveChanges& changes, Followers::iterator follower) : changes_(changes), follower_(follower) {}
    LiveChanges& changes_;
    const Followers::iterator follower_;
  };

  // Requires: `database` outlives this object, and this object outlives its readers.
  explicit LiveChanges(engine::Database& database) : database_(database) {}

  [[nodiscard]] std::unique_ptr<Reader> follow(Filter filter);
  // Returns the total size in bytes of all waiting changes, including their text and the list nodes.
  [[nodiscard]] std::size_t held_bytes() const;

 private:
  void note(const engine::Change& change);
  bool next(Follower& follower, std::string& piece, const std::stop_token& stop);
  void leave(Followers::iterator follower);
  // Renders the change's text, unless another reader has already rendered it or the change was dropped.
  void make_text(const std::shared_ptr<Held>& held);
  void drop_oldest() REQUIRES(mutex_);                   // drops changes while the memory limit is exceeded
  void pass_first(Follower& follower) REQUIRES(mutex_);  // advances to the next change the reader waits for
  void count(Held& held, std::size_t bytes) REQUIRES(mutex_);

  engine::Database& database_;
  engine::Mutex joining_;  // acquired before the feed's lock, and never by a listener
  engine::ChangeFeed::Subscription subscription_ GUARDED_BY(joining_);  // active while there are followers
  engine::Mutex making_text_;  // serializes make_text(), because the trees that it builds are large
  mutable engine::Mutex mutex_;
  Changes changes_ GUARDED_BY(mutex_);  // oldest first; each has at least one reader
  Followers followers_ GUARDED_BY(mutex_);
  std::size_t held_bytes_ GUARDED_BY(mutex_) = 0;
};

}  // namespace mayfly::compat
