// Functions by name: where each is, per account.
//
//   functions.set("000000000000", "reminder", {*Url::parse("http://127.0.0.1:9000/")});
//   if (auto function = functions.find("000000000000", "reminder")) post_to(function->url);
//
// What was given when Mayfly started is every account's; what an account registers is its own, goes first,
// and survives a restart. Destinations are found by the same names: an ARN's last part. Thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compat/outbound/url.h"
#include "engine/documents.h"
#include "engine/mutex.h"

namespace mayfly::compat::triggers {

struct Function {
  static constexpr std::chrono::seconds time_max_default{60}, time_max_max{1'800};

  outbound::Url url;
  std::chrono::milliseconds time_max = time_max_default;  // an invocation's, in real time
};

class Functions {
 public:
  // `everybodys`: of all accounts. `functions_max`: how many all accounts may register. `changed` is called
  // after each change with the account that made it, by the thread that made it.
  Functions(engine::Documents& documents, std::map<std::string, Function> everybodys,
            std::size_t functions_max, std::function<void(std::string_view account)> changed);

  [[nodiscard]] std::optional<Function> find(std::string_view account, std::string_view name) const;
  // False: it is a new one, and there are as many as there may be.
  bool set(std::string_view account, std::string_view name, const Function& function);
  bool remove(std::string_view account,
              std::string_view name);  // false: it was not registered by this account
  [[nodiscard]] std::vector<std::pair<std::string, Function>> list(
      std::string_view account) const;  // by name
  // Those that accounts have registered.
  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] std::size_t functions_max() const { return functions_max_; }

 private:
  engine::Documents& documents_;
  const std::map<std::string, Function> everybodys_;
  const std::size_t functions_max_;
  const std::function<void(std::string_view account)> changed_;
  engine::Mutex changing_;  // held by who changes what is stored
  mutable engine::Mutex mutex_;
  std::map<std::pair<std::string, std::string>, Function> functions_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::compat::triggers
