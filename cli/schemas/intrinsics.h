// Evaluates a CloudFormation template: parameters, mappings, conditions, loops and intrinsic functions.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference.html
//
//   auto values = Template::open(tree, context);
//   for (const Template::Resource& resource : values->resources())
//     values->resolve({{"Fn::Sub", "${Stage}-carts"}}, resource)   // "dev-carts"
//
// Supported: Ref, Fn::Sub, Fn::Join, Fn::Select, Fn::Split, Fn::FindInMap, Fn::Base64, Fn::If with
// conditions, Fn::GetAtt of the ARNs of tables, streams, functions, queues, topics and buckets, and three
// functions of AWS::LanguageExtensions: Fn::ForEach, Fn::Length and Fn::ToJsonString.
//
// Values that only AWS knows (another resource's attribute, an import, a dynamic reference, a parameter
// without Default) are taken from SchemaContext::parameters. A missing value is an error, except below a
// member named Tags or Environment, where it becomes "unknown:NAME" and is listed in unknown().
//
// Limits the work that one template can cause through nested loops and functions.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/schemas/schema.h"
#include "engine/base/expected.h"

namespace mayfly::schemas {

class Template {
 public:
  // The loop variables of Fn::ForEach and their values, outermost first.
  using Variables = std::vector<std::pair<std::string, std::string>>;
  // An entry of a template's section. An entry in a loop occurs once for each repetition.
  struct Resource {
    std::string name;
    const json::Tree* body;
    Variables variables;

    [[nodiscard]] bool is_table() const;
    [[nodiscard]] std::string_view type() const;
  };
  using Resolved = Expected<std::optional<json::Tree>, std::string>;

  // `tree` and `context` must outlive the template. The errors of all functions are human-readable sentences.
  static Expected<Template, std::string> open(const json::Tree& tree, const SchemaContext& context);

  [[nodiscard]] const std::vector<Resource>& resources() const { return resources_; }
  // Evaluates `value` as a part of `resource`. Returns nullopt for AWS::NoValue, which means that the member
  // with this value is absent.
  Resolved resolve(const json::Tree& value, const Resource& resource);
  // The name of a resource, which is that of its entry if the template does not give it another one.
  Expected<std::string, std::string> name_of(const Resource& resource);
  // Whether the Condition of `resource` allows its creation.
  Expected<bool, std::string> is_made(const Resource& resource);
  // The names of the values that placeholders stand for.
  [[nodiscard]] const std::set<std::string>& unknown() const { return unknown_; }

 private:
  struct At {
    const Variables& variables;
    std::size_t depth = 0;
    bool may_be_unknown = false;
    bool has_only_values = false;  // as a function would see them: not the names of entries

    [[nodiscard]] At deeper() const { return {variables, depth + 1, may_be_unknown, has_only_values}; }
  };
  struct Loop {
    std::string variable;
    std::vector<std::string> values;
    const json::Tree* body;
  };
  using Text = Expected<std::string, std::string>;

  Template(const json::Tree& tree, const SchemaContext& context) : tree_(tree), context_(context) {}

  Expected<void, std::string> charge(std::size_t work);
  Expected<void, std::string> collect(const json::Tree& section, const Variables& variables,
                                      std::size_t depth, std::vector<Resource>& entries);
  Expected<Loop, std::string> loop(const json::Tree& written, At at);
  Text with_variables(const std::string& text, At at);
  Text with_references(const std::string& text, At at);

  Resolved resolve(const json::Tree& value, At at);
  Resolved resolve_object(const json::Tree& value, At at);
  Resolved function(const std::string& name, const json::Tree& argument, At at);
  Resolved reference(const std::string& name, At at);
  Resolved parameter(const std::string& name, const json::Tree& declared, At at);
  Resolved aliased(const Resource& alias, At at);
  Resolved attribute(const json::Tree& argument, At at);
  Resolved substituted(const json::Tree& argument, At at);
  Resolved found_in_map(const json::Tree& argument, At at);
  Resolved unknown(const std::string& name, const std::string& problem, At at);
  Text text(const json::Tree& value, At at);
  Text physical_name(const Resource& resource, At at);
  Expected<bool, std::string> condition(const json::Tree& value, At at);
  Expected<bool, std::string> named_condition(std::size_t place, std::size_t depth);

  const json::Tree& tree_;
  const SchemaContext& context_;
  std::vector<Resource> resources_, conditions_;
  std::map<std::string, std::size_t> resource_places_, condition_places_;
  std::map<std::size_t, bool> condition_values_;  // conditions evaluated so far, by index in conditions_
  std::set<std::string> unknown_;
  std::size_t work_ = 0;
};

}  // namespace mayfly::schemas
