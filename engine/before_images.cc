#include "engine/before_images.h"

#include <optional>
#include <string>

#include "engine/key_codec.h"
#include "engine/key_space.h"

namespace mayfly::engine {
namespace {

constexpr char absent = 0, present = 1;

std::string log_key(ImageLog log, std::string_view key) { return table_prefix('B', log).append(key); }

std::optional<std::string_view> value_in(std::string_view image) {
  return image[0] == present ? std::optional(image.substr(1)) : std::nullopt;
}

// Whether the snapshot has a say in the key, as far as its kind tells.
bool is_kept(std::string_view key, const ImageKeeper& keeper) {
  switch (key.front()) {
    case 'I':
    case 'X': return true;
    case 'S': return record_sequence(key) <= keeper.sequence;
    default: return false;
  }
}

}  // namespace

std::string BeforeImages::prefix(ImageLog log) { return table_prefix('B', log); }

void BeforeImages::put(Batch& batch, ImageLog log, std::string_view key, const std::optional<std::string_view>& value) {
  std::string image(1, value ? present : absent);
  if (value) image.append(*value);
  batch.put(log_key(log, key), image);
}

void BeforeImages::erase(Batch& batch, ImageLog log, std::string_view key) { batch.erase(log_key(log, key)); }

void BeforeImages::stage(Batch& batch, const ImageKeeper& keeper) const {
  if (keeper.log == 0) return;
  Batch images;
  std::string value;
  const auto keep = [&](std::string_view key, const std::optional<std::string_view>& known) {
    std::string unused;
    if (storage_.get(log_key(keeper.log, key), unused)) return;
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
  const std::string begin = prefix(log);
  Storage::Iterator iterator(storage_, begin, prefix_end(begin));
  for (iterator.seek_to_first(); iterator.valid(); iterator.next())
    visit(iterator.key().substr(begin.size()), value_in(iterator.value()));
}

std::optional<std::optional<std::string>> BeforeImages::find(ImageLog log, std::string_view key) const {
  std::string image;
  if (!storage_.get(log_key(log, key), image)) return std::nullopt;
  const auto value = value_in(image);
  return std::optional<std::optional<std::string>>(value ? std::optional(std::string(*value)) : std::nullopt);
}

}  // namespace mayfly::engine
