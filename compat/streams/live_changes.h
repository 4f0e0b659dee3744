// The committed changes that readers of GET /_mayfly/events have not taken yet, kept once for all readers.
//
// A change that any reader wants is copied once when it commits, and its text is made once, by the first
// reader that comes to it; the others send the same text. All of it together is bounded (held_bytes_max):
// when there is more, the oldest change is dropped. A reader that had not begun to take it is told how many
// it lost; the stream of a reader that was in the middle of it ends. So readers that keep up lose nothing to
// those that do not.
//
//   auto reader = live_changes.follow({.scope = scope, .table = "carts"});
//   while (reader->next(piece, stop)) send(std::exchange(piece, {}));
//
// Thread-safe; each reader is used by one thread at a time. Without readers, the change feed has no
// listener.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "engine/catalog.h"
#include "engine/change_feed.h"
#include "engine/database.h"
#include "engine/mutex.h"

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
  // A change, until its text is made; then its text.
  struct Held {
    std::shared_ptr<const engine::Table> table;
    engine::ChangeRecord::Kind kind;
    engine::Cause cause;
    std::shared_ptr<const engine::KeptChange> change;
    std::string text;
    std::size_t bytes = 0;    // its share of held_bytes_
    std::size_t readers = 0;  // that have not taken all of it
  };
  using Changes = std::list<std::shared_ptr<Held>>;
  struct Follower {
    Filter filter;
    Changes::iterator first{};  // of those that wait for it; valid while waiting > 0
    std::size_t waiting = 0;    // changes
    std::size_t taken = 0;      // bytes of the first one's text
    std::int64_t dropped = 0;   // changes, and not yet told
    bool cut = false;           // a change was dropped of which it had taken a part
    std::condition_variable_any came{};
  };
  using Followers = std::list<Follower>;

 public:
  // Hears of each commit that begins after it was made.
  class Reader {
   public:
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    // Waits for changes and appends their text, or a part of it: up to piece_bytes_max and a few lines. A
    // comment if none come for a while. False: the stream has ended. Returns soon after `stop` is requested.
    bool next(std::string& piece, const std::stop_token& stop);

   private:
    friend class LiveChanges;
    Reader(LiveChanges& changes, Followers::iterator follower) : changes_(changes), follower_(follower) {}
    LiveChanges& changes_;
    const Followers::iterator follower_;
  };

  // `database` outlives it, as it does its readers.
  explicit LiveChanges(engine::Database& database) : database_(database) {}

  [[nodiscard]] std::unique_ptr<Reader> follow(Filter filter);
  // Bytes of all changes that wait, of their texts, and of the nodes that keep them.
  [[nodiscard]] std::size_t held_bytes() const;

 private:
  void note(const engine::Change& change);
  bool next(Follower& follower, std::string& piece, const std::stop_token& stop);
  void leave(Followers::iterator follower);
  // Makes its text, unless another reader has or it was dropped.
  void make_text(const std::shared_ptr<Held>& held);
  void drop_oldest() REQUIRES(mutex_);                   // while there are too many bytes
  void pass_first(Follower& follower) REQUIRES(mutex_);  // on to the next change that it waits for
  void count(Held& held, std::size_t bytes) REQUIRES(mutex_);

  engine::Database& database_;
  engine::Mutex joining_;  // taken before the feed's lock; no listener takes it
  engine::ChangeFeed::Subscription subscription_ GUARDED_BY(joining_);  // while there are followers
  engine::Mutex making_text_;  // one text at a time: the trees that it is made of are large
  mutable engine::Mutex mutex_;
  Changes changes_ GUARDED_BY(mutex_);  // by age; each is waited for
  Followers followers_ GUARDED_BY(mutex_);
  std::size_t held_bytes_ GUARDED_BY(mutex_) = 0;
};

}  // namespace mayfly::compat
