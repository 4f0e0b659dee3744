#include "engine/time/agenda.h"

#include <catch2/catch.hpp>
#include <vector>

#include "engine/database.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace engine;

TEST_CASE("an agenda returns an account exactly once after it is added or its alarm is due", "[agenda]") {
  World world;
  Accounts& accounts = world.database().accounts();
  Account& a = accounts.of("000000000001");
  Account& b = accounts.of("000000000002");
  Account& c = accounts.of("000000000003");
  const RealTime start = host_time(), later = start + std::chrono::seconds(1);
  Agenda agenda;
  CHECK(agenda.take(start).empty());
  CHECK_FALSE(agenda.next_alarm());

  agenda.add(&b);
  agenda.add(&a);
  agenda.add(&b);
  agenda.set_alarm(&c, later);
  CHECK(agenda.next_alarm() == later);
  CHECK(agenda.take(start) == std::vector<Account*>{&a, &b});
  CHECK(agenda.take(start).empty());
  CHECK(agenda.take(later) == std::vector<Account*>{&c});
  CHECK_FALSE(agenda.next_alarm());
}

TEST_CASE("a new alarm replaces the account's previous alarm and taking the account cancels its alarm",
          "[agenda]") {
  World world;
  Account& account = world.database().accounts().of("000000000001");
  const RealTime start = host_time(), soon = start + std::chrono::seconds(1),
                 later = start + std::chrono::seconds(2);
  Agenda agenda;
  agenda.set_alarm(&account, soon);
  agenda.set_alarm(&account, later);
  CHECK(agenda.next_alarm() == later);
  CHECK(agenda.take(soon).empty());
  agenda.add(&account);
  CHECK(agenda.take(soon) == std::vector<Account*>{&account});
  CHECK(agenda.take(later).empty());
}

}  // namespace mayfly::testing
