#include "engine/documents.h"

#include "engine/key_codec.h"
#include "engine/key_space.h"

namespace mayfly::engine {
namespace {

std::string kind_prefix(std::string_view account, std::string_view kind) {
  return Documents::prefix(account).append(kind) + '\0';
}

std::string key_of(const DocumentName& name) { return kind_prefix(name.account, name.kind) + name.name; }

DocumentName name_of(std::string_view key) {
  key.remove_prefix(1);
  const auto account_end = key.find('\0'), kind_end = key.find('\0', account_end + 1);
  return {std::string(key.substr(0, account_end)),
          std::string(key.substr(account_end + 1, kind_end - account_end - 1)),
          std::string(key.substr(kind_end + 1))};
}

std::vector<Document> read(const Storage& storage, std::string_view prefix, std::string_view kind) {
  std::vector<Document> documents;
  Storage::Iterator iterator(storage, prefix, prefix_end(prefix));
  for (iterator.seek_to_first(); iterator.valid(); iterator.next()) {
    DocumentName name = name_of(iterator.key());
    if (name.kind == kind) documents.push_back({std::move(name), std::string(iterator.value())});
  }
  return documents;
}

}  // namespace

std::optional<std::string> Documents::get(const DocumentName& name) const {
  std::string bytes;
  if (!storage_.get(key_of(name), bytes)) return std::nullopt;
  return bytes;
}

void Documents::put(const DocumentName& name, std::string_view bytes) {
  Batch batch;
  batch.put(key_of(name), bytes);
  storage_.write(batch);
}

void Documents::erase(const DocumentName& name) {
  Batch batch;
  batch.erase(key_of(name));
  storage_.write(batch);
}

void Documents::write(const std::vector<DocumentName>& erased, const std::vector<Document>& put) {
  Batch batch;
  for (const DocumentName& name : erased) batch.erase(key_of(name));
  for (const Document& document : put) batch.put(key_of(document.name), document.bytes);
  if (!batch.empty()) storage_.write(batch);
}

// --- snapshots

std::string Documents::prefix(std::string_view account) { return "D" + std::string(account) + '\0'; }

void Documents::keep_with_snapshots(std::string kind) {
  const std::lock_guard lock(mutex_);
  kept_kinds_.push_back(std::move(kind));
}

void Documents::each_kept_with_snapshots(std::string_view account, const Visit& visit) const {
  std::vector<std::string> kinds;
  {
    const std::lock_guard lock(mutex_);
    kinds = kept_kinds_;
  }
  const std::size_t account_bytes = prefix(account).size();
  for (const std::string& kind : kinds) {
    const std::string begin = kind_prefix(account, kind);
    Storage::Iterator iterator(storage_, begin, prefix_end(begin));
    for (iterator.seek_to_first(); iterator.valid(); iterator.next())
      visit(iterator.key().substr(account_bytes), iterator.value());
  }
}

void Documents::stage_restoring(Batch& batch, std::string_view account,
                                const std::vector<std::pair<std::string, std::string>>& kept) const {
  each_kept_with_snapshots(account, [&](std::string_view name, std::string_view) {
    batch.erase(prefix(account).append(name));
  });
  for (const auto& [key, bytes] : kept) batch.put(key, bytes);
}

// --- listing

std::vector<Document> Documents::list(std::string_view kind) const { return read(storage_, "D", kind); }

std::vector<Document> Documents::list(std::string_view account, std::string_view kind, std::string_view prefix) const {
  return read(storage_, kind_prefix(account, kind).append(prefix), kind);
}

}  // namespace mayfly::engine
