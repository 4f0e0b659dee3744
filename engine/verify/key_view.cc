#include "engine/verify/key_view.h"

#include <optional>

namespace mayfly::engine {

bool KeyView::get(std::string_view key, std::string& value) const {
  for (const ImageLog log : logs_) {
    std::string image;
    if (!storage_.get(image_key(log, key), image, &at_)) continue;
    const std::optional<std::string_view> then = is_image(image) ? image_value(image) : std::nullopt;
    if (then) value = *then;
    return then.has_value();
  }
  return storage_.get(key, value, &at_);
}

bool KeyView::has(std::string_view key) const {
  std::string unused;
  return get(key, unused);
}

std::vector<std::string> KeyView::holding(std::string_view key) const {
  if (!logs_.empty()) return {};
  return {std::string(key)};
}

void KeyView::put(Batch& batch, std::string_view key, std::string_view value) const {
  if (logs_.empty()) return batch.put(key, value);
  batch.put(image_key(logs_.front(), key), image_bytes(value));
}

void KeyView::erase(Batch& batch, std::string_view key) const {
  if (logs_.empty()) return batch.erase(key);
  batch.put(image_key(logs_.front(), key), image_bytes(std::nullopt));
}

KeyView::Walk::Walk(const KeyView& view, std::string_view lower, std::string_view upper) {
  const auto add = [&](const std::string& begin, const std::string& end, std::size_t prefix_bytes) {
    sources_.push_back({Storage::Iterator(view.storage_, begin, end, &view.at_), prefix_bytes});
    sources_.back().iterator.seek_to_first();
    sources_.back().at_end = !sources_.back().iterator.valid();
  };
  for (const ImageLog log : view.logs_)
    add(image_key(log, lower), image_key(log, upper), image_key(log, {}).size());
  add(std::string(lower), std::string(upper), 0);
  settle();
}

std::string_view KeyView::Walk::value() const {
  const std::string_view bytes = sources_[source_].iterator.value();
  return source_ + 1 == sources_.size() ? bytes : *image_value(bytes);
}

void KeyView::Walk::next() {
  pass();
  settle();
}

// Moves all sources past the current key.
void KeyView::Walk::pass() {
  for (Source& source : sources_) {
    if (source.at_end || source.key() != key_) continue;
    source.iterator.next();
    source.at_end = !source.iterator.valid();
  }
}

// Moves to the next key that exists in the view.
void KeyView::Walk::settle() {
  for (;;) {
    source_ = sources_.size();
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      const Source& source = sources_[i];
      if (source.at_end || (source_ < sources_.size() && sources_[source_].key() <= source.key())) continue;
      source_ = i;
    }
    if (!valid()) return;
    key_ = sources_[source_].key();
    if (source_ + 1 == sources_.size()) return;
    const std::string_view image = sources_[source_].iterator.value();
    if (is_image(image) && image_value(image)) return;
    pass();  // the key did not exist at that time, or its image is malformed
  }
}

}  // namespace mayfly::engine
