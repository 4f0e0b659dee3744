// RocksDB's log format:
//
//   log      := block*                            of 32768 bytes; the last block may be shorter
//   block    := fragment* [zeros]                 the zeros are fewer than 7 bytes
//   fragment := crc:u32le length:u16le type:u8 payload
//   type     := 1 a whole record, 2 a record's first fragment, 3 a middle one, 4 its last
//   crc      := masked CRC-32C of type and payload
#include "engine/storage/write_ahead_log.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/base/whole_number.h"
#include "os/path.h"
#include "os/reason.h"

namespace mayfly::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t log_block_bytes = 32768;
constexpr std::size_t head_bytes = 4 + 2 + 1;
constexpr std::size_t sector_bytes = 512;  // a disk writes each sector as a whole

enum Type : unsigned char { whole = 1, first = 2, middle = 3, last = 4 };

// Slicing by eight: with eight tables, eight bytes are processed at a time, at about 1.5 GB/s.
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0x82f63b78u : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t byte = 0; byte < 256; ++byte)
    for (std::size_t table = 1; table < 8; ++table)
      tables[table][byte] = (tables[table - 1][byte] >> 8) ^ tables[0][tables[table - 1][byte] & 0xff];
  return tables;
}
constexpr Tables tables = make_tables();

std::uint32_t masked_crc32c(std::string_view bytes) {
  std::uint32_t crc = ~0u;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), 8);
    word ^= crc;
    crc = 0;
    for (int i = 0; i < 8; ++i) crc ^= tables[7 - i][(word >> (8 * i)) & 0xff];
  }
  for (const char byte : bytes) crc = (crc >> 8) ^ tables[0][(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  crc = ~crc;
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

std::size_t block_rest(std::size_t offset) { return log_block_bytes - offset % log_block_bytes; }

struct Fragment {
  std::size_t length;
  Type type;
};

// Returns the fragment at `offset` if it is intact. If `length` is given, it replaces the length in the
// fragment's header.
std::optional<Fragment> intact_fragment(std::string_view log, std::size_t offset,
                                        std::optional<std::size_t> length = {}) {
  if (log.size() - offset < head_bytes || block_rest(offset) < head_bytes) return std::nullopt;
  std::uint32_t crc;
  std::uint16_t said;
  std::memcpy(&crc, log.data() + offset, 4);
  std::memcpy(&said, log.data() + offset + 4, 2);
  const auto type = static_cast<unsigned char>(log[offset + 6]);
  if (type < whole || type > last) return std::nullopt;
  const std::size_t payload = length.value_or(said);
  if (head_bytes + payload > std::min(block_rest(offset), log.size() - offset)) return std::nullopt;
  if (masked_crc32c(log.substr(offset + 6, 1 + payload)) != crc) return std::nullopt;
  return Fragment{payload, static_cast<Type>(type)};
}

bool begins_record(const std::optional<Fragment>& fragment) {
  return fragment && (fragment->type == whole || fragment->type == first);
}

// Whether a record begins after the damage at `offset`. If so, the damage is not in the last record.
bool record_follows(std::string_view log, std::size_t offset) {
  const std::size_t block_end = std::min(offset + block_rest(offset), log.size());
  for (std::size_t at = offset + 1; at < block_end; ++at)
    if (begins_record(intact_fragment(log, at))) return true;
  // Each block begins with a fragment, so the fragments of a later block can be walked from its start.
  for (std::size_t block = block_end; block < log.size(); block += log_block_bytes) {
    std::size_t at = block;
    for (auto fragment = intact_fragment(log, at); fragment; fragment = intact_fragment(log, at)) {
      if (begins_record(fragment)) return true;
      at += head_bytes + fragment->length;
      if (at >= log.size()) break;
    }
  }
  return false;
}

bool has_unwritten_sector(std::string_view log, std::size_t from) {
  for (std::size_t at = from; at < log.size();) {
    const std::size_t end = std::min(at - at % sector_bytes + sector_bytes, log.size());
    if (log.substr(at, end - at).find_first_not_of('\0') == std::string_view::npos) return true;
    at = end;
  }
  return false;
}

// Whether the log ends within the fragment at `offset`.
bool is_cut(std::string_view log, std::size_t offset) {
  const std::size_t left = log.size() - offset;
  if (left < head_bytes) return true;
  std::uint16_t length;
  std::memcpy(&length, log.data() + offset + 4, 2);
  if (head_bytes + length <= left || head_bytes + length > block_rest(offset)) return false;
  // False if the fragment is complete and only the length in its header is wrong.
  return !intact_fragment(log, offset, left - head_bytes);
}

Expected<std::string, std::string> file_bytes(const std::string& path) {
  std::ifstream file(os::path_of(path), std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.eof() && file.fail()) return Unexpected{"cannot read " + path + ": " + std::strerror(errno)};
  return bytes;
}

}  // namespace

LogCheck check_log(std::string_view log, bool is_last) {
  std::size_t at = 0, record = 0;
  bool within = false;  // inside a record that began at `record`
  while (at < log.size()) {
    if (block_rest(at) < head_bytes) {
      at += block_rest(at);
      continue;
    }
    const std::optional<Fragment> fragment = intact_fragment(log, at);
    const bool fits = fragment && begins_record(fragment) != within;
    if (!fits) {
      if (!within) record = at;
      // When RocksDB opens a directory, it skips a log that has no record, and such a log may remain next to
      // a later log.
      const bool may_be_torn = (is_last || record == 0) && !record_follows(log, at);
      if (may_be_torn && (is_cut(log, at) || has_unwritten_sector(log, at)))
        return {LogCheck::Result::torn, record};
      return {LogCheck::Result::damaged, at};
    }
    if (!within) record = at;
    within = fragment->type == first || fragment->type == middle;
    at += head_bytes + fragment->length;
  }
  if (within) return {is_last || record == 0 ? LogCheck::Result::torn : LogCheck::Result::damaged, record};
  return {};
}

Expected<std::vector<LogFlaw>, std::string> flawed_logs(const std::string& directory) {
  std::vector<std::pair<std::uint64_t, std::string>> logs;  // number, path
  std::error_code error;
  for (fs::directory_iterator files(os::path_of(directory), error), end; !error && files != end;
       files.increment(error)) {
    const std::string name = os::text_of(files->path().filename());
    constexpr std::string_view ending = ".log";
    if (!name.ends_with(ending)) continue;
    const auto number =
        whole_number<std::uint64_t>(std::string_view(name).substr(0, name.size() - ending.size()));
    if (number && files->file_size(error) > 0) logs.emplace_back(*number, os::text_of(files->path()));
  }
  if (error) return Unexpected{"cannot read " + directory + ": " + os::reason(error)};
  std::sort(logs.begin(), logs.end());

  std::vector<LogFlaw> flaws;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const std::string& path = logs[i].second;
    TRY(const std::string bytes, file_bytes(path));
    const LogCheck check = check_log(bytes, i + 1 == logs.size());
    if (check.result != LogCheck::Result::whole)
      flaws.push_back({path, check.result == LogCheck::Result::damaged, check.offset});
  }
  return flaws;
}

std::string sentence(const LogFlaw& flaw) {
  return "the log " + flaw.path + " is damaged at byte " + std::to_string(flaw.offset);
}

Expected<void, std::string> mend_write_ahead_logs(const std::string& directory) {
  TRY(const std::vector<LogFlaw> flaws, flawed_logs(directory));
  for (const LogFlaw& flaw : flaws)
    if (flaw.damaged)
      return Unexpected{"the data directory " + directory + " is damaged: " + sentence(flaw) +
                        ". It was not opened, because acknowledged writes would be missing."};
  for (const LogFlaw& torn : flaws) {
    std::error_code error;
    fs::resize_file(os::path_of(torn.path), torn.offset, error);
    if (error) return Unexpected{"cannot write to " + torn.path + ": " + error.message()};
  }
  return {};
}

}  // namespace mayfly::engine
