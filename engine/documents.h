// Small named documents that the floors above keep beside the items: event source mappings, and how far they are.
//
// What is in them is their owner's business. An account's documents lie together, so that what resets, saves or
// restores an account finds them. Written as durably as items; several may be written together.
//
//   documents.put({"000000000000", "function", "reminder"}, R"({"url":"http://127.0.0.1:9000/"})");
//   for (const Document& document : documents.list("function")) …
//
//   'D' account 0x00 kind 0x00 name          bytes; none of the three has a byte 0
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/guarded_by.h"
#include "engine/storage.h"

namespace mayfly::engine {

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
  explicit Documents(Storage& storage) : storage_(storage) {}

  [[nodiscard]] std::optional<std::string> get(const DocumentName& name) const;
  void put(const DocumentName& name, std::string_view bytes);
  void erase(const DocumentName& name);
  // Erases and puts, in this order, all or none.
  void write(const std::vector<DocumentName>& erased, const std::vector<Document>& put);

  // Documents of this kind are part of their account's state: a snapshot has them, a restore brings them back and
  // erases those that the snapshot had not. Said before the first snapshot is taken or brought back.
  void keep_with_snapshots(std::string kind);

  // By account and name; of all accounts, or of one whose names begin with `prefix`.
  [[nodiscard]] std::vector<Document> list(std::string_view kind) const;
  [[nodiscard]] std::vector<Document> list(std::string_view account, std::string_view kind,
                                           std::string_view prefix = {}) const;

  // --- for snapshots.h: `name` is the key without this prefix.
  static std::string prefix(std::string_view account);
  using Visit = std::function<void(std::string_view name, std::string_view bytes)>;
  void each_kept_with_snapshots(std::string_view account, const Visit& visit) const;
  // Pairs of keys and bytes, for what there is of these kinds.
  void stage_restoring(Batch& batch, std::string_view account,
                       const std::vector<std::pair<std::string, std::string>>& kept) const;

 private:
  Storage& storage_;
  mutable std::mutex mutex_;
  std::vector<std::string> kept_kinds_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::engine
