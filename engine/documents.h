// Small named documents that the floors above keep beside the items: event source mappings, and how far they
// are.
//
// What is in them is their owner's business. An account's documents lie together, so that what resets, saves
// or restores an account finds them. Written as durably as items; several may be written together.
//
// A kind whose name begins with '@' is of the account's state: snapshots keep its documents, a restore puts
// those that were kept in their place, a reset erases them, and whoever keeps them in memory is told. Other
// kinds stay as they are.
//
//   documents.put({"000000000000", "function", "reminder"}, R"({"url":"http://127.0.0.1:9000/"})");
//   for (const Document& document : documents.list("function")) …
//
//   'D' account 0x00 kind 0x00 name          bytes; none of the three has a byte 0
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/attempt.h"

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
  // What the keys of an account's state begin with, and no others.
  static std::string state_prefix(std::string_view account);

  // Whether a key of kind 'D' names a document.
  static bool is_key(std::string_view key);

  // Told of an account whose state a restore or a reset has replaced: before any request sees the new state,
  // for none of the account is being answered (Database::begin_request). It may read and write documents.
  using Listener = std::function<void(std::string_view account)>;

  explicit Documents(Storage& storage) : storage_(storage) {}

  // From now on; an empty one is told nothing. Each `owner` has one. Requires: no account is being replaced.
  void listen(const void* owner, Listener listener);
  // Tells them, those who came first before the others. Where one fails all are told, and then the first
  // fault is thrown. Requires: the caller holds the account's requests alone.
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
  // Erases and puts, in this order, all or none.
  void write(const std::vector<DocumentName>& erased, const std::vector<Document>& put);
  // For who writes one together with something else.
  static void stage(Batch& batch, const Document& document);

  // By account and name; of all accounts, or of one whose names begin with `prefix`.
  [[nodiscard]] std::vector<Document> list(std::string_view kind) const;
  [[nodiscard]] std::vector<Document> list(std::string_view account, std::string_view kind,
                                           std::string_view prefix = {}) const;

 private:
  Storage& storage_;
  std::vector<std::pair<const void*, Listener>> listeners_;
};

}  // namespace mayfly::engine
