#include "cli/table_files/unpacked_text.h"

#include <algorithm>
#include <utility>

#include "os/terminal.h"

namespace mayfly::transfer {

using compat::data_files::Compression;
using compat::data_files::Unpacker;

namespace {

Compression compression_of(std::string_view begin) {
  if (begin.starts_with("\x1f\x8b")) return Compression::gzip;
  if (begin.starts_with("\x28\xb5\x2f\xfd")) return Compression::zstd;
  return Compression::none;
}

}  // namespace

Expected<std::unique_ptr<UnpackedText>, std::string> UnpackedText::open(const std::string& path) {
  const bool is_standard = path == "-";
  os::File file = is_standard ? os::standard_input() : os::File();
  if (!is_standard) {
    TRY(file, open_to_read(path));
  }
  std::unique_ptr<UnpackedText> text(
      new UnpackedText(is_standard ? "standard input" : path, std::move(file)));
  CHECK_OK(text->read());
  text->unpacker_ = Unpacker::of(compression_of(text->packed_));
  return text;
}

Expected<void, std::string> UnpackedText::read() {
  TRY(packed_, read_some(file_, name_));
  packed_read_ = 0;
  ended_ = packed_.empty();
  return {};
}

Expected<bool, std::string> UnpackedText::extend() {
  text_.erase(0, begin_);
  begin_ = 0;
  const std::size_t before = text_.size();
  while (text_.size() == before) {
    if (packed_read_ == packed_.size() && !unpacker_->holds_more()) {
      if (!ended_) CHECK_OK(read());
      if (ended_) {
        if (const auto whole = unpacker_->end(); !whole) return Unexpected{name_ + ": " + whole.error()};
        return false;
      }
    }
    std::string_view input = std::string_view(packed_).substr(packed_read_);
    if (const auto step = unpacker_->step(input, text_); !step)
      return Unexpected{name_ + ": " + step.error()};
    packed_read_ = packed_.size() - input.size();
  }
  return true;
}

void UnpackedText::pass(std::size_t count) {
  const std::string_view passed = rest().substr(0, count);
  line_ += static_cast<std::uint64_t>(std::count(passed.begin(), passed.end(), '\n'));
  begin_ += count;
}

std::string UnpackedText::sentence(const std::string& what) const {
  return name_ + ": line " + std::to_string(line_) + ": " + what;
}

}  // namespace mayfly::transfer
