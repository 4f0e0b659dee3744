// Small named documents that the layers above store alongside the items, such as event source mappings and
// their progress.
//
// The engine does not interpret a document's bytes. The documents of an account have adjacent keys, so that a
// reset, a snapshot or a restore of the account finds them. Documents are as durable as items. Several
// documents can be written atomically.
//
// Documents whose kind begins with '@' belong to the account's state: snapshots keep them, a restore replaces
// them with those of the snapshot, a reset erases them, and listeners that keep them in memory are notified.
// Snapshots, restores and resets ignore documents of other kinds.
//
//   documents.put({"000000000000", "function", "reminder"}, R"({"url":"http://127.0.0.1:9000/"})");
//   for (const Document& document : documents.list("function")) …
//
//   'D' account 0x00 kind 0x00 name          bytes; none of the three names contains a zero byte
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/attempt.h"

namespace mayfly::engine {

class Batch;
class Storage;

struct DocumentName {
  std::string account, kind, name;
  friend bool operator==(const DocumentName&, const DocumentName&) = default;
};

struct Document {
  DocumentName name;
  std::string bytes;
};

class Documents {
 public:
  // The prefix of the keys of all documents that belong to the account's state. No other keys have this
  // prefix.
  static std::string state_prefix(std::string_view account);

  // Whether a key of kind 'D' is well-formed.
  static bool is_key(std::string_view key);

  // Called when a restore or a reset has replaced an account's state, before any request sees the new state
  // and while no request of the account is being served (Account::begin_request). The listener may read and
  // write documents.
  using Listener = std::function<void(std::string_view account)>;

  explicit Documents(Storage& storage) : storage_(storage) {}

  // Sets the listener of `owner`; an empty listener removes it. Requires: no account's state is
  // being replaced.
  void listen(const void* owner, Listener listener);
  // Notifies all listeners, in the order in which they were set. If a listener fails, the others are still
  // notified, and then the first fault is thrown.
  // Requires: the caller holds the account's requests exclusively.
  void replaced(std::string_view account) const {
    std::exception_ptr fault;
    for (const auto& [owner, listener] : listeners_) {
      attempt([&, &told = listener] { told(account); },
              [&](std::string_view) {
                if (!fault) fault = std::current_exception();
              });
    }
    if (fault) std::rethrow_exception(fault);
  }

  [[nodiscard]] std::optional<std::string> get(const DocumentName& name) const;
  void put(const DocumentName& name, std::string_view bytes);
  void erase(const DocumentName& name);
  // Erases the documents in `erased`, then writes those in `put`, all in one batch.
  void write(const std::vector<DocumentName>& erased, const std::vector<Document>& put);
  // Adds the document to a batch in which the caller also writes other data.
  static void stage(Batch& batch, const Document& document);

  // Both functions return the documents ordered by account and name. The second function lists the documents
  // of one account whose names begin with `prefix`.
  [[nodiscard]] std::vector<Document> list(std::string_view kind) const;
  [[nodiscard]] std::vector<Document> list(std::string_view account, std::string_view kind,
                                           std::string_view prefix = {}) const;

 private:
  Storage& storage_;
  std::vector<std::pair<const void*, Listener>> listeners_;
};

}  // namespace mayfly::engine
