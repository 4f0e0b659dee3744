// Open files, and facts about files. The files of a directory that is not trusted
// are opened through os/directory.h.
//
//   std::error_code error;
//   const File file = File::open(path, {.access = Access::append, .make = Make::if_missing}, error);
//   if (error == std::errc::too_many_symbolic_link_levels) …   // `path` is a link
//   file.write("a line\n", error);
//   if (error) return path + ": " + error.message();
//
// Functions report errors as those of std::filesystem do: through `error`, which they clear if they succeed.
// On every platform an error is one of std::errc, so comparisons and messages are the same everywhere. Paths
// and names are UTF-8.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace mayfly::os {

enum class Kind : std::uint8_t { file, directory, link, other };  // other: a pipe, a socket, a device

struct Facts {
  Kind kind = Kind::other;
  std::uint64_t bytes = 0;
  std::uint64_t names = 1;  // hard links
  // Differs after the file has been replaced or written to.
  std::array<std::uint64_t, 5> version{};

  // A file with a second name is not written to in place, because that name could be anywhere.
  [[nodiscard]] bool is_only_here() const { return kind == Kind::file && names == 1; }
};

enum class Access : std::uint8_t { read, write, append, read_and_append };
enum class Make : std::uint8_t { never, if_missing, must_be_new };

struct HowToOpen {
  Access access = Access::read;
  Make make = Make::never;
  bool is_private = true;  // a new file is accessible to its owner only
  bool follows_links =
      false;           // otherwise a link as the last part of the path is too_many_symbolic_link_levels
  bool waits = false;  // for the other end of a pipe, which otherwise fails to open for writing
};

enum class Lock : std::uint8_t { shared, exclusive };

// Is closed when it is destroyed. The programs that this process starts do not inherit it.
//
// Thread-safe, except for `close` and assignments.
class File {
 public:
#if defined(_WIN32)
  using Native = void*;
  static inline const Native closed = reinterpret_cast<Native>(-1);
#else
  using Native = int;
  static constexpr Native closed = -1;
#endif

  File() = default;
  explicit File(Native native) : native_(native) {}
  File(File&& other) noexcept : native_(std::exchange(other.native_, closed)) {}
  File& operator=(File&& other) noexcept {
    std::swap(native_, other.native_);
    return *this;
  }
  ~File();

  static File open(const std::string& path, HowToOpen how, std::error_code& error);

  [[nodiscard]] bool is_open() const { return native_ != closed; }
  [[nodiscard]] Native native() const { return native_; }
  // The caller must close the result.
  [[nodiscard]] Native release() { return std::exchange(native_, closed); }

  Facts facts(std::error_code& error) const;
  // Reads up to `to.size()` bytes and returns their number. 0: the end of the file, or an error.
  std::size_t read(std::span<char> to, std::error_code& error) const;
  // Reads until `to` is full or the file ends. Does not use or move the file's position.
  std::size_t read_at(std::uint64_t offset, std::span<char> to, std::error_code& error) const;
  // The next read begins at the file's first byte.
  void rewind(std::error_code& error) const;
  // Writes all of `bytes`. After an error, any part of them may have been written.
  void write(std::string_view bytes, std::error_code& error) const;
  void truncate(std::uint64_t bytes, std::error_code& error) const;
  // Returns when the data is on the disk, not only in the disk's cache. invalid_argument: it is a pipe or a
  // terminal.
  void sync(std::error_code& error) const;
  // Restricts a file or directory to its owner.
  void restrict_to_owner(std::error_code& error) const;
  // Locks the whole file against other processes until it is closed. resource_unavailable_try_again: it is
  // locked, and `waits` is false. Requires: `access` was not append, because Windows then has no locks.
  void lock(Lock lock, bool waits, std::error_code& error) const;
  // Some disks report only now that they are full.
  void close(std::error_code& error);

 private:
  Native native_ = closed;
};

// The facts of a path. A link is not followed if `follows_links` is false.
Facts facts_of(const std::string& path, bool follows_links, std::error_code& error);

// Creates a directory that is accessible only to its owner. Not an error: it exists.
void make_directory(const std::string& path, std::error_code& error);

// Moves a file to another name in the same directory. An existing file of that name is replaced, atomically.
void rename(const std::string& from, const std::string& to, std::error_code& error);
// Like rename, but file_exists if there is a file of that name. If two processes try it, only one succeeds,
// except on POSIX file systems without hard links.
void rename_to_new(const std::string& from, const std::string& to, std::error_code& error);
// Removes a file or a link, but not a directory.
void remove(const std::string& path, std::error_code& error);

}  // namespace mayfly::os
