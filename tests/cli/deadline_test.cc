#include "cli/base/deadline.h"

#include <catch2/catch.hpp>
#include <future>

namespace mayfly::testing {

using std::chrono::seconds;

TEST_CASE("a deadline that was not canceled calls its function when the deadline passes") {
  std::promise<void> passed;
  const cli::Deadline at_once(seconds(0), [&] { passed.set_value(); });
  passed.get_future().wait();

  bool told = false;
  {
    const cli::Deadline kept(seconds(1000), [&] { told = true; });
  }
  CHECK_FALSE(told);
}

}  // namespace mayfly::testing
