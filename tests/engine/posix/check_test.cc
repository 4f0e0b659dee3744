// Checks are enabled in every build. A failed check calls the handler before the process aborts.
#include "engine/base/check.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <string>
#include <thread>

#include "tests/support/child_process.h"

namespace mayfly::testing {

using namespace engine;

namespace {

void fails() {
  const int count = 2;
  MAYFLY_CHECK(count == 3);
}

void tell(const FailedCheck& failed, void* context) {
  std::fprintf(stderr, "%s: %s in %s", static_cast<const char*>(context), failed.expression, failed.file);
}

}  // namespace

TEST_CASE("a failed check prints its expression and location and aborts the process") {
  const Ended ended = in_a_child(fails);
  CHECK(ended.signal == SIGABRT);
  CHECK(
      ended.said.starts_with("mayfly: internal check failed, please report this bug: count == 3 "
                             "(tests/engine/posix/check_test.cc:"));
}

TEST_CASE("a failed check calls the handler and aborts the process when the handler returns") {
  std::string context = "told";
  const Ended ended = in_a_child([&] {
    set_check_handler(&tell, context.data());
    fails();
  });
  CHECK(ended.signal == SIGABRT);
  CHECK(ended.said == "told: count == 3 in tests/engine/posix/check_test.cc");
}

TEST_CASE("a handler that throws or fails a check also aborts the process") {
  const Ended throwing = in_a_child([] {
    set_check_handler([](const FailedCheck&, void*) { throw 1; });
    fails();
  });
  CHECK(throwing.signal == SIGABRT);
  const Ended failing = in_a_child([] {
    set_check_handler([](const FailedCheck&, void*) { fails(); });
    fails();
  });
  CHECK(failing.signal == SIGABRT);
  CHECK(failing.said.find("count == 3") != std::string::npos);
}

TEST_CASE("only one of several checks that fail at the same time is reported") {
  const Ended ended = in_a_child([] {
    std::string context = "told";
    set_check_handler(&tell, context.data());
    std::thread one(fails), other(fails);
    one.join();
    other.join();
  });
  CHECK(ended.signal == SIGABRT);
  CHECK(ended.said == "told: count == 3 in tests/engine/posix/check_test.cc");
}

TEST_CASE("after the handler is removed a failed check prints its message again") {
  const Ended ended = in_a_child([] {
    set_check_handler(&tell);
    set_check_handler(nullptr);
    fails();
  });
  CHECK(ended.said.starts_with("mayfly: internal check failed"));
}

TEST_CASE("a check that succeeds evaluates its expression once and does not abort the process") {
  int looks = 0;
  MAYFLY_CHECK(++looks == 1);
  CHECK(looks == 1);
}

}  // namespace mayfly::testing
