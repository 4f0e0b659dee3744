#include "compat/buckets/directory_bucket.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <sys/stat.h>

#include "compat/json/utf8.h"
#include "compat/wire/md5.h"
#include "engine/base/hex.h"
#include "engine/base/random.h"
#include "engine/base/uuid.h"

namespace mayfly::compat::buckets {
namespace {

using outbound::Descriptor;
using Parts = std::vector<std::string>;

Failure failure_of_errno(int number) {
  switch (number) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case ENXIO:
    case ELOOP: return no_such_key();  // a link, or any other file that is not regular, counts as missing
    case EACCES:
    case EPERM: return access_denied();
    case ENAMETOOLONG: return key_too_long();
    default:
      return internal_error("The bucket's directory cannot be accessed: " +
                            std::string(std::strerror(number)));
  }
}

bool is_reserved(std::string_view part) { return part.starts_with(DirectoryBucket::upload_name); }

Outcome<Parts> parts_of(std::string_view key) {
  if (auto problem = problem_of_key(key)) return Unexpected{*std::move(problem)};
  Parts parts;
  for (std::size_t start = 0; start <= key.size();) {
    const std::size_t end = std::min(key.find('/', start), key.size());
    parts.emplace_back(key.substr(start, end - start));
    const std::string& part = parts.back();
    if (outbound::names_nothing(part))
      return Unexpected{invalid_argument("In a bucket that is a directory, a key must not have empty parts")};
    if (is_reserved(part)) {
      return Unexpected{
          invalid_argument("No part of a key can begin with " + std::string(DirectoryBucket::upload_name))};
    }
    if (part.size() > NAME_MAX || parts.size() > DirectoryBucket::parts_max)
      return Unexpected{key_too_long()};
    start = end + 1;
  }
  return parts;
}

Outcome<outbound::RegularFile> open_file(int directory, std::string_view key) {
  TRY(const Parts parts, parts_of(key));
  auto file = outbound::open_regular(directory, parts);
  if (!file.descriptor.is_open()) return Unexpected{failure_of_errno(errno)};
  return file;
}

#if defined(__APPLE__)
timespec written_at(const struct stat& status) { return status.st_mtimespec; }
#else
timespec written_at(const struct stat& status) { return status.st_mtim; }
#endif

// Returns a string that changes when the file is replaced or written to.
std::string version_of(const struct stat& status) {
  const timespec written = written_at(status);
  std::string text;
  for (const auto part : {static_cast<std::int64_t>(status.st_dev), static_cast<std::int64_t>(status.st_ino),
                          static_cast<std::int64_t>(status.st_size), std::int64_t{written.tv_sec},
                          std::int64_t{written.tv_nsec}})
    text += std::to_string(part) + "-";
  return text;
}

// Returns the failure for an errno from writing an object.
Failure failure_of_writing(int number) {
  if (number != ENOTDIR && number != EISDIR && number != EEXIST && number != ENOTEMPTY)
    return failure_of_errno(number);
  return invalid_argument(
      "In a bucket that is a directory, a key cannot be the parent path of another key or lead through a "
      "link");
}

// Collects the objects of one page in key order.
class Walk {
 public:
  Walk(std::string_view prefix, std::string_view after, const std::stop_token& stop)
      : prefix_(prefix), after_(after), stop_(stop) {}

  // `path` is "" or the directory's path with a trailing slash. Returns false when the page is complete.
  Outcome<bool> visit(const Descriptor& directory, const std::string& path, std::size_t depth) {
    if (depth == DirectoryBucket::parts_max) return true;
    TRY(const auto names, names_in(directory, path));
    for (const std::string& name : names) {
      if (stop_.stop_requested()) return Unexpected{internal_error("The listing was canceled")};
      const std::string key = path + name;
      if (key.ends_with('/')) {
        const Descriptor below(
            ::openat(directory.number(), name.substr(0, name.size() - 1).c_str(), outbound::directory_flags));
        if (!below.is_open()) continue;  // the directory was deleted or replaced by a link
        TRY(const bool goes_on, visit(below, key, depth + 1));
        if (!goes_on) return false;
        continue;
      }
      struct stat status {};
      if (::fstatat(directory.number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
      if (!S_ISREG(status.st_mode)) continue;
      if (found.objects.size() == listed_max) {
        found.next_token = found.objects.back().key;
        return false;
      }
      found.objects.push_back({key, static_cast<std::uint64_t>(status.st_size)});
    }
    return true;
  }

  Listing found;

 private:
  // Returns the directory's entries that can be objects on the page or can contain such objects. Directory
  // names end with a slash, so that they sort as keys do.
  [[nodiscard]] Outcome<std::vector<std::string>> names_in(const Descriptor& directory,
                                                           const std::string& path) const {
    const int number = ::openat(directory.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* const entries = number < 0 ? nullptr : ::fdopendir(number);
    if (entries == nullptr) {
      const Descriptor unread(number);
      return Unexpected{failure_of_errno(errno)};
    }
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(entries)) {
      std::string name = entry->d_name;
      if (outbound::names_nothing(name) || is_reserved(name) || !is_utf8(name)) continue;
      bool below = entry->d_type == DT_DIR;
      if (entry->d_type == DT_UNKNOWN) {
        struct stat status {};
        below = ::fstatat(directory.number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                S_ISDIR(status.st_mode);
      }
      if (below) name += '/';
      if (may_hold(path + name)) names.push_back(std::move(name));
    }
    ::closedir(entries);
    std::sort(names.begin(), names.end());
    return names;
  }
  [[nodiscard]] bool may_hold(std::string_view key) const {
    if (key.size() > key_bytes_max) return false;
    const bool leads_there = key.ends_with('/') && prefix_.starts_with(key);
    const bool comes_later = key > after_ || (key.ends_with('/') && after_.starts_with(key));
    return (key.starts_with(prefix_) || leads_there) && comes_later;
  }

  const std::string_view prefix_, after_;
  const std::stop_token& stop_;
};

}  // namespace

class DirectoryBucket::FileUpload final : public Upload {
 public:
  FileUpload(std::shared_ptr<Descriptor> directory, std::string_view key)
      : directory_(std::move(directory)), key_(key) {}
  ~FileUpload() override { discard(); }

  void append(std::string_view bytes, std::stop_token, Done<void> done) override { done(write(bytes)); }
  void finish(std::stop_token, Done<Stored> done) override { done(put_in_place()); }

 private:
  Outcome<void> open() {
    if (file_.is_open()) return {};
    TRY(parts_, parts_of(key_));
    parent_ = outbound::open_parent(directory_->number(), parts_, true);
    if (!parent_.is_open()) return Unexpected{failure_of_writing(errno)};
    engine::SystemRandom random;
    temporary_ = std::string(upload_name) + engine::random_uuid(random);
    file_ = Descriptor(::openat(parent_.number(), temporary_.c_str(),
                                O_WRONLY | O_CREAT | O_EXCL | outbound::file_flags, 0600));
    if (!file_.is_open()) return Unexpected{failure_of_writing(errno)};
    return {};
  }
  Outcome<void> write(std::string_view bytes) {
    CHECK_OK(open());
    if (bytes.size() > object_bytes_max - written_) return Unexpected{entity_too_large()};
    sum_.add(bytes);
    written_ += bytes.size();
    while (!bytes.empty()) {
      const auto count = ::write(file_.number(), bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return Unexpected{failure_of_writing(errno)};
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return {};
  }
  Outcome<Stored> put_in_place() {
    CHECK_OK(open());
    // Some file systems report a full disk only when the file is closed.
    if (::close(file_.release()) != 0) return Unexpected{failure_of_writing(errno)};
    if (::renameat(parent_.number(), temporary_.c_str(), parent_.number(), parts_.back().c_str()) != 0)
      return Unexpected{failure_of_writing(errno)};
    temporary_.clear();
    return Stored{engine::hex(sum_.end()), written_};
  }
  void discard() {
    if (!temporary_.empty()) ::unlinkat(parent_.number(), temporary_.c_str(), 0);
  }

  const std::shared_ptr<Descriptor> directory_;
  const std::string key_;
  Parts parts_;
  Descriptor parent_, file_;
  std::string temporary_;  // empty: no temporary file
  Md5 sum_;
  std::uint64_t written_ = 0;
};

Expected<std::shared_ptr<DirectoryBucket>, std::string> DirectoryBucket::open(const std::string& path) {
  // The directory itself can be a link, because it was named by the user who started the server.
  Descriptor directory(::open(path.c_str(), outbound::path_flag | O_DIRECTORY | O_CLOEXEC));
  if (!directory.is_open())
    return Unexpected{"cannot open the bucket directory " + path + ": " + std::strerror(errno)};
  return std::shared_ptr<DirectoryBucket>(new DirectoryBucket(std::move(directory)));
}

void DirectoryBucket::list(std::string_view prefix, const std::optional<std::string>& token,
                           std::stop_token stop, Done<Listing> done) {
  const std::string after = token.value_or("");
  Walk walk(prefix, after, stop);
  const auto outcome = walk.visit(*directory_, "", 0);
  if (!outcome) return done(Unexpected{outcome.error()});
  done(std::move(walk.found));
}

void DirectoryBucket::head(std::string_view key, std::stop_token, Done<Object> done) {
  const auto file = open_file(directory_->number(), key);
  if (!file) return done(Unexpected{file.error()});
  done(Object{std::string(key), static_cast<std::uint64_t>(file->status.st_size)});
}

void DirectoryBucket::read(std::string_view key, std::uint64_t offset, std::string_view version,
                           std::stop_token, Done<Piece> done) {
  const auto file = open_file(directory_->number(), key);
  if (!file) return done(Unexpected{file.error()});
  Piece piece{.object_bytes = static_cast<std::uint64_t>(file->status.st_size),
              .version = version_of(file->status)};
  if (!version.empty() && version != piece.version) return done(Unexpected{changed_meanwhile()});
  if (offset < piece.object_bytes) {
    piece.bytes.resize(std::min<std::uint64_t>(piece_bytes_max, piece.object_bytes - offset));
    std::size_t filled = 0;
    while (filled < piece.bytes.size()) {
      const auto count = ::pread(file->descriptor.number(), piece.bytes.data() + filled,
                                 piece.bytes.size() - filled, static_cast<off_t>(offset + filled));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return done(Unexpected{failure_of_errno(errno)});
      if (count == 0) return done(Unexpected{changed_meanwhile()});  // the file was truncated
      filled += static_cast<std::size_t>(count);
    }
  }
  done(std::move(piece));
}

std::unique_ptr<Upload> DirectoryBucket::upload(std::string_view key) {
  return std::make_unique<FileUpload>(directory_, key);
}

}  // namespace mayfly::compat::buckets
