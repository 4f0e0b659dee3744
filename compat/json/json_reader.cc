// json::parse reads and checks the text in one pass. It copies no string that is written without escapes: the
// Values point into the text.
//
// Requests consist mostly of strings, and most strings are short. The parser examines sixteen bytes at a time
// to find the first byte that is not plain.
//
// Rejected:
// - Boost.JSON's parser calls a handler for each event, which takes twice the instructions for the body of a
//   BatchWriteItem.
// - simdjson's parser needs padding after the text and copies every string, and its tree does not keep the
//   text of numbers.
#include <algorithm>
#include <array>
#include <bit>
#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstring>
#include <limits>
#include <new>
#include <utility>
#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "compat/json/json.h"
#include "compat/json/utf8.h"
#include "engine/base/text.h"

namespace mayfly::json {
namespace {

// ASCII bytes that can appear in a string without an escape.
constexpr std::array<bool, 256> plain_bytes = [] {
  std::array<bool, 256> plain{};
  for (std::size_t byte = 0x20; byte < 0x80; ++byte) plain[byte] = byte != '"' && byte != '\\';
  return plain;
}();
bool is_plain(char byte) { return plain_bytes[static_cast<unsigned char>(byte)]; }

// A Chunk holds sixteen bytes of text, or one machine word. Its function others() tells which of these bytes
// are not plain.
#ifdef __SSE2__
struct Chunk {
  __m128i bytes;
  [[nodiscard]] static unsigned places(unsigned mask) {
    return static_cast<unsigned>(std::countr_zero(mask));
  }
  [[nodiscard]] unsigned others() const {  // one bit for each byte
    // In a signed comparison, bytes beyond ASCII are also less than a space.
    const __m128i below = _mm_cmplt_epi8(bytes, _mm_set1_epi8(' '));
    const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    const __m128i backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    return static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(below, _mm_or_si128(quote, backslash))));
  }
};

__attribute__((target("avx2"))) inline __m256i others_of(__m256i bytes) {
  const __m256i below = _mm256_cmpgt_epi8(_mm256_set1_epi8(' '), bytes);
  const __m256i quote = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"'));
  const __m256i backslash = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\'));
  return _mm256_or_si256(below, _mm256_or_si256(quote, backslash));
}

// Skips plain bytes, 64 at a time.
__attribute__((target("avx2"))) const char* pass_plain_blocks(const char* at, const char* end) {
  for (; end - at >= 64; at += 64) {
    const auto* from = reinterpret_cast<const __m256i*>(at);
    const __m256i first = others_of(_mm256_loadu_si256(from));
    const __m256i second = others_of(_mm256_loadu_si256(from + 1));
    if (_mm256_movemask_epi8(_mm256_or_si256(first, second)) != 0) break;
  }
  return at;
}
const bool reads_avx2 = __builtin_cpu_supports("avx2") != 0;
#else
struct Chunk {
  std::uint64_t bytes;
  static_assert(std::endian::native == std::endian::little, "the first byte is the lowest");
  [[nodiscard]] static unsigned places(std::uint64_t mask) {
    return static_cast<unsigned>(std::countr_zero(mask)) / 8;
  }
  // Only the lowest set bit is reliable: it marks the first byte that is not plain.
  [[nodiscard]] std::uint64_t others() const {
    constexpr std::uint64_t ones = 0x0101010101010101, highs = 0x8080808080808080;
    const auto has_zero = [](std::uint64_t word) { return (word - ones) & ~word; };
    return ((bytes - ones * ' ') | bytes | has_zero(bytes ^ ones * '"') | has_zero(bytes ^ ones * '\\')) &
           highs;
  }
};
#endif

Chunk chunk_at(const char* at) {
  Chunk chunk;
  std::memcpy(&chunk, at, sizeof chunk);
  return chunk;
}

// Returns the first byte that is not plain, or the end. This function is fast for long strings.
const char* pass_plain_at_length(const char* at, const char* end) {
#ifdef __SSE2__
  if (reads_avx2) at = pass_plain_blocks(at, end);
#endif
  for (; end - at >= static_cast<std::ptrdiff_t>(sizeof(Chunk)); at += sizeof(Chunk))
    if (const auto others = chunk_at(at).others(); others != 0) return at + Chunk::places(others);
  while (at != end && is_plain(*at)) ++at;
  return at;
}

inline const char* pass_plain(const char* at, const char* end) {
  if (end - at >= static_cast<std::ptrdiff_t>(sizeof(Chunk))) {
    if (const auto others = chunk_at(at).others(); others != 0) return at + Chunk::places(others);
    at += sizeof(Chunk);
  }
  return pass_plain_at_length(at, end);
}

// Returns -1 if `byte` is not a hexadecimal digit.
int hex_digit(char byte) {
  if (engine::is_digit(byte)) return byte - '0';
  const char lower = static_cast<char>(byte | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

char* write_utf8(std::uint32_t character, char* to) {
  const auto byte = [](std::uint32_t bits) { return static_cast<char>(bits); };
  const auto more = [&](int shift) { return byte(0x80 | (character >> shift & 0x3f)); };
  if (character < 0x80) {
    *to++ = byte(character);
    return to;
  }
  if (character < 0x800) {
    *to++ = byte(0xc0 | character >> 6);
  } else {
    if (character < 0x10000) {
      *to++ = byte(0xe0 | character >> 12);
    } else {
      *to++ = byte(0xf0 | character >> 18);
      *to++ = more(12);
    }
    *to++ = more(6);
  }
  *to++ = more(0);
  return to;
}

// An arena: all of its memory is freed at once. Nothing in it has a destructor.
class Blocks {
 public:
  Blocks(char* first_block, std::size_t bytes)
      : room_(first_block), room_end_(first_block + bytes), block_bytes_(bytes) {}
  ~Blocks() {
    while (newest_ != nullptr) ::operator delete(std::exchange(newest_, newest_->before));
  }
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  // Allocations are rounded up, so that a Value can follow each of them.
  static constexpr std::size_t aligned(std::size_t bytes) {
    return (bytes + alignof(Member) - 1) / alignof(Member) * alignof(Member);
  }
  char* allocate(std::size_t bytes) {  // Requires: bytes == aligned(bytes)
    if (static_cast<std::size_t>(room_end_ - room_) < bytes) return allocate_block(bytes);
    return std::exchange(room_, room_ + bytes);
  }
  // Frees the end of the latest allocation, from `from` on, so that the arena can use it again.
  void give_back(char* from) { room_ = from; }

  static constexpr std::size_t block_bytes_min = 512, block_bytes_max = std::size_t{1} << 20;

 private:
  struct Block {
    Block* before;
  };
  static_assert(sizeof(Block) % alignof(Member) == 0);

  char* allocate_block(std::size_t bytes) {
    block_bytes_ = std::max(bytes, std::min(2 * block_bytes_, block_bytes_max));
    char* const memory = static_cast<char*>(::operator new(sizeof(Block) + block_bytes_));
    newest_ = ::new (memory) Block{newest_};
    room_ = memory + sizeof(Block) + bytes;
    room_end_ = memory + sizeof(Block) + block_bytes_;
    return room_ - bytes;
  }

  char* room_;  // the free part of the newest block
  char* room_end_;
  std::size_t block_bytes_;
  Block* newest_ = nullptr;  // the newest block that this object allocated; never the first block
};

}  // namespace

// The first block directly follows the Arena in memory.
struct Document::Arena {
  Blocks blocks;
  static void operator delete(void* memory) { ::operator delete(memory); }
};

Document::Document() = default;
Document::~Document() = default;

// Checks the text and builds its Values. A reading function takes the position where its value starts and
// returns the position after it, or nullptr if the text is not JSON.
class Builder {
 public:
  Builder(Blocks& arena, std::string_view text)
      : begin_(text.data()), end_(text.data() + text.size()), arena_(arena) {}

  // Returns false if the text is not JSON.
  bool read(Value& root) {
    At at = begin_;
    const char first = next(at);
    if ((at = value(at, first, root)) == nullptr) return false;
    return next(at) == 0 && at == end_;
  }
  [[nodiscard]] int depth() const { return deepest_; }

 private:
  using At = const char*;

  // Skips spaces and returns the byte after them, or 0 at the end.
  [[nodiscard]] char next(At& at) const {
    for (; at != end_; ++at) {
      const char byte = *at;
      if (byte > ' ' || (byte != ' ' && byte != '\n' && byte != '\r' && byte != '\t')) return byte;
    }
    return 0;
  }
  [[nodiscard]] bool stands_at(At at, char byte) const { return at != end_ && *at == byte; }

  At value(At at, char first, Value& out) {
    if (first != '"') return other_value(at, first, out);
    std::string_view string;
    at = text(at, string);
    set_text(out, Value::Kind::string, string);
    return at;
  }

  At other_value(At at, char first, Value& out) {
    switch (first) {
      case '{': return object(at, out);
      case '[': return array(at, out);
      case 't': return word(at, "true", Value::Kind::boolean, true, out);
      case 'f': return word(at, "false", Value::Kind::boolean, false, out);
      case 'n': return word(at, "null", Value::Kind::null, false, out);
      case 0: return nullptr;
      default: return number(at, out);
    }
  }

  At object(At at, Value& out) {
    if (!descend()) return nullptr;
    const std::size_t begin = members_.size();
    ++at;
    char byte = next(at);
    if (byte != '}') {
      for (;;) {
        Member member;
        if (byte != '"' || (at = text(at, member.name)) == nullptr || next(at) != ':') return nullptr;
        byte = next(++at);
        if ((at = value(at, byte, member.value)) == nullptr) return nullptr;
        byte = next(at);
        if (byte == '}') {
          out.members_ = keep(members_, begin, member, out);
          break;
        }
        if (byte != ',') return nullptr;
        members_.push_back(member);
        byte = next(++at);
      }
    }
    out.kind_ = Value::Kind::object;
    --depth_;
    return at + 1;
  }

  At array(At at, Value& out) {
    if (!descend()) return nullptr;
    const std::size_t begin = items_.size();
    ++at;
    char byte = next(at);
    if (byte != ']') {
      for (;;) {
        Value item;
        if ((at = value(at, byte, item)) == nullptr) return nullptr;
        byte = next(at);
        if (byte == ']') {
          out.items_ = keep(items_, begin, item, out);
          break;
        }
        if (byte != ',') return nullptr;
        items_.push_back(item);
        byte = next(++at);
      }
    }
    out.kind_ = Value::Kind::array;
    --depth_;
    return at + 1;
  }

  // Returns false if nesting is too deep. Costs one comparison, except for containers that are deeper than
  // any before them.
  bool descend() {
    if (depth_ == deepest_) {
      if (depth_ == depth_max) return false;
      ++deepest_;
    }
    ++depth_;
    return true;
  }

  // Moves the elements of a container into the arena: those gathered from `begin` on, and `last`.
  template <class Gathered, class T>
  T* keep(Gathered& gathered, std::size_t begin, const T& last, Value& container) {
    const std::size_t before = gathered.size() - begin;
    static_assert(sizeof(T) % alignof(Member) == 0);
    T* const kept = reinterpret_cast<T*>(arena_.allocate((before + 1) * sizeof(T)));
    if (before != 0) {
      std::uninitialized_copy_n(gathered.data() + begin, before, kept);
      gathered.resize(begin);
    }
    ::new (kept + before) T(last);
    container.size_ = static_cast<std::uint32_t>(before + 1);
    return kept;
  }

  static void set_text(Value& out, Value::Kind kind, std::string_view text) {
    out.kind_ = kind;
    out.size_ = static_cast<std::uint32_t>(text.size());
    out.text_ = text.data();
  }

  At word(At at, std::string_view word, Value::Kind kind, bool boolean, Value& out) const {
    if (!std::string_view(at, end_).starts_with(word)) return nullptr;
    out.kind_ = kind;
    out.boolean_ = boolean;
    return at + word.size();
  }

  // The grammar is: [-] 0|digits [. digits] [e [+-] digits]
  At number(const At begin, Value& out) const {
    At at = *begin == '-' ? begin + 1 : begin;
    at = stands_at(at, '0') ? at + 1 : digits(at);
    if (at != nullptr && stands_at(at, '.')) at = digits(at + 1);
    if (at != nullptr && (stands_at(at, 'e') || stands_at(at, 'E'))) at = exponent(at + 1);
    if (at == nullptr) return nullptr;
    set_text(out, Value::Kind::number, {begin, at});
    return at;
  }

  At digits(const At begin) const {  // at least one
    At at = begin;
    while (at != end_ && engine::is_digit(*at)) ++at;
    return at != begin ? at : nullptr;
  }

  At exponent(At at) const {
    if (stands_at(at, '+') || stands_at(at, '-')) ++at;
    const At begin = at;
    std::int64_t exponent = 0;
    for (; at != end_ && engine::is_digit(*at); ++at) {
      exponent = 10 * exponent + (*at - '0');
      if (exponent > std::numeric_limits<std::int32_t>::max()) return nullptr;
    }
    return at != begin ? at : nullptr;
  }

  // Requires: `at` is at a quote.
  At text(At at, std::string_view& out) {
    const At begin = ++at;
    for (;;) {
      at = pass_plain(at, end_);
      if (at == end_) return nullptr;
      if (*at == '"') break;
      if (*at == '\\') return escaped_text(begin, at, out);
      if ((at = pass_beyond_ascii(at, end_)) == nullptr) return nullptr;
    }
    out = {begin, at};
    return at + 1;
  }

  // Skips at least one non-ASCII character. Returns nullptr for an ASCII byte, which can only be a control
  // character here, and for invalid UTF-8.
  static At pass_beyond_ascii(At at, At end) {
    if (static_cast<unsigned char>(*at) < 0x80) return nullptr;
    do {
      const std::size_t bytes = compat::utf8_character_bytes({at, end});
      if (bytes == 0) return nullptr;
      at += bytes;
    } while (at != end && static_cast<unsigned char>(*at) >= 0x80);
    return at;
  }

  // Requires: `at` is at the first escape of the text, and the bytes from `begin` to `at` have been checked.
  At escaped_text(At begin, At at, std::string_view& out) {
    const At close = closing_quote(at);
    if (close == end_) return nullptr;
    // An escape is never shorter than the characters that it encodes.
    char* const kept = arena_.allocate(Blocks::aligned(static_cast<std::size_t>(close - begin)));
    char* to = std::copy(begin, at, kept);
    while (at != close) {
      if (*at == '\\') {
        if ((at = escape(at, close, to)) == nullptr) return nullptr;
        continue;
      }
      const At from = at;
      at = pass_plain(at, close);
      if (at == from && (at = pass_beyond_ascii(at, close)) == nullptr) return nullptr;
      to = std::copy(from, at, to);
    }
    arena_.give_back(kept + Blocks::aligned(static_cast<std::size_t>(to - kept)));
    out = {kept, to};
    return close + 1;
  }

  [[nodiscard]] At closing_quote(At at) const {
    while ((at = pass_plain(at, end_)) != end_ && *at != '"') {
      if (*at == '\\' && ++at == end_) break;
      ++at;
    }
    return at;
  }

  // Requires: `at` is at a backslash that is not directly before `close`.
  static At escape(At at, At close, char*& to) {
    if (at[1] == 'u') return escaped_character(at, close, to);
    constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    const std::size_t place = letters.find(at[1]);
    if (place == std::string_view::npos) return nullptr;
    *to++ = meanings[place];
    return at + 2;
  }

  static At escaped_character(At at, At close, char*& to) {
    std::uint32_t character = 0, low = 0;
    if ((at = escaped_unit(at, close, character)) == nullptr) return nullptr;
    if (character >= 0xd800 && character < 0xe000) {
      at = character < 0xdc00 ? escaped_unit(at, close, low) : nullptr;
      if (at == nullptr || low < 0xdc00 || low >= 0xe000) return nullptr;
      character = 0x10000 + ((character - 0xd800) << 10) + (low - 0xdc00);
    }
    to = write_utf8(character, to);
    return at;
  }

  // Reads \uXXXX, one UTF-16 unit.
  static At escaped_unit(At at, At close, std::uint32_t& unit) {
    if (close - at < 6 || at[0] != '\\' || at[1] != 'u') return nullptr;
    for (int i = 2; i < 6; ++i) {
      const int digit = hex_digit(at[i]);
      if (digit < 0) return nullptr;
      unit = unit << 4 | static_cast<std::uint32_t>(digit);
    }
    return at + 6;
  }

  const At begin_, end_;
  int depth_ = 0, deepest_ = 0;
  // The elements that have been read so far, for all containers that have not ended.
  boost::container::small_vector<Member, 32> members_;
  boost::container::small_vector<Value, 32> items_;
  Blocks& arena_;
};

std::unique_ptr<Document> parse(std::string_view text) {
  if (text.size() > std::numeric_limits<std::uint32_t>::max()) return nullptr;
  // Each value takes 16 or 32 bytes, and the characters of a string take no further memory unless the string
  // has escapes, so one block is usually enough.
  const std::size_t bytes =
      Blocks::aligned(std::clamp(text.size(), Blocks::block_bytes_min, Blocks::block_bytes_max));
  static_assert(sizeof(Document::Arena) % alignof(Member) == 0);
  char* const memory = static_cast<char*>(::operator new(sizeof(Document::Arena) + bytes));
  std::unique_ptr<Document::Arena> arena(
      ::new (memory) Document::Arena{Blocks(memory + sizeof(Document::Arena), bytes)});
  auto document = std::make_unique<Document>();
  document->arena_ = std::move(arena);
  Builder builder(document->arena_->blocks, text);
  if (!builder.read(document->root_)) return nullptr;
  document->depth_ = builder.depth();
  return document;
}

}  // namespace mayfly::json
