#include "cli/schemas/yaml.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <yaml-cpp/yaml.h>

namespace mayfly::schemas {

namespace {

using json::Tree;

constexpr std::size_t depth_max = 100;
// An alias costs a few bytes to write and may stand for much.
constexpr std::size_t nodes_max = 1'000'000;

class Reader {
 public:
  Expected<Tree, std::string> read(const YAML::Node& node, std::size_t depth) {
    if (depth > depth_max) return Unexpected{std::string("it is nested too deeply")};
    if (++nodes_ > nodes_max) return Unexpected{std::string("its aliases stand for too much")};
    TRY(Tree value, content(node, depth));
    const std::string& tag = node.Tag();
    if (tag.size() < 2 || tag[0] != '!') return value;
    const std::string function = tag.substr(1);
    if (function == "Ref" || function == "Condition") return Tree{{function, std::move(value)}};
    if (function == "GetAtt" && value.is_string()) {
      const auto& text = value.get_ref<const std::string&>();
      const auto dot = text.find('.');
      if (dot != std::string::npos) value = Tree::array({text.substr(0, dot), text.substr(dot + 1)});
    }
    return Tree{{"Fn::" + function, std::move(value)}};
  }

 private:
  Expected<Tree, std::string> content(const YAML::Node& node, std::size_t depth) {
    if (node.IsScalar()) return scalar(node);
    if (node.IsSequence()) {
      Tree elements = Tree::array();
      for (const YAML::Node& element : node) {
        TRY(Tree value, read(element, depth + 1));
        elements.push_back(std::move(value));
      }
      return elements;
    }
    if (!node.IsMap()) return Tree();
    Tree::object_t members;
    for (const auto& member : node) {
      if (!member.first.IsScalar()) {
        return Unexpected{"line " + std::to_string(member.first.Mark().line + 1) + ": a key is no text"};
      }
      TRY(Tree value, read(member.second, depth + 1));
      members.emplace_back(member.first.Scalar(), std::move(value));
    }
    return Tree(std::move(members));
  }

  // YAML 1.2's core schema: what is not quoted may be a number, a truth value or nothing.
  static Tree scalar(const YAML::Node& node) {
    const std::string& text = node.Scalar();
    if (node.Tag() != "?") return text;
    if (text == "true" || text == "True" || text == "TRUE") return true;
    if (text == "false" || text == "False" || text == "FALSE") return false;
    if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return {};
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failure == std::errc{} && end == text.data() + text.size() && std::to_string(number) == text)
      return number;
    return text;
  }

  std::size_t nodes_ = 0;
};

}  // namespace

Expected<Tree, std::string> parse_yaml(const std::string& text) {
  try {
    return Reader().read(YAML::Load(text), 0);
  } catch (const YAML::Exception& failure) {
    return Unexpected{(failure.mark.is_null() ? "" : "line " + std::to_string(failure.mark.line + 1) + ": ") +
                      failure.msg};
  }
}

}  // namespace mayfly::schemas
