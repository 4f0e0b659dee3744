#include "cli/schemas/terraform_plan.h"

#include <algorithm>
#include <utility>

namespace mayfly::schemas {

namespace {

using json::Tree;

constexpr std::size_t module_depth_max = 100, variable_depth_max = 100, steps_max = 1000;

// Follows members, and the only element of each list, which is how plans write blocks.
const Tree* at(const Tree* tree, std::initializer_list<const char*> path) {
  for (const char* name : path) {
    if (tree != nullptr && tree->is_array()) tree = tree->empty() ? nullptr : &(*tree)[0];
    tree = tree != nullptr ? json::member(*tree, name) : nullptr;
  }
  return tree;
}

std::string text(const Tree& object, const char* name) {
  return std::string(json::string_member(object, name).value_or(""));
}

// "0" or "carts"; empty: the resource is the only one.
std::string index_of(const Tree& resource) {
  const Tree* const index = json::member(resource, "index");
  if (index == nullptr) return {};
  return index->is_string() ? index->get<std::string>() : json::print(*index);
}

// Splits "module.db[\"a.b\"].aws_dynamodb_table.carts[0].arn" at dots, outside of brackets.
struct Part {
  std::string name, index;  // "carts", "0"
};
std::vector<Part> parts_of(std::string_view reference) {
  std::vector<Part> parts(1);
  bool in_brackets = false, in_quotes = false;
  for (const char c : reference) {
    if (c == '"' && in_brackets) {
      in_quotes = !in_quotes;
    } else if (!in_quotes && (c == '[' || c == ']')) {
      in_brackets = c == '[';
    } else if (c == '.' && !in_brackets) {
      parts.emplace_back();
    } else {
      (in_brackets ? parts.back().index : parts.back().name) += c;
    }
  }
  return parts;
}

// Identifies all instances of a resource.
std::string identity(const Plan::Module& module, bool is_data, std::string_view type, std::string_view name) {
  std::string whole;
  for (const std::string& part : module) whole += part + '.';
  return whole + (is_data ? "data." : ".") + std::string(type) + '.' + std::string(name);
}

}  // namespace

Expected<Plan, std::string> Plan::open(const Tree& tree) {
  Plan plan(tree);
  const Tree* planned = at(&tree, {"planned_values", "root_module"});
  if (planned == nullptr) planned = at(&tree, {"values", "root_module"});
  if (planned != nullptr) CHECK_OK(plan.collect(*planned, 0, false));
  // A plan has the data sources that Terraform has read in the prior state.
  if (const Tree* const prior = at(&tree, {"prior_state", "values", "root_module"}))
    CHECK_OK(plan.collect(*prior, 0, true));
  for (std::size_t i = 0; i < plan.resources_.size(); ++i) {
    const Resource& one = plan.resources_[i];
    plan.instances_[identity(one.module, one.is_data, one.type, one.name)].push_back(i);
  }
  if (const Tree* const root = at(&tree, {"configuration", "root_module"})) plan.configure(*root, {}, 0);
  const Tree* const changes = json::member(tree, "resource_changes");
  if (changes != nullptr && changes->is_array())
    for (const Tree& change : *changes)
      plan.changes_[json::string_member(change, "address").value_or("")] = &change;
  return plan;
}

void Plan::configure(const Tree& module, const Module& path, std::size_t depth) {
  if (depth > module_depth_max) return;
  modules_[path] = &module;
  const Tree* const resources = json::member(module, "resources");
  if (resources != nullptr && resources->is_array())
    for (const Tree& one : *resources)
      if (const Tree* const written = json::member(one, "expressions"))
        expressions_[identity(path, json::string_member(one, "mode") == "data", text(one, "type"),
                              text(one, "name"))] = written;
  const Tree* const calls = json::member(module, "module_calls");
  if (calls == nullptr || !calls->is_object()) return;
  for (const auto& [name, call] : calls->items()) {
    const Tree* const called = json::member(call, "module");
    Module child = path;
    child.push_back(name);
    if (called != nullptr) configure(*called, child, depth + 1);
  }
}

Expected<void, std::string> Plan::collect(const Tree& module, std::size_t depth, bool only_data) {
  if (depth > module_depth_max) return Unexpected{std::string("modules are nested more than 100 deep")};
  Module path;
  std::vector<std::string> indexes;
  const auto address = parts_of(text(module, "address"));  // "module.db[0].module.table"
  for (std::size_t i = 1; i < address.size(); i += 2) {
    path.push_back(address[i].name);
    indexes.push_back(address[i].index);
  }
  const Tree* const resources = json::member(module, "resources");
  if (resources != nullptr && resources->is_array()) {
    for (const Tree& resource : *resources) {
      const Tree* const values = json::member(resource, "values");
      const bool is_data = json::string_member(resource, "mode") == "data";
      if (values == nullptr || (only_data && !is_data)) continue;
      resources_.push_back({path, indexes, is_data, text(resource, "type"), text(resource, "name"),
                            index_of(resource), text(resource, "address"), values});
    }
  }
  const Tree* const modules = json::member(module, "child_modules");
  if (modules == nullptr || !modules->is_array()) return {};
  for (const Tree& child : *modules) CHECK_OK(collect(child, depth + 1, only_data));
  return {};
}

const Tree* Plan::configuration(const Module& module) const {
  const auto found = modules_.find(module);
  return found == modules_.end() ? nullptr : found->second;
}

const Tree* Plan::expressions(const Resource& of) const {
  const auto found = expressions_.find(identity(of.module, of.is_data, of.type, of.name));
  return found == expressions_.end() ? nullptr : found->second;
}

const Plan::Resource* Plan::referred(const Resource& from, std::initializer_list<const char*> path) const {
  Search search{from, from.module_indexes, steps_max};
  return follow(at(expressions(from), path), from.module, search);
}

const Plan::Resource* Plan::follow(const Tree* expression, const Module& module, Search& search) const {
  const Tree* const references = expression != nullptr ? json::member(*expression, "references") : nullptr;
  if (references == nullptr || !references->is_array()) return nullptr;
  for (const Tree& reference : *references) {
    if (!reference.is_string() || search.steps_left == 0) continue;
    --search.steps_left;
    const Resource* const found = follow_reference(reference.get_ref<const std::string&>(), module, search);
    if (found != nullptr) return found;
  }
  return nullptr;
}

const Plan::Resource* Plan::instance_of(const std::string& identity, const std::string& index,
                                        const Search& search) const {
  const auto instances = instances_.find(identity);
  if (instances == instances_.end()) return nullptr;
  // An index that the expression does not name can be that of the resource which has the expression.
  const auto is_own = [&](const std::string& one) {
    const auto& own = search.from.module_indexes;
    return one.empty() || one == search.from.index || std::find(own.begin(), own.end(), one) != own.end();
  };
  std::vector<const Resource*> possible, own;
  for (const std::size_t place : instances->second) {
    const Resource& one = resources_[place];
    bool fits = index.empty() || one.index == index;
    bool has_own_indexes = !index.empty() || is_own(one.index);
    for (std::size_t i = 0; i < std::min(one.module_indexes.size(), search.module_indexes.size()); ++i) {
      const bool is_any = search.module_indexes[i] == "*";
      fits = fits && (is_any || search.module_indexes[i] == one.module_indexes[i]);
      has_own_indexes = has_own_indexes && (!is_any || is_own(one.module_indexes[i]));
    }
    if (fits) possible.push_back(&one);
    if (fits && has_own_indexes) own.push_back(&one);
  }
  if (!own.empty()) return own.front();
  return possible.size() == 1 ? possible.front() : nullptr;
}

const Plan::Resource* Plan::follow_reference(std::string_view reference, const Module& module,
                                             Search& search) const {
  const auto parts = parts_of(reference);
  const auto part = [&](std::size_t i) { return i < parts.size() ? parts[i] : Part{}; };
  const auto indexes = search.module_indexes;
  const Resource* found = nullptr;
  if (part(0).name == "var") {
    if (module.empty()) return nullptr;
    const Module parent(module.begin(), module.end() - 1);
    if (!search.module_indexes.empty()) search.module_indexes.pop_back();
    found = follow(at(configuration(parent),
                      {"module_calls", module.back().c_str(), "expressions", part(1).name.c_str()}),
                   parent, search);
  } else if (part(0).name == "module") {
    Module child = module;
    child.push_back(part(1).name);
    search.module_indexes.push_back(part(1).index.empty() ? "*" : part(1).index);
    found = follow(at(configuration(child), {"outputs", part(2).name.c_str(), "expression"}), child, search);
  } else {
    const bool is_data = part(0).name == "data";
    const Part type = part(is_data ? 1 : 0), name = part(is_data ? 2 : 1);
    found = instance_of(identity(module, is_data, type.name, name.name), name.index, search);
  }
  search.module_indexes = indexes;
  return found;
}

std::optional<std::string> Plan::configured_text(const Resource& of, const char* attribute) const {
  return text_of(at(expressions(of), {attribute}), of.module, 0);
}

std::optional<std::string> Plan::text_of(const Tree* expression, const Module& module,
                                         std::size_t depth) const {
  if (expression == nullptr || depth > variable_depth_max) return std::nullopt;
  if (const auto constant = json::string_member(*expression, "constant_value")) return std::string(*constant);
  const Tree* const references = json::member(*expression, "references");
  if (references == nullptr || !references->is_array() || references->size() != 1) return std::nullopt;
  const Tree& reference = (*references)[0];
  const auto parts = parts_of(reference.is_string() ? reference.get_ref<const std::string&>() : "");
  if (parts.size() != 2 || parts[0].name != "var") return std::nullopt;
  const char* const name = parts[1].name.c_str();
  if (module.empty()) {
    const Tree* const value = at(&tree_, {"variables", name, "value"});
    return value != nullptr && value->is_string() ? std::optional(value->get<std::string>()) : std::nullopt;
  }
  const Module parent(module.begin(), module.end() - 1);
  return text_of(at(configuration(parent), {"module_calls", module.back().c_str(), "expressions", name}),
                 parent, depth + 1);
}

std::vector<std::string> Plan::unknown_variables(const Resource& of) const {
  std::vector<std::string> names;
  const auto change = changes_.find(of.address);
  if (change == changes_.end()) return names;
  const Tree* const unknown = at(change->second, {"change", "after_unknown", "environment", "variables"});
  if (unknown != nullptr && unknown->is_boolean()) names.emplace_back();  // the whole map
  if (unknown == nullptr || !unknown->is_object()) return names;
  for (const auto& [name, is_unknown] : unknown->items())
    if (is_true(&is_unknown)) names.push_back(name);
  return names;
}

}  // namespace mayfly::schemas
