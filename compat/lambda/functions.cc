#include "compat/lambda/functions.h"

#include <nlohmann/json.hpp>

#include "compat/json/json_tree.h"
#include "engine/base/mutex.h"

namespace mayfly::compat::triggers {
namespace {

constexpr std::string_view function_kind = "function";

// {"url":"http://…","timeout_ms":60000}
std::string print(const Function& function) {
  return json::print({{"url", function.url.text}, {"timeout_ms", function.time_max.count()}});
}

std::map<std::pair<std::string, std::string>, Function> stored_in(const engine::Documents& documents) {
  std::map<std::pair<std::string, std::string>, Function> functions;
  for (const engine::Document& stored : documents.list(function_kind)) {
    const auto document = json::parse_tree(stored.bytes);
    if (!document) continue;
    auto url = outbound::Url::parse(json::string_member(*document, "url").value_or(""));
    if (!url) continue;
    Function function{*std::move(url)};
    function.time_max = std::chrono::milliseconds(
        json::integer_member(*document, "timeout_ms").value_or(function.time_max.count()));
    functions[{stored.name.account, stored.name.name}] = std::move(function);
  }
  return functions;
}

}  // namespace

outbound::Invocation call_of(const Function& function, std::string_view arn, std::string body) {
  return {.url = function.url,
          .body = std::move(body),
          .headers = {{"Lambda-Runtime-Invoked-Function-Arn", std::string(arn)}},
          .time_max = function.time_max};
}

Functions::Functions(engine::Documents& documents, std::map<std::string, Function> everybodys,
                     std::size_t functions_max, std::function<void(std::string_view account)> changed)
    : documents_(documents),
      everybodys_(std::move(everybodys)),
      functions_max_(functions_max),
      changed_(std::move(changed)),
      functions_(stored_in(documents)) {}

std::optional<Function> Functions::find(std::string_view account, std::string_view name) const {
  {
    const engine::Lock lock(mutex_);
    const auto own = functions_.find({std::string(account), std::string(name)});
    if (own != functions_.end()) return own->second;
  }
  const auto shared = everybodys_.find(std::string(name));
  return shared == everybodys_.end() ? std::nullopt : std::optional(shared->second);
}

bool Functions::set(std::string_view account, std::string_view name, const Function& function) {
  const std::pair key{std::string(account), std::string(name)};
  {
    const engine::Lock changing(changing_);
    {
      const engine::Lock lock(mutex_);
      if (functions_.size() >= functions_max_ && !functions_.contains(key)) return false;
    }
    documents_.put({key.first, std::string(function_kind), key.second}, print(function));
    const engine::Lock lock(mutex_);
    functions_[key] = function;
  }
  changed_(account);
  return true;
}

bool Functions::remove(std::string_view account, std::string_view name) {
  const std::pair key{std::string(account), std::string(name)};
  {
    const engine::Lock changing(changing_);
    {
      const engine::Lock lock(mutex_);
      if (!functions_.contains(key)) return false;
    }
    documents_.erase({key.first, std::string(function_kind), key.second});
    const engine::Lock lock(mutex_);
    functions_.erase(key);
  }
  changed_(account);
  return true;
}

std::size_t Functions::count() const {
  const engine::Lock lock(mutex_);
  return functions_.size();
}

std::vector<std::pair<std::string, Function>> Functions::list(std::string_view account) const {
  std::map<std::string, Function> all = everybodys_;
  const engine::Lock lock(mutex_);
  for (auto own = functions_.lower_bound({std::string(account), {}});
       own != functions_.end() && own->first.first == account; ++own)
    all[own->first.second] = own->second;
  return {all.begin(), all.end()};
}

}  // namespace mayfly::compat::triggers
