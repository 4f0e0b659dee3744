#include "engine/storage/documents.h"

#include "engine/storage/key_space.h"
#include "engine/storage/storage.h"
#include "engine/values/account_id.h"
#include "engine/values/key_codec.h"

namespace mayfly::engine {
namespace {

std::string account_prefix(std::string_view account) { return "D" + std::string(account) + '\0'; }

std::string kind_prefix(std::string_view account, std::string_view kind) {
  return account_prefix(account).append(kind) + '\0';
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

std::string Documents::state_prefix(std::string_view account) { return account_prefix(account) + '@'; }

bool Documents::is_key(std::string_view key) {
  const auto account_end = key.find('\0');
  if (account_end == std::string_view::npos || !is_account_id(key.substr(1, account_end - 1))) return false;
  const auto kind_end = key.find('\0', account_end + 1);
  return kind_end != std::string_view::npos && kind_end > account_end + 1 &&
         key.find('\0', kind_end + 1) == std::string_view::npos;
}

void Documents::listen(const void* owner, Listener listener) {
  std::erase_if(listeners_, [&](const auto& one) { return one.first == owner; });
  if (listener) listeners_.emplace_back(owner, std::move(listener));
}

std::optional<std::string> Documents::get(const DocumentName& name) const {
  std::string bytes;
  if (!storage_.get(key_of(name), bytes)) return std::nullopt;
  return bytes;
}

void Documents::put(const DocumentName& name, std::string_view bytes) {
  write({}, {{name, std::string(bytes)}});
}

void Documents::erase(const DocumentName& name) {
  Batch batch;
  batch.erase(key_of(name));
  storage_.write(batch);
}

void Documents::stage(Batch& batch, const Document& document) {
  batch.put(key_of(document.name), document.bytes);
}

void Documents::write(const std::vector<DocumentName>& erased, const std::vector<Document>& put) {
  Batch batch;
  for (const DocumentName& name : erased) batch.erase(key_of(name));
  for (const Document& document : put) stage(batch, document);
  if (!batch.empty()) storage_.write(batch);
}

std::vector<Document> Documents::list(std::string_view kind) const { return read(storage_, "D", kind); }

std::vector<Document> Documents::list(std::string_view account, std::string_view kind,
                                      std::string_view prefix) const {
  return read(storage_, kind_prefix(account, kind).append(prefix), kind);
}

}  // namespace mayfly::engine
