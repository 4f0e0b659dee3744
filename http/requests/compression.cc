#include "http/requests/compression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <new>
#include <zlib.h>

#include "http/requests/request.h"

namespace mayfly::http {

namespace {

// On loopback, smaller responses bring no benefit. The cheapest level is enough to test whether a client can
// decompress responses.
constexpr int compression_level = 1;

// zlib's windowBits: 15 is the largest window; adding 16 selects gzip's framing instead of zlib's.
int window_bits(Encoding encoding) { return encoding == Encoding::gzip ? 15 + 16 : 15; }

// Returns the weight in ";q=0.5;…". DynamoDB takes the text after the first "q=", up to the next ';',
// wherever that "q=" is: "nq=0" has a weight, but "q =0" does not. A value that is not a number, or is above
// 1, is treated as 1.
double weight_of(std::string_view parameters) {
  const auto mark = parameters.find("q=");
  if (mark == std::string_view::npos) return 1;
  std::string_view digits = parameters.substr(mark + 2);
  digits = trim(digits.substr(0, digits.find(';')));
  double weight = 1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), weight);
  if (error != std::errc{} || end != digits.data() + digits.size()) return 1;
  return std::min(weight, 1.0);
}

}  // namespace

std::string_view name_of(Encoding encoding) {
  switch (encoding) {
    case Encoding::gzip: return "gzip";
    case Encoding::deflate: return "deflate";
    case Encoding::identity: break;
  }
  return "identity";
}

Encoding choose_encoding(std::string_view accept_encoding) {
  Encoding best = Encoding::identity;
  double best_weight = 0;
  double any_weight = 0;  // for "*"
  std::array<bool, 3> named{};
  while (!accept_encoding.empty()) {
    const auto comma = std::min(accept_encoding.find(','), accept_encoding.size());
    const std::string_view entry = accept_encoding.substr(0, comma);
    accept_encoding.remove_prefix(std::min(comma + 1, accept_encoding.size()));
    const auto semicolon = std::min(entry.find(';'), entry.size());
    const std::string_view name = trim(entry.substr(0, semicolon));
    const double weight = weight_of(entry.substr(semicolon));
    Encoding encoding;
    if (name == "*") {
      any_weight = std::max(any_weight, weight);
      continue;
    } else if (equals_ignoring_case(name, "gzip")) {
      encoding = Encoding::gzip;
    } else if (equals_ignoring_case(name, "deflate")) {
      encoding = Encoding::deflate;
    } else {
      continue;  // DynamoDB ignores the weight of identity
    }
    named[static_cast<std::size_t>(encoding)] = true;
    if (weight > best_weight) {
      best = encoding;
      best_weight = weight;
    }
  }
  for (const Encoding encoding : {Encoding::gzip, Encoding::deflate}) {
    if (!named[static_cast<std::size_t>(encoding)] && any_weight > best_weight) {
      best = encoding;
      best_weight = any_weight;
    }
  }
  return best;
}

std::string compress(std::string_view bytes, Encoding encoding) {
  z_stream stream{};
  if (deflateInit2(&stream, compression_level, Z_DEFLATED, window_bits(encoding), 8, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    throw std::bad_alloc();  // zlib fails for no other reason here
  }
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);  // deflateBound's size is enough for one call
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::optional<DecompressFailure> decompress(std::string_view bytes, Encoding encoding, std::size_t bytes_max,
                                            std::string& out) {
  out.clear();
  z_stream stream{};
  if (inflateInit2(&stream, window_bits(encoding)) != Z_OK) throw std::bad_alloc();
  struct End {
    z_stream& stream;
    ~End() { inflateEnd(&stream); }
  } end{stream};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::array<char, 32 * 1024> piece;
  while (true) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = piece.size();
    const int result = inflate(&stream, Z_NO_FLUSH);
    out.append(piece.data(), piece.size() - stream.avail_out);
    if (out.size() > bytes_max) return DecompressFailure::too_large;
    if (result == Z_STREAM_END) {
      if (stream.avail_in == 0) return std::nullopt;
      if (encoding != Encoding::gzip || inflateReset(&stream) != Z_OK) return DecompressFailure::malformed;
    } else if (result != Z_OK) {  // includes Z_BUF_ERROR: the content is truncated
      return DecompressFailure::malformed;
    }
  }
}

}  // namespace mayfly::http
