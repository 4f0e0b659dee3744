// Stores the URL of each registered function, by account and name.
//
//   functions.set("000000000000", "reminder", {*Url::parse("http://127.0.0.1:9000/")});
//   if (auto function = functions.find("000000000000", "reminder")) post_to(function->url);
//
// Functions that are given when Mayfly starts belong to all accounts. A function that an account registers
// belongs to that account, overrides a function with the same name that belongs to all accounts, and survives
// a restart. Destinations that are ARNs are looked up here too: the name is the last part of the ARN.
// Thread-safe.
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

#include "compat/outbound/invoker.h"
#include "compat/outbound/url.h"
#include "engine/base/mutex.h"
#include "engine/storage/documents.h"

namespace mayfly::compat::triggers {

struct Function {
  static constexpr std::chrono::seconds time_max_default{60}, time_max_max{1'800};

  outbound::Url url;
  std::chrono::milliseconds time_max = time_max_default;  // for one invocation, in real time
};

// A call to a function. `arn` names it as its caller sees it; functions that are programs take the caller's
// account and region from it (http/functions).
outbound::Invocation call_of(const Function& function, std::string_view arn, std::string body);

class Functions {
 public:
  // `everybodys` are the functions that all accounts can use. `functions_max` limits how many functions all
  // accounts together can register. `changed` is called after each change, with the account that made it, on
  // the thread that made it.
  Functions(engine::Documents& documents, std::map<std::string, Function> everybodys,
            std::size_t functions_max, std::function<void(std::string_view account)> changed);

  [[nodiscard]] std::optional<Function> find(std::string_view account, std::string_view name) const;
  // Returns false if the account has not registered the function yet and the limit is reached.
  bool set(std::string_view account, std::string_view name, const Function& function);
  // Returns false if the account has not registered the function.
  bool remove(std::string_view account, std::string_view name);
  // Sorted by name.
  [[nodiscard]] std::vector<std::pair<std::string, Function>> list(std::string_view account) const;
  // How many functions accounts have registered.
  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] std::size_t functions_max() const { return functions_max_; }

 private:
  engine::Documents& documents_;
  const std::map<std::string, Function> everybodys_;
  const std::size_t functions_max_;
  const std::function<void(std::string_view account)> changed_;
  engine::Mutex changing_;  // held while the stored functions are changed
  mutable engine::Mutex mutex_;
  std::map<std::pair<std::string, std::string>, Function> functions_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::compat::triggers
