// Tests a directory as a bucket with POSIX modes, links, pipes and limits.
#include "compat/buckets/directory_bucket.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/compat/buckets/bucket_place.h"

namespace mayfly::testing {

namespace {

namespace fs = std::filesystem;
using Place = BucketPlace;
using Keys = std::vector<std::string>;

unsigned mode_of(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

// Simulates a full disk: no file can grow beyond `bytes`.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }

 private:
  void (*signal_)(int);
  rlimit before_{};
};

}  // namespace

TEST_CASE("files and directories in a bucket are accessible only to their owner") {
  const mode_t before = ::umask(0);
  const Place place;
  CHECK(place.calls.put("a/b/c", "x") == "");
  ::umask(before);
  CHECK(mode_of(place.path + "/a/b/c") == 0600);
  CHECK(mode_of(place.path + "/a/b") == 0700);
  CHECK(mode_of(place.path + "/a") == 0700);
}

TEST_CASE("no symbolic link in a bucket's directory is followed") {
  const Place place;
  CHECK(place.calls.put("real/a", "inside") == "");
  fs::create_symlink(place.around.path() + "/secret", place.path + "/file");
  fs::create_symlink(place.around.path() + "/elsewhere", place.path + "/out");
  fs::create_symlink("real", place.path + "/in");
  fs::create_symlink("nowhere", place.path + "/dangling");
  const auto before = place.files();
  for (const std::string key : {"file", "out/new", "in/a", "dangling"}) {
    INFO(key);
    CHECK(place.calls.get(key) == "NoSuchKey");
    CHECK(!place.calls.head(key));
  }
  CHECK(place.calls.put("out/new", "mine") == "InvalidArgument");
  CHECK(place.calls.put("in/new", "mine") == "InvalidArgument");
  CHECK(place.files() == before);
  CHECK(place.calls.keys("") == Keys{"real/a"});
  CHECK(place.calls.keys("out/").empty());
  // A put replaces a link itself and leaves the link's target unchanged.
  CHECK(place.calls.put("file", "mine") == "");
  CHECK(place.calls.get("file") == "mine");
  std::string secret;
  std::ifstream(place.around.path() + "/secret") >> secret;
  CHECK(secret == "outside");
}

TEST_CASE("a file that is not a regular file is invisible in a bucket and never blocks a read") {
  const Place place;
  REQUIRE(::mkfifo((place.path + "/pipe").c_str(), 0600) == 0);
  CHECK(place.calls.get("pipe") == "NoSuchKey");
  CHECK(place.calls.keys("").empty());
  fs::create_directory(place.path + "/directory");
  CHECK(place.calls.put("directory", "x") == "InvalidArgument");
  CHECK(place.calls.put("a", "x") == "");
  CHECK(place.calls.put("a/b", "x") == "InvalidArgument");
  CHECK(place.calls.get("a") == "x");
}

TEST_CASE("an upload to a full disk fails and leaves the old object unchanged") {
  const Place place;
  CHECK(place.calls.put("a", "before") == "");
  {
    const SmallDisk full(4096);
    const auto stored = place.calls.store("a", std::string(10'000, 'x'), 1000);
    REQUIRE(!stored);
    CHECK(stored.error().code == "InternalError");
    CHECK(stored.error().message == "The bucket's directory cannot be accessed: File too large");
  }
  CHECK(place.calls.get("a") == "before");
  CHECK(place.files() == Keys{"bucket/a", "secret"});
  CHECK(place.calls.put("a", std::string(10'000, 'x')) == "");
}

}  // namespace mayfly::testing
