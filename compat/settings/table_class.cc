#include "compat/settings/table_class.h"

#include "compat/json/json_members.h"

namespace mayfly::compat {

Result<void> check_table_class(std::string_view name) {
  if (name == "STANDARD" || name == "STANDARD_INFREQUENT_ACCESS") return {};
  return error::validation(
      "Invalid table-class parameter provided. Please try again with a valid table-class value: [STANDARD, "
      "STANDARD_INFREQUENT_ACCESS].");
}

void write_table_class(json::Writer& out, std::string_view name, const TableSettings& settings) {
  if (settings.table_class.empty()) return;
  out.key(name);
  out.begin_object();
  json::member(out, "TableClass", settings.table_class);
  if (settings.table_class_changed) json::seconds(out, "LastUpdateDateTime", *settings.table_class_changed);
  out.end_object();
}

}  // namespace mayfly::compat
