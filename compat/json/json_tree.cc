#include "compat/json/json_tree.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "compat/json/json.h"
#include "compat/json/utf8.h"

namespace mayfly::json {
namespace {

// Handles the parser's events. Values gather on a stack. A container's entry is pushed before the entries of
// its elements, which the container takes when it ends. Rejected: nlohmann's own builder, which does not
// limit the depth and compares each name with all names before it.
class TreeBuilder {
 public:
  TreeBuilder(Decimals decimals, std::size_t values_max) : decimals_(decimals), values_max_(values_max) {}

  Tree take() { return std::move(entries_.front().value); }
  [[nodiscard]] bool has_too_many() const { return has_too_many_; }

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(std::int64_t value) { return add(value); }
  bool number_unsigned(std::uint64_t value) { return add(value); }
  bool number_float(double value, const std::string& text) {
    return add(decimals_ == Decimals::read ? Tree(value) : raw(text));
  }
  bool string(std::string& value) { return add(std::move(value)); }
  static bool binary(Tree::binary_t&) { return false; }  // JSON text has no binary values

  bool start_object(std::size_t) { return start(); }
  bool key(std::string& name) {
    name_ = std::move(name);
    return true;
  }
  bool end_object() {
    Tree::object_t members;
    members.reserve(entries_.size() - starts_.back());
    for (std::size_t i = starts_.back(); i < entries_.size(); ++i)
      members.emplace_back(std::move(entries_[i].name), std::move(entries_[i].value));
    return end(std::move(members));
  }
  bool start_array(std::size_t) { return start(); }
  bool end_array() {
    Tree::array_t items;
    items.reserve(entries_.size() - starts_.back());
    for (std::size_t i = starts_.back(); i < entries_.size(); ++i)
      items.push_back(std::move(entries_[i].value));
    return end(std::move(items));
  }
  static bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) {
    return false;
  }

 private:
  struct Entry {
    std::string name;
    Tree value;
  };

  bool add(Tree value) {
    has_too_many_ = values_ == values_max_;
    if (has_too_many_) return false;
    ++values_;
    entries_.push_back({std::move(name_), std::move(value)});
    name_.clear();
    return true;
  }
  bool start() {
    if (starts_.size() == static_cast<std::size_t>(depth_max)) return false;
    if (!add(nullptr)) return false;
    starts_.push_back(entries_.size());
    return true;
  }
  bool end(Tree container) {
    entries_.resize(starts_.back());
    starts_.pop_back();
    entries_.back().value = std::move(container);
    return true;
  }

  const Decimals decimals_;
  const std::size_t values_max_;
  std::size_t values_ = 0;
  bool has_too_many_ = false;
  std::vector<Entry> entries_;
  std::vector<std::size_t> starts_;  // for each open container, the index of its first element
  std::string name_;                 // name of the next value
};

class Printer {
 public:
  static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

  // Printing can stop once `out` is longer than `bytes_max` bytes.
  Printer(std::string& out, bool indented, std::size_t bytes_max = no_limit)
      : out_(out), indented_(indented), bytes_max_(bytes_max) {}

  // `columns`: the indentation of the current line.
  void print(const Tree& value, std::size_t columns) {
    Writer writer(out_);
    switch (value.type()) {
      case Tree::value_t::null:
      case Tree::value_t::discarded: return writer.raw("null");
      case Tree::value_t::binary: {
        const auto& bytes = value.get_binary();
        out_ += beginning({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        return;
      }
      case Tree::value_t::boolean: return writer.boolean(value.get<bool>());
      case Tree::value_t::number_integer: return writer.integer(value.get<std::int64_t>());
      case Tree::value_t::number_unsigned: return writer.raw(std::to_string(value.get<std::uint64_t>()));
      case Tree::value_t::number_float: return writer.decimal(value.get<double>());
      case Tree::value_t::string: return writer.string(beginning(value.get_ref<const std::string&>()));
      case Tree::value_t::array: return print_elements('[', value, ']', columns);
      case Tree::value_t::object: return print_elements('{', value, '}', columns);
    }
  }

 private:
  void print_elements(char begin, const Tree& container, char end, std::size_t columns) {
    out_ += begin;
    bool first = true;
    for (auto element = container.begin(); element != container.end(); ++element) {
      if (out_.size() > bytes_max_) return;
      if (!first) out_ += ',';
      first = false;
      new_line(columns + 2);
      if (container.is_object()) {
        append_escaped(out_, beginning(element.key()));
        out_ += indented_ ? ": " : ":";
      }
      print(*element, columns + 2);
    }
    if (!first) new_line(columns);
    out_ += end;
  }
  // Returns a prefix of `text` that is just long enough to exceed the limit, or all of `text` if `text` does
  // not exceed the limit.
  [[nodiscard]] std::string_view beginning(std::string_view text) const {
    return bytes_max_ == no_limit ? text : text.substr(0, bytes_max_ + 1);
  }
  void new_line(std::size_t columns) {
    if (!indented_) return;
    out_ += '\n';
    out_.append(columns, ' ');
  }

  std::string& out_;
  const bool indented_;
  const std::size_t bytes_max_;
};

}  // namespace

std::optional<Tree> parse_tree(std::string_view text, Decimals decimals) {
  constexpr std::size_t values_max = 2'000'000;  // about 200 MB
  auto tree = parse_tree(text, decimals, values_max);
  return tree ? std::optional(*std::move(tree)) : std::nullopt;
}

Expected<Tree, NoTree> parse_tree(std::string_view text, Decimals decimals, std::size_t values_max) {
  // Reject input that is not JSON but that nlohmann's lexer accepts: the lexer skips a byte order mark, and
  // treats a NUL as the end of the input.
  if (text.starts_with("\xef\xbb\xbf") || text.find('\0') != std::string_view::npos)
    return Unexpected{NoTree::no_json};
  TreeBuilder builder(decimals, values_max);
  if (Tree::sax_parse(text, &builder)) return builder.take();
  return Unexpected{builder.has_too_many() ? NoTree::too_many_values : NoTree::no_json};
}

const Tree* member(const Tree& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto& members = object.get_ref<const Tree::object_t&>();
  const auto last =
      std::find_if(members.rbegin(), members.rend(), [&](const auto& each) { return each.first == name; });
  return last == members.rend() || last->second.is_null() ? nullptr : &last->second;
}

std::optional<std::int64_t> integer(const Tree& value) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    return std::nullopt;
  }
  return value.get<std::int64_t>();
}

std::optional<std::string_view> string_member(const Tree& object, std::string_view name) {
  const Tree* value = member(object, name);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return value->get_ref<const std::string&>();
}

std::optional<std::int64_t> integer_member(const Tree& object, std::string_view name) {
  const Tree* value = member(object, name);
  return value == nullptr ? std::nullopt : integer(*value);
}

std::optional<bool> boolean_member(const Tree& object, std::string_view name) {
  const Tree* value = member(object, name);
  if (value == nullptr || !value->is_boolean()) return std::nullopt;
  return value->get<bool>();
}

void add_member(Tree& object, std::string_view name, Tree value) {
  object.get_ref<Tree::object_t&>().emplace_back(std::string(name), std::move(value));
}

Tree raw(std::string_view text) { return Tree::binary(std::vector<std::uint8_t>(text.begin(), text.end())); }

Tree seconds(std::int64_t milliseconds) {
  std::string text;
  Writer(text).seconds(milliseconds);
  return raw(text);
}

std::string print(const Tree& value) {
  std::string text;
  Printer(text, false).print(value, 0);
  return text;
}

std::string print_indented(const Tree& value) {
  std::string text;
  Printer(text, true).print(value, 0);
  return text;
}

std::string print_beginning(const Tree& value, std::size_t bytes_max) {
  std::string text;
  Printer(text, false, bytes_max).print(value, 0);
  if (text.size() <= bytes_max) return text;
  text.resize(compat::whole_characters(text, bytes_max).size());
  return text + "…";
}

}  // namespace mayfly::json
