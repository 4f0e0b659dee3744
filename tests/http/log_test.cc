#include "http/base/log.h"

#include <catch2/catch.hpp>

namespace mayfly::testing {

using mayfly::http::log::printable;

TEST_CASE("client data is logged as one printable line that keeps letters of all languages") {
  const std::pair<std::string, std::string> cases[] = {
      {"GET /?a=b -> 200", "GET /?a=b -> 200"},
      {"/home/j\u00f6rg/\u65e5\u672c/\U0001f41b", "/home/j\u00f6rg/\u65e5\u672c/\U0001f41b"},
      {"a\tb\r\nc", "a\\x09b\\x0d\\x0ac"},
      {"\x1b[31m", "\\x1b[31m"},
      {"\x7f", "\\x7f"},
      {std::string("\0", 1), "\\x00"},
      {"\x9b"
       "31m",
       "\\x9b31m"},  // the control character CSI as one byte
      {"\xc2\x9b"
       "31m",
       "\\xc2\\x9b31m"},  // CSI as UTF-8
      {"\xc2\xa0", "\xc2\xa0"},
      {"\xc0\x9b", "\\xc0\\x9b"},  // overlong
      {"\xe0\x82\x9b", "\\xe0\\x82\\x9b"},
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},  // a surrogate
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
      {"\xe6\x97", "\\xe6\\x97"},  // truncated
      {"\xe6\x97x", "\\xe6\\x97x"},
  };
  for (const auto& [text, shown] : cases) CHECK(printable(text) == shown);
}

}  // namespace mayfly::testing
