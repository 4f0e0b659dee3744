#include "http/access/keys.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "tests/support/temporary_directory.h"
#include "tests/support/variables.h"

namespace mayfly::testing {

using http::Keys;

namespace {

std::string problem_of(std::string_view text) {
  const auto keys = Keys::parse(text);
  REQUIRE_FALSE(keys);
  return keys.error();
}

// Sets these environment variables and unsets all other variables that hold a part of an AWS key. The
// destructor unsets all of them.
struct Variables {
  explicit Variables(const std::map<std::string, std::string>& values) {
    unset();
    for (const auto& [name, value] : values) set_variable(name, value);
  }
  ~Variables() { unset(); }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  static void unset() {
    for (const char* name : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"})
      unset_variable(name);
  }
};

}  // namespace

TEST_CASE("keys come from an AWS credentials file whose other settings are ignored") {
  const auto keys = Keys::parse(
      "# a comment\n; another\n[default]\naws_access_key_id = AKIDEXAMPLE\r\n"
      "aws_secret_access_key=wJalr/K7+bPx=\r\nregion = eu-west-1\n\n[role]\nrole_arn = "
      "arn:aws:iam::1:role/x\n"
      "source_profile = default\n[ session ]\n  AWS_ACCESS_KEY_ID=000000000042\n\taws_secret_access_key = s\n"
      "aws_session_token = t0ken==\n[again]\naws_access_key_id = AKIDEXAMPLE\n"
      "aws_secret_access_key = wJalr/K7+bPx=");
  REQUIRE(keys);
  CHECK(keys->find("AKIDEXAMPLE")->secret == "wJalr/K7+bPx=");
  CHECK(keys->find("AKIDEXAMPLE")->session_token.empty());
  CHECK(keys->find("000000000042")->secret == "s");
  CHECK(keys->find("000000000042")->session_token == "t0ken==");
  for (const char* id : {"", "akidexample", "AKIDEXAMPLE ", "role"}) CHECK(keys->find(id) == nullptr);
}

TEST_CASE("a keys file with missing or incomplete keys is rejected without revealing a secret") {
  CHECK(problem_of("") == "the file contains no keys");
  CHECK(problem_of("[default]\nregion = x\n") == "the file contains no keys");
  CHECK(problem_of("[a]\naws_access_key_id = A\n") == "profile a has no aws_secret_access_key");
  CHECK(problem_of("[a]\naws_secret_access_key = A\n[b]\n") == "profile a has no aws_access_key_id");
  CHECK(problem_of("[a]\nhunter2\n") == "line 2 is not a setting such as name = value");
  CHECK(problem_of("[a\n") == "line 1 is not a profile name such as [default]");
  CHECK(problem_of("[a]\naws_access_key_id=A\naws_access_key_id=B\n") ==
        "line 3 sets aws_access_key_id again");
  const std::string two = "[a]\naws_access_key_id=A\naws_secret_access_key=one\n[b]\naws_access_key_id=A\n";
  CHECK(problem_of(two + "aws_secret_access_key=two\n") == "the key A appears twice with different secrets");
  CHECK(Keys::parse(two + "aws_secret_access_key=one\n"));
}

TEST_CASE("signature checks take keys from a file or the environment and --keys alone is rejected") {
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() + "/keys";
  const std::string file = path.string();
  std::ofstream(path) << "[a]\naws_access_key_id=A\naws_secret_access_key=one\n";
  const Variables none({});
  CHECK(*Keys::required(false, "") == nullptr);
  CHECK((*Keys::required(true, file))->find("A")->secret == "one");
  CHECK(Keys::required(false, file).error() ==
        "the keys in " + file + " have no effect without --require-signature");
  CHECK(Keys::required(true, "").error() ==
        "--require-signature needs keys: name a file of keys with --keys, or set AWS_ACCESS_KEY_ID and "
        "AWS_SECRET_ACCESS_KEY");
  CHECK(Keys::required(true, file + "x").error() ==
        "cannot use the keys in " + file + "x: No such file or directory");
  CHECK(Keys::required(true, path.parent_path().string()).error() ==
        "cannot use the keys in " + path.parent_path().string() + ": the path is a directory");
  const Variables key(
      {{"AWS_ACCESS_KEY_ID", "B"}, {"AWS_SECRET_ACCESS_KEY", "two"}, {"AWS_SESSION_TOKEN", "t"}});
  const auto keys = *Keys::required(true, "");
  CHECK(keys->find("B")->secret == "two");
  CHECK(keys->find("B")->session_token == "t");
  CHECK((*Keys::required(true, file))->find("B") == nullptr);
  std::filesystem::remove(path);
}

}  // namespace mayfly::testing
