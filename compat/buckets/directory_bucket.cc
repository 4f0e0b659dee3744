#include "compat/buckets/directory_bucket.h"

#include <algorithm>
#include <system_error>

#include "compat/json/utf8.h"
#include "compat/wire/md5.h"
#include "engine/base/hex.h"
#include "engine/base/random.h"
#include "engine/base/uuid.h"

namespace mayfly::compat::buckets {
namespace {

using std::errc;

bool is_one_of(std::error_code error, std::initializer_list<errc> some) {
  return std::ranges::any_of(some, [&](errc one) { return error == one; });
}

Failure failure_of_access(std::error_code error) {
  // A link, or any other file that is not regular, counts as missing.
  if (is_one_of(error, {errc::no_such_file_or_directory, errc::not_a_directory, errc::is_a_directory,
                        errc::no_such_device_or_address, errc::too_many_symbolic_link_levels}))
    return no_such_key();
  if (is_one_of(error, {errc::permission_denied, errc::operation_not_permitted})) return access_denied();
  if (error == errc::filename_too_long) return key_too_long();
  return internal_error("The bucket's directory cannot be accessed: " + error.message());
}

bool is_reserved(std::string_view part) { return part.starts_with(DirectoryBucket::upload_name); }

Outcome<os::Parts> parts_of(std::string_view key) {
  if (auto problem = problem_of_key(key)) return Unexpected{*std::move(problem)};
  os::Parts parts;
  for (std::size_t start = 0; start <= key.size();) {
    const std::size_t end = std::min(key.find('/', start), key.size());
    parts.emplace_back(key.substr(start, end - start));
    const std::string& part = parts.back();
    if (os::names_nothing(part))
      return Unexpected{invalid_argument(
          "In a bucket that is a directory, each part of a key must be a file name and not empty, . or ..")};
    if (is_reserved(part)) {
      return Unexpected{
          invalid_argument("No part of a key can begin with " + std::string(DirectoryBucket::upload_name))};
    }
    if (part.size() > os::part_bytes_max || parts.size() > DirectoryBucket::parts_max)
      return Unexpected{key_too_long()};
    start = end + 1;
  }
  return parts;
}

Outcome<os::RegularFile> open_file(const os::Directory& directory, std::string_view key) {
  TRY(const os::Parts parts, parts_of(key));
  std::error_code error;
  auto file = os::open_regular(directory, parts, error);
  if (error) return Unexpected{failure_of_access(error)};
  return file;
}

// Returns a string that changes when the file is replaced or written to.
std::string version_of(const os::Facts& facts) {
  std::string text;
  for (const std::uint64_t part : facts.version) text += std::to_string(part) + "-";
  return text;
}

// Returns the failure for an error of writing an object.
Failure failure_of_writing(std::error_code error) {
  if (!is_one_of(error,
                 {errc::not_a_directory, errc::is_a_directory, errc::file_exists, errc::directory_not_empty}))
    return failure_of_access(error);
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
  Outcome<bool> visit(const os::Directory& directory, const std::string& path, std::size_t depth) {
    if (depth == DirectoryBucket::parts_max) return true;
    TRY(const auto names, names_in(directory, path));
    std::error_code error;
    for (const std::string& name : names) {
      if (stop_.stop_requested()) return Unexpected{internal_error("The listing was canceled")};
      const std::string key = path + name;
      if (key.ends_with('/')) {
        const os::Directory below = directory.open_below(name.substr(0, name.size() - 1), error);
        if (error) continue;  // the directory was deleted or replaced by a link
        TRY(const bool goes_on, visit(below, key, depth + 1));
        if (!goes_on) return false;
        continue;
      }
      const os::Facts facts = directory.facts_of(name, error);
      if (error || facts.kind != os::Kind::file) continue;
      if (found.objects.size() == listed_max) {
        found.next_token = found.objects.back().key;
        return false;
      }
      found.objects.push_back({key, facts.bytes});
    }
    return true;
  }

  Listing found;

 private:
  // Returns the directory's entries that can be objects on the page or can contain such objects. Directory
  // names end with a slash, so that they sort as keys do.
  [[nodiscard]] Outcome<std::vector<std::string>> names_in(const os::Directory& directory,
                                                           const std::string& path) const {
    std::error_code error;
    auto entries = directory.entries(error);
    if (error) return Unexpected{failure_of_access(error)};
    std::vector<std::string> names;
    for (auto& [name, kind] : entries) {
      if (is_reserved(name) || !is_utf8(name)) continue;
      if (kind == os::Kind::directory) name += '/';
      if (may_hold(path + name)) names.push_back(std::move(name));
    }
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
  FileUpload(std::shared_ptr<os::Directory> directory, std::string_view key)
      : directory_(std::move(directory)), key_(key) {}
  ~FileUpload() override { discard(); }

  void append(std::string_view bytes, std::stop_token, Done<void> done) override { done(write(bytes)); }
  void finish(std::stop_token, Done<Stored> done) override { done(put_in_place()); }

 private:
  Outcome<void> open() {
    if (file_.is_open()) return {};
    TRY(parts_, parts_of(key_));
    std::error_code error;
    parent_ = os::open_parent(*directory_, parts_, true, error);
    if (error) return Unexpected{failure_of_writing(error)};
    engine::SystemRandom random;
    temporary_ = std::string(upload_name) + engine::random_uuid(random);
    file_ =
        parent_.open_file(temporary_, {.access = os::Access::write, .make = os::Make::must_be_new}, error);
    if (error) return Unexpected{failure_of_writing(error)};
    return {};
  }
  Outcome<void> write(std::string_view bytes) {
    CHECK_OK(open());
    if (bytes.size() > object_bytes_max - written_) return Unexpected{entity_too_large()};
    sum_.add(bytes);
    written_ += bytes.size();
    std::error_code error;
    file_.write(bytes, error);
    if (error) return Unexpected{failure_of_writing(error)};
    return {};
  }
  Outcome<Stored> put_in_place() {
    CHECK_OK(open());
    // Some file systems report a full disk only when the file is closed.
    std::error_code error;
    file_.close(error);
    if (!error) parent_.rename(temporary_, parts_.back(), error);
    if (error) return Unexpected{failure_of_writing(error)};
    temporary_.clear();
    return Stored{engine::hex(sum_.end()), written_};
  }
  void discard() {
    std::error_code ignored;
    if (!temporary_.empty()) parent_.remove(temporary_, ignored);
  }

  const std::shared_ptr<os::Directory> directory_;
  const std::string key_;
  os::Parts parts_;
  os::Directory parent_;
  os::File file_;
  std::string temporary_;  // empty: no temporary file
  Md5 sum_;
  std::uint64_t written_ = 0;
};

Expected<std::shared_ptr<DirectoryBucket>, std::string> DirectoryBucket::open(const std::string& path) {
  std::error_code error;
  auto directory = os::Directory::open(path, error);
  if (error) return Unexpected{"cannot open the bucket directory " + path + ": " + error.message()};
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
  const auto file = open_file(*directory_, key);
  if (!file) return done(Unexpected{file.error()});
  done(Object{std::string(key), file->facts.bytes});
}

void DirectoryBucket::read(std::string_view key, std::uint64_t offset, std::string_view version,
                           std::stop_token, Done<Piece> done) {
  const auto file = open_file(*directory_, key);
  if (!file) return done(Unexpected{file.error()});
  Piece piece{.object_bytes = file->facts.bytes, .version = version_of(file->facts)};
  if (!version.empty() && version != piece.version) return done(Unexpected{changed_meanwhile()});
  if (offset < piece.object_bytes) {
    piece.bytes.resize(std::min<std::uint64_t>(piece_bytes_max, piece.object_bytes - offset));
    std::error_code error;
    const std::size_t got = file->file.read_at(offset, piece.bytes, error);
    if (error) return done(Unexpected{failure_of_access(error)});
    if (got < piece.bytes.size()) return done(Unexpected{changed_meanwhile()});  // the file was truncated
  }
  done(std::move(piece));
}

std::unique_ptr<Upload> DirectoryBucket::upload(std::string_view key) {
  return std::make_unique<FileUpload>(directory_, key);
}

}  // namespace mayfly::compat::buckets
