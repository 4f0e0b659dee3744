// Fake functions and a fake Kinesis. The seed decides when they respond, and whether they succeed, fail,
// accept only some of the records or do not respond.
//
//   auto receivers = std::make_shared<Receivers>(seed);
//   … EmulatorOptions{.triggers = {.invoker = receivers, …}, .kinesis = {.invoker = receivers, …}} …
//   receivers->answer_one();          // responds to one of the waiting calls; false if there is none
//   receivers->of("carts/function")   // the records it received, by item, each record once
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "compat/outbound/invoker.h"
#include "tests/simulation/model.h"

namespace mayfly::testing {

class Receivers final : public compat::outbound::Invoker {
 public:
  explicit Receivers(std::uint64_t seed) : random_(seed) {}

  void start(compat::outbound::Invocation invocation, std::stop_token stop, Done done) override;
  bool answer_one();
  // From now on every call succeeds.
  void take_all() { takes_all_ = true; }
  void fail_again() { takes_all_ = false; }
  // Drops the waiting calls, whose callers no longer exist.
  void forget_calls() { calls_.clear(); }
  // Forgets the records received so far.
  void forget_taken() { taken_.clear(); }

  // Records as print_record prints them, in the order of their first delivery.
  using ByItem = std::map<std::string, std::vector<std::string>>;
  [[nodiscard]] const ByItem& of(const std::string& url) { return taken_[url].by_item; }

 private:
  struct Call {
    std::string url;
    Json body;
    std::stop_token stop;
    Done done;
  };
  struct Taken {
    ByItem by_item;
    std::set<std::string> ids;
  };

  void take(const std::string& url, const Json& record, const std::string& id);
  compat::outbound::InvocationAnswer answer_of_function(const Call& call);
  compat::outbound::InvocationAnswer answer_of_kinesis(const Call& call);

  std::mt19937_64 random_;
  bool takes_all_ = false;
  std::vector<Call> calls_;
  std::map<std::string, Taken> taken_;
};

}  // namespace mayfly::testing
