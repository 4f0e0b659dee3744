// Tests the prefixes of long paths on Windows.
#include "os/path.h"

#include <catch2/catch.hpp>
#include <string>

namespace mayfly::testing {

using os::path_of;
using os::text_of;

TEST_CASE("a long path gets the prefix for drives or for servers, and its text has no prefix") {
  const std::string name(300, 'a');
  CHECK(path_of("C:/" + name).native().starts_with(L"\\\\?\\C:\\a"));
  CHECK(text_of(path_of("C:/" + name)) == "C:\\" + name);
  CHECK(path_of("//server/share/" + name).native().starts_with(L"\\\\?\\UNC\\server\\share\\a"));
  CHECK(text_of(path_of("//server/share/" + name)) == "\\\\server\\share\\" + name);
}

TEST_CASE("a path that needs the prefix for long paths keeps it") {
  for (const std::string text : {"\\\\?\\Volume{1}\\a", "\\\\?\\"}) CHECK(text_of(path_of(text)) == text);
  CHECK(text_of(path_of("\\\\?\\C:\\a")) == "C:\\a");
}

}  // namespace mayfly::testing
