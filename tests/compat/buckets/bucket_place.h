// A bucket in a directory, next to files that the bucket must not reach.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "compat/buckets/directory_bucket.h"
#include "tests/support/bucket_calls.h"
#include "tests/support/temporary_directory.h"

namespace mayfly::testing {

// The directory "bucket" is the bucket. Everything else is outside of it.
struct BucketPlace {
  TemporaryDirectory around;
  std::string path = around.path() + "/bucket";
  std::shared_ptr<compat::buckets::DirectoryBucket> bucket;
  BucketCalls calls;

  BucketPlace() : bucket(opened(path)), calls{*bucket} {
    std::ofstream(around.path() + "/secret") << "outside";
    std::filesystem::create_directory(around.path() + "/elsewhere");
  }
  static std::shared_ptr<compat::buckets::DirectoryBucket> opened(const std::string& path) {
    std::filesystem::create_directories(path);
    return *compat::buckets::DirectoryBucket::open(path);
  }
  // The paths of all files, inside and outside the bucket.
  std::vector<std::string> files() const {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(around.path()))
      if (!entry.is_directory())
        files.push_back(std::filesystem::relative(entry.path(), around.path()).generic_string());
    std::sort(files.begin(), files.end());
    return files;
  }
  void refuses(const std::string& key, const std::string& code) const {
    INFO(key);
    const auto before = files();
    CHECK(calls.put(key, "mine") == code);
    CHECK(calls.get(key) == code);
    const auto head = calls.head(key);
    CHECK((head ? "" : head.error().code) == code);
    CHECK(files() == before);
  }
};

}  // namespace mayfly::testing
