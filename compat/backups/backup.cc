#include "compat/backups/backup.h"

#include <nlohmann/json.hpp>

#include "compat/backups/arn.h"
#include "compat/json/json_tree.h"

namespace mayfly::compat::backups {

std::string arn_of(const Backup& backup) { return backup_arn(backup.scope, backup.table_name, backup.id); }

std::string document_prefix(std::string_view region) { return std::string(region) + "/"; }

engine::DocumentName document_name(const engine::Scope& scope, std::string_view id,
                                   std::string_view table_name) {
  return {scope.account, std::string(document_kind),
          document_prefix(scope.region) + std::string(id) + "/" + std::string(table_name)};
}

engine::Document to_document(const Backup& backup) {
  const json::Tree shown{{"name", backup.name},           {"system", backup.system},
                         {"created", backup.created},     {"bytes", backup.bytes},
                         {"table_id", backup.table_uuid}, {"point", backup.point}};
  return {document_name(backup.scope, backup.id, backup.table_name), json::print(shown)};
}

std::optional<Backup> from_document(const engine::Document& document) {
  const std::string_view name = document.name.name;
  const auto region_end = name.find('/');
  const auto id_end = region_end == name.npos ? name.npos : name.find('/', region_end + 1);
  if (id_end == name.npos) return std::nullopt;
  const auto stored = json::parse_tree(document.bytes);
  if (!stored) return std::nullopt;
  const auto text = [&](std::string_view member) {
    return std::string(json::string_member(*stored, member).value_or(""));
  };
  const auto number = [&](std::string_view member) {
    return json::integer_member(*stored, member).value_or(0);
  };
  Backup backup;
  backup.scope = {document.name.account, std::string(name.substr(0, region_end))};
  backup.id = name.substr(region_end + 1, id_end - region_end - 1);
  backup.table_name = name.substr(id_end + 1);
  backup.name = text("name");
  backup.system = json::boolean_member(*stored, "system").value_or(false);
  backup.created = number("created");
  backup.bytes = number("bytes");
  backup.table_uuid = text("table_id");
  backup.point = static_cast<engine::PointId>(number("point"));
  return backup;
}

}  // namespace mayfly::compat::backups
