// What a CloudFormation template's functions come to: Ref, Fn::Sub, Fn::Join, Fn::If with its conditions,
// Fn::Select, Fn::Split and Fn::FindInMap.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/intrinsic-function-reference.html
//
//   Template values(tree, context);
//   values.resolve({{"Fn::Sub", "${Stage}-carts"}})   // "dev-carts"
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "cli/schemas/schema.h"
#include "engine/expected.h"

namespace mayfly::schemas {

class Template {
 public:
  // Both live as long as this.
  Template(const json::Tree& tree, const SchemaContext& context) : tree_(tree), context_(context) {}

  // Nothing: AWS::NoValue, so what has it as its value has no value. The error is a sentence.
  Expected<std::optional<json::Tree>, std::string> resolve(const json::Tree& value) const;
  // Whether a resource with this Condition is made.
  Expected<bool, std::string> holds(const std::string& condition) const;

 private:
  using Resolved = Expected<std::optional<json::Tree>, std::string>;

  Resolved resolve(const json::Tree& value, std::size_t depth) const;
  Resolved function(const std::string& name, const json::Tree& argument, std::size_t depth) const;
  Resolved reference(const std::string& name) const;
  Resolved substituted(const json::Tree& argument, std::size_t depth) const;
  Resolved found_in_map(const json::Tree& argument, std::size_t depth) const;
  Expected<std::string, std::string> text(const json::Tree& value, std::size_t depth) const;
  Expected<bool, std::string> condition(const json::Tree& value, std::size_t depth) const;

  const json::Tree& tree_;
  const SchemaContext& context_;
};

}  // namespace mayfly::schemas
