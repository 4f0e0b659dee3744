#include "compat/expression/update_charge.h"

#include "engine/values/item_size.h"

namespace mayfly::compat::expression {
namespace {

constexpr std::size_t update_bytes = 3;
constexpr std::size_t writing_clause_bytes = 19;  // SET, ADD
constexpr std::size_t erasing_clause_bytes = 1;   // REMOVE, DELETE
constexpr std::size_t target_element_bytes = 4;
constexpr std::size_t path_bytes = 1;
constexpr std::size_t path_element_bytes = 14;
constexpr std::size_t plus_bytes = 34;
constexpr std::size_t minus_bytes = 37;
constexpr std::size_t list_append_bytes = 37;
constexpr std::size_t if_not_exists_bytes = 39;

// The bytes of a name, or the decimal digits of a position.
std::size_t size_of(const Path::Element& element) {
  if (const auto* name = std::get_if<std::string>(&element)) return name->size();
  std::size_t digits = 1;
  for (auto position = std::get<std::uint32_t>(element); position >= 10; position /= 10) ++digits;
  return digits;
}

std::size_t target_bytes(const Path& path) {
  std::size_t bytes = size_of(path.elements.front());
  for (std::size_t i = 1; i < path.elements.size(); ++i)
    bytes += target_element_bytes + size_of(path.elements[i]);
  return bytes;
}

std::size_t operand_bytes(const Path& path) {
  std::size_t bytes = path_bytes;
  for (const Path::Element& element : path.elements) bytes += path_element_bytes + size_of(element);
  return bytes;
}

struct OperandBytes {
  std::size_t operator()(const UpdateValue::Constant& constant) const {
    return engine::value_size(*constant.value);
  }
  std::size_t operator()(const UpdateValue::Reference& reference) const {
    return operand_bytes(reference.path);
  }
  std::size_t operator()(const UpdateValue::IfNotExists& choice) const {
    return if_not_exists_bytes + operand_bytes(choice.path) + of(*choice.otherwise);
  }
  std::size_t operator()(const UpdateValue::ListAppend& append) const {
    return list_append_bytes + of(*append.first) + of(*append.second);
  }
  std::size_t operator()(const UpdateValue::Arithmetic& sum) const {
    return (sum.subtract ? minus_bytes : plus_bytes) + of(*sum.left) + of(*sum.right);
  }
  static std::size_t of(const UpdateValue& value) { return std::visit(OperandBytes{}, value.node); }
};

}  // namespace

std::size_t charge_of(const Update& update) {
  std::size_t bytes = update_bytes;
  for (const SetAction& set : update.sets) {
    bytes += writing_clause_bytes + target_bytes(set.path) + OperandBytes::of(set.value);
    if (bytes > engine::item_bytes_max) return bytes;
  }
  for (const AddAction& add : update.adds) {
    bytes += writing_clause_bytes + target_bytes(add.path) + engine::value_size(*add.value);
    if (bytes > engine::item_bytes_max) return bytes;
  }
  for (const RemoveAction& remove : update.removes) bytes += erasing_clause_bytes + target_bytes(remove.path);
  for (const DeleteAction& action : update.deletes) bytes += erasing_clause_bytes + target_bytes(action.path);
  return bytes;
}

}  // namespace mayfly::compat::expression
