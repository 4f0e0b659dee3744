#include "cli/views/metrics_view.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/text.h"
#include "http/base/log.h"

namespace mayfly::cli {
namespace {

using json::Tree;

constexpr std::size_t quoted_bytes_max = 200;

// Takes a label's value and the closing quote from `rest`. Returns nullopt if that quote is missing.
std::optional<std::string> take_value(std::string_view& rest) {
  std::string value;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] == '"') {
      rest.remove_prefix(i + 1);
      return value;
    }
    if (rest[i] == '\\' && i + 1 < rest.size())
      value += rest[++i] == 'n' ? '\n' : rest[i];
    else
      value += rest[i];
  }
  return std::nullopt;
}

// Takes a="1",b="2"} from the beginning of `rest`.
std::optional<Tree> take_labels(std::string_view& rest) {
  std::map<std::string, std::string, std::less<>> labels;
  while (!rest.starts_with('}')) {
    const auto equals = rest.find("=\"");
    if (equals == 0 || equals == std::string_view::npos) return std::nullopt;
    std::string name(rest.substr(0, equals));
    rest.remove_prefix(equals + 2);
    auto value = take_value(rest);
    if (!value) return std::nullopt;
    labels.insert_or_assign(std::move(name), *std::move(value));
    if (rest.starts_with(',')) rest.remove_prefix(1);
  }
  rest.remove_prefix(1);
  Tree tree = Tree::object();
  for (auto& [name, value] : labels) json::add_member(tree, name, std::move(value));
  return tree;
}

// Parses 3, 0.25 or +Inf. A timestamp after the value is ignored.
Tree value_of(std::string_view text) {
  text = text.substr(0, text.find(' '));
  auto number = json::parse_tree(text, json::Decimals::as_written);
  const bool is_number = number && !text.empty() && (text.front() == '-' || engine::is_digit(text.front()));
  return is_number ? *std::move(number) : Tree(std::string(text));
}

struct Sample {
  std::string name;
  Tree tree;
};

std::optional<Sample> sample_of(std::string_view line) {
  const auto end = line.find_first_of("{ ");
  if (end == 0 || end == std::string_view::npos) return std::nullopt;
  Sample sample{.name = std::string(line.substr(0, end)), .tree = Tree::object()};
  std::string_view rest = line.substr(end);
  Tree labels = Tree::object();
  if (rest.starts_with('{')) {
    rest.remove_prefix(1);
    auto taken = take_labels(rest);
    if (!taken) return std::nullopt;
    labels = *std::move(taken);
  }
  if (!rest.starts_with(' ') || rest.size() == 1) return std::nullopt;
  sample.tree["labels"] = std::move(labels);
  sample.tree["value"] = value_of(rest.substr(1));
  return sample;
}

}  // namespace

Expected<Tree, std::string> metrics_tree(std::string_view text) {
  std::vector<std::pair<std::string, Tree>> metrics;
  std::map<std::string, std::size_t, std::less<>> places;  // indexes in `metrics`
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    auto sample = sample_of(line);
    if (!sample)
      return Unexpected{"The server's metrics have a malformed line: '" +
                        http::log::printable(line.substr(0, quoted_bytes_max)) + "'."};
    const auto [place, is_new] = places.emplace(sample->name, metrics.size());
    if (is_new) metrics.emplace_back(std::move(sample->name), Tree::array());
    metrics[place->second].second.push_back(std::move(sample->tree));
  }
  Tree tree = Tree::object();
  for (auto& [name, samples] : metrics) json::add_member(tree, name, std::move(samples));
  return tree;
}

}  // namespace mayfly::cli
