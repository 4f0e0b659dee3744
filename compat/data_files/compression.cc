#include "compat/data_files/compression.h"

#include <algorithm>
#include <array>
#include <new>
#include <utility>
#include <zlib.h>
#include <zstd.h>

namespace mayfly::compat::data_files {
namespace {

constexpr int gzip_window_bits = 15 + 16;
constexpr int zstd_window_log_max = 23;  // 8 MB
using Chunk = std::array<char, Unpacker::step_bytes>;

// Whether a frame or a skippable frame can begin with this byte. Zstandard's library also reads the formats
// from before version 1.0. Those formats are rejected, because their windows can have any size and no current
// software writes them.
bool begins_frame(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == 0x28 || (byte >= 0x50 && byte <= 0x5f);
}

Unexpected<std::string> no_zstd(std::string_view why) {
  return {"The file is not in a supported ZSTD format: " + std::string(why)};
}

Unexpected<std::string> cut_off() { return {"The compressed data in the file is incomplete"}; }

class Plain final : public Unpacker {
 public:
  Expected<void, std::string> step(std::string_view& input, std::string& out) override {
    const auto piece = input.substr(0, step_bytes);
    out += piece;
    input.remove_prefix(piece.size());
    return {};
  }
  [[nodiscard]] bool holds_more() const override { return false; }
  [[nodiscard]] Expected<void, std::string> end() const override { return {}; }
};

// Unpacks files that consist of parts, such as gzip members or Zstandard frames, each of which marks its own
// end.
class PartsUnpacker : public Unpacker {
 public:
  [[nodiscard]] bool holds_more() const final { return full_; }
  [[nodiscard]] Expected<void, std::string> end() const final {
    if (!at_end_) return cut_off();
    return {};
  }

 protected:
  bool at_end_ = true;  // at the end of a part, or before any input
  bool full_ = false;   // the last step filled its chunk, and more text may be ready
};

class Gunzip final : public PartsUnpacker {
 public:
  Gunzip() {
    if (inflateInit2(&stream_, gzip_window_bits) != Z_OK) throw std::bad_alloc();
  }
  ~Gunzip() override { inflateEnd(&stream_); }
  Expected<void, std::string> step(std::string_view& input, std::string& out) override {
    if (at_end_ && input.empty()) return {};
    if (at_end_ && inflateReset(&stream_) != Z_OK) throw std::bad_alloc();
    at_end_ = false;
    Chunk chunk;
    const auto taken = std::min<std::size_t>(input.size(), step_bytes);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream_.avail_in = static_cast<uInt>(taken);
    stream_.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream_.avail_out = static_cast<uInt>(chunk.size());
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    input.remove_prefix(taken - stream_.avail_in);
    out.append(chunk.data(), chunk.size() - stream_.avail_out);
    // Z_BUF_ERROR means that no progress was possible, which is not a failure.
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
      return Unexpected{std::string("The file is not in GZIP format")};
    at_end_ = result == Z_STREAM_END;
    full_ = stream_.avail_out == 0 && !at_end_;
    return {};
  }

 private:
  z_stream stream_{};
};

class Unzstd final : public PartsUnpacker {
 public:
  Unzstd() : stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, zstd_window_log_max);
  }
  ~Unzstd() override { ZSTD_freeDStream(stream_); }
  Expected<void, std::string> step(std::string_view& input, std::string& out) override {
    if (at_end_ && input.empty()) return {};
    if (at_end_ && !begins_frame(input.front())) return no_zstd("Unknown frame descriptor");
    Chunk chunk;
    ZSTD_inBuffer in{input.data(), std::min<std::size_t>(input.size(), step_bytes), 0};
    ZSTD_outBuffer made{chunk.data(), chunk.size(), 0};
    const std::size_t result = ZSTD_decompressStream(stream_, &made, &in);
    input.remove_prefix(in.pos);
    out.append(chunk.data(), made.pos);
    if (ZSTD_isError(result) != 0) return no_zstd(ZSTD_getErrorName(result));
    at_end_ = result == 0;
    full_ = made.pos == made.size && !at_end_;
    return {};
  }

 private:
  ZSTD_DStream* const stream_;
};

}  // namespace

std::unique_ptr<Unpacker> Unpacker::of(Compression compression) {
  switch (compression) {
    case Compression::none: break;
    case Compression::gzip: return std::make_unique<Gunzip>();
    case Compression::zstd: return std::make_unique<Unzstd>();
  }
  return std::make_unique<Plain>();
}

struct Gzip::State {
  z_stream stream{};
  std::string made;

  State() {
    constexpr int memory_level = 8;
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window_bits, memory_level,
                     Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
  }
  ~State() { deflateEnd(&stream); }
  void run(std::string_view text, int flush) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    Chunk chunk;
    do {
      stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
      stream.avail_out = static_cast<uInt>(chunk.size());
      deflate(&stream, flush);
      made.append(chunk.data(), chunk.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  }
};

Gzip::Gzip() : state_(std::make_unique<State>()) {}
Gzip::~Gzip() = default;

void Gzip::add(std::string_view text) {
  for (; !text.empty(); text.remove_prefix(std::min(text.size(), Unpacker::step_bytes)))
    state_->run(text.substr(0, Unpacker::step_bytes), Z_NO_FLUSH);
}

void Gzip::end() { state_->run("", Z_FINISH); }

std::string Gzip::take() { return std::exchange(state_->made, {}); }

}  // namespace mayfly::compat::data_files
