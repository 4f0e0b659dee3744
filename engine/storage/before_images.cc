#include "engine/storage/before_images.h"

#include <optional>
#include <string>

#include "engine/storage/key_space.h"
#include "engine/values/key_codec.h"

namespace mayfly::engine {
namespace {

constexpr char absent = 0, present = 1;

// The approximate memory that a node of the map takes, including the overhead of its strings.
constexpr std::size_t node_bytes = 140;

std::int64_t held_bytes(std::string_view key, const BeforeImages::Value& value) {
  return static_cast<std::int64_t>(node_bytes + key.size() + (value ? value->size() : 0));
}

// Whether the snapshot may need an image of the key, judging by the key's kind and number.
bool is_kept(std::string_view key, const ImageKeeper& keeper) {
  switch (key.front()) {
    case 'I':
    case 'X':
    case 'W': return true;
    case 'S': return record_sequence(key) <= keeper.sequence;
    case 'O': return version_number(key) <= keeper.sequence;
    case 'Y':
    case 'F': return replica_sequence(key) <= keeper.sequence;
    default: return false;
  }
}

}  // namespace

std::string image_key(ImageLog log, std::string_view key) { return table_prefix('B', log).append(key); }

std::string image_bytes(const std::optional<std::string_view>& value) {
  std::string bytes(1, value ? present : absent);
  if (value) bytes.append(*value);
  return bytes;
}

bool is_image_of(std::string_view key) {
  if (key.empty()) return false;
  switch (key.front()) {
    case 'I': return key.size() > item_prefix_bytes;
    case 'X': return key.size() > 1 + sizeof(TableId);
    case 'S': return key.size() == record_key_bytes;
    case 'O': return is_version_key(key);
    case 'W':
    case 'Y':
    case 'F': return is_replica_key(key);
    default: return false;
  }
}

bool is_image(std::string_view bytes) {
  return !bytes.empty() && (bytes[0] == present || (bytes[0] == absent && bytes.size() == 1));
}

std::optional<std::string_view> image_value(std::string_view bytes) {
  return bytes[0] == present ? std::optional(bytes.substr(1)) : std::nullopt;
}

void BeforeImages::put(Batch& batch, ImageLog log, std::string_view key,
                       const std::optional<std::string_view>& value) {
  if (in_memory_) {
    const Lock lock(mutex_);
    const auto [image, is_new] =
        images_[log].try_emplace(std::string(key), value ? Value(std::string(*value)) : Value());
    if (is_new) storage_.hold(held_bytes(image->first, image->second));
    return;
  }
  batch.put(image_key(log, key), image_bytes(value));
}

void BeforeImages::stage(Batch& batch, const Erasure& erasure) const {
  if (in_memory_) return;
  for (const ImageLog log : erasure.logs) storage_.erase_prefix(batch, table_prefix('B', log));
  for (const auto& [log, key] : erasure.images) batch.erase(image_key(log, key));
}

void BeforeImages::written(const Erasure& erasure) {
  if (!in_memory_) return;
  const Lock lock(mutex_);
  std::int64_t bytes = 0;
  for (const ImageLog log : erasure.logs) {
    const auto images = images_.find(log);
    if (images == images_.end()) continue;
    for (const auto& [key, value] : images->second) bytes += held_bytes(key, value);
    images_.erase(images);
  }
  for (const auto& [log, key] : erasure.images) {
    Images& images = images_[log];
    const auto image = images.find(key);
    if (image == images.end()) continue;
    bytes += held_bytes(image->first, image->second);
    images.erase(image);
  }
  storage_.hold(-bytes);
}

void BeforeImages::stage(Batch& batch, const ImageKeeper& keeper) {
  if (keeper.log == 0) return;
  Batch images;
  std::string value;
  const auto has = [&](std::string_view key) {
    if (in_memory_) {
      const Lock lock(mutex_);
      return images_[keeper.log].count(key) > 0;
    }
    std::string unused;
    return storage_.get(image_key(keeper.log, key), unused);
  };
  const auto keep = [&](std::string_view key, const std::optional<std::string_view>& known) {
    if (has(key)) return;
    if (known) return put(images, keeper.log, key, known);
    const bool exists = storage_.get(key, value);
    put(images, keeper.log, key, exists ? std::optional<std::string_view>(value) : std::nullopt);
  };
  batch.for_each([&](Batch::Kind kind, std::string_view first, std::string_view second) {
    if (kind != Batch::Kind::erase_range) {
      if (is_kept(first, keeper)) keep(first, std::nullopt);
      return;
    }
    Storage::Iterator iterator(storage_, first, second);
    for (iterator.seek_to_first(); iterator.valid(); iterator.next())
      if (is_kept(iterator.key(), keeper)) keep(iterator.key(), iterator.value());
  });
  batch.append(images);
}

void BeforeImages::each(ImageLog log, const Visit& visit) const {
  if (in_memory_) {
    const Images* images = nullptr;
    {
      const Lock lock(mutex_);
      if (const auto found = images_.find(log); found != images_.end()) images = &found->second;
    }
    // The caller guarantees that no thread writes to the account during the walk, so the walk needs no lock.
    if (images)
      for (const auto& [key, value] : *images) visit(key, value);
    return;
  }
  const std::string begin = table_prefix('B', log);
  Storage::Iterator iterator(storage_, begin, prefix_end(begin));
  for (iterator.seek_to_first(); iterator.valid(); iterator.next())
    visit(iterator.key().substr(begin.size()), image_value(iterator.value()));
}

std::optional<BeforeImages::Value> BeforeImages::find(ImageLog log, std::string_view key) const {
  if (in_memory_) {
    const Lock lock(mutex_);
    const auto images = images_.find(log);
    if (images == images_.end()) return std::nullopt;
    const auto image = images->second.find(key);
    return image == images->second.end() ? std::nullopt : std::optional<Value>(image->second);
  }
  std::string image;
  if (!storage_.get(image_key(log, key), image)) return std::nullopt;
  const auto value = image_value(image);
  return std::optional<Value>(value ? Value(std::string(*value)) : Value());
}

}  // namespace mayfly::engine
