// The resources of a Terraform plan or state, and what their expressions refer to.
//
// A plan does not contain values that only AWS knows, such as the ARN of a stream that does not exist yet.
// The plan's configuration still tells which table the ARN belongs to, possibly through variables and outputs
// of modules.
//
//   TRY(const Plan plan, Plan::open(tree));
//   for (const Plan::Resource& mapping : plan.resources())
//     plan.referred(mapping, {"event_source_arn"})      // the table, or nullptr
#pragma once

#include <cstddef>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/schemas/schema.h"
#include "engine/base/expected.h"

namespace mayfly::schemas {

class Plan {
 public:
  // The names of modules from the root, without indexes. The root is {}.
  using Module = std::vector<std::string>;
  struct Resource {
    Module module;
    std::vector<std::string> module_indexes;  // of each module; empty: it has only one instance
    bool is_data;                             // not managed: Terraform only reads it
    std::string type, name, index, address;
    const json::Tree* values;
  };

  // `tree` must outlive the plan. The error is "modules are nested more than 100 deep".
  static Expected<Plan, std::string> open(const json::Tree& tree);

  [[nodiscard]] const std::vector<Resource>& resources() const { return resources_; }
  // The resource that the expression of an attribute refers to, or nullptr if it refers to none. The path
  // leads to an attribute in blocks: {"destination_config", "on_failure", "destination_arn"}. If the resource
  // or a module has several instances, and the expression names none of them, returns the one with an index
  // of `from`, or nullptr.
  [[nodiscard]] const Resource* referred(const Resource& from, std::initializer_list<const char*> path) const;
  // The value of an attribute of a data source that has not been read yet.
  [[nodiscard]] std::optional<std::string> configured_text(const Resource& of, const char* attribute) const;
  // The variables in the environment of a function that are not known before the plan is applied. "": the
  // names are not known either.
  [[nodiscard]] std::vector<std::string> unknown_variables(const Resource& of) const;

 private:
  struct Search {
    const Resource& from;
    std::vector<std::string> module_indexes;  // of the module that is searched; "*": any
    std::size_t steps_left;                   // limits the work that one plan can cause
  };

  explicit Plan(const json::Tree& tree) : tree_(tree) {}
  Expected<void, std::string> collect(const json::Tree& module, std::size_t depth, bool only_data);
  void configure(const json::Tree& module, const Module& path, std::size_t depth);
  [[nodiscard]] const json::Tree* configuration(const Module& module) const;
  [[nodiscard]] const json::Tree* expressions(const Resource& of) const;
  [[nodiscard]] const Resource* follow(const json::Tree* expression, const Module& module,
                                       Search& search) const;
  [[nodiscard]] const Resource* instance_of(const std::string& identity, const std::string& index,
                                            const Search& search) const;
  [[nodiscard]] const Resource* follow_reference(std::string_view reference, const Module& module,
                                                 Search& search) const;
  [[nodiscard]] std::optional<std::string> text_of(const json::Tree* expression, const Module& module,
                                                   std::size_t depth) const;

  const json::Tree& tree_;
  std::vector<Resource> resources_;
  std::map<std::string, std::vector<std::size_t>> instances_;  // in resources_, by identity
  std::map<Module, const json::Tree*> modules_;                // their configuration
  std::map<std::string, const json::Tree*> expressions_;       // by identity
  std::map<std::string_view, const json::Tree*> changes_;      // by address
};

}  // namespace mayfly::schemas
