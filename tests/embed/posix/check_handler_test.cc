// Tests the handlers of failed checks that programs set.
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <functional>
#include <mayfly/mayfly.h>
#include <mayfly/mayfly_c.h>
#include <string>

#include "engine/base/check.h"
#include "tests/support/child_process.h"

namespace mayfly::testing {

namespace {

// Calls `set_handler` in a child process and makes a check fail there. Returns the child's standard error.
std::string said_of_a_failed_check(const std::function<void()>& set_handler) {
  const Ended ended = in_a_child([&] {
    set_handler();
    engine::check_failed("a == b", "engine/some.cc", 7);
  });
  CHECK(ended.signal == SIGABRT);
  return ended.said;
}

}  // namespace

TEST_CASE("a check handler that was set from C++ or C is called when a check fails") {
  CHECK(said_of_a_failed_check([] {
          mayfly::set_check_handler([](const mayfly::FailedCheck&) {});
          mayfly::set_check_handler([mine = std::string("mine")](const mayfly::FailedCheck& failed) {
            std::fprintf(stderr, "%s %s %s %d", mine.c_str(), std::string(failed.expression).c_str(),
                         std::string(failed.file).c_str(), failed.line);
          });
        }) == "mine a == b engine/some.cc 7");
  CHECK(said_of_a_failed_check([] {
          static char context[] = "C's";
          mayfly_set_check_handler(
              [](const char* expression, const char* file, int line, void* given) {
                std::fprintf(stderr, "%s %s %s %d", static_cast<char*>(given), expression, file, line);
              },
              context);
        }) == "C's a == b engine/some.cc 7");
  CHECK(said_of_a_failed_check([] {
          mayfly::set_check_handler([](const mayfly::FailedCheck&) {});
          mayfly::set_check_handler(nullptr);
        }) == "mayfly: internal check failed, please report this bug: a == b (engine/some.cc:7)\n");
}

}  // namespace mayfly::testing
