#include "compat/tables/arn.h"

#include <array>

namespace mayfly::compat {
namespace {

constexpr std::string_view arn_prefix = "arn:aws:dynamodb:";

}  // namespace

std::string table_arn(const engine::Scope& scope, std::string_view table_name) {
  return std::string(arn_prefix) + scope.region + ":" + scope.account + ":table/" + std::string(table_name);
}

std::string table_arn(const engine::Table& table) {
  return table_arn({table.account, table.region}, table.name);
}

std::string index_arn(const engine::Table& table, std::string_view index_name) {
  return table_arn(table) + "/index/" + std::string(index_name);
}

std::optional<TableArn> parse_table_arn(std::string_view arn) {
  if (!arn.starts_with(arn_prefix)) return std::nullopt;
  arn.remove_prefix(arn_prefix.size());
  const auto region_end = arn.find(':');
  if (region_end == std::string_view::npos || region_end == 0) return std::nullopt;
  const auto region = arn.substr(0, region_end);
  arn.remove_prefix(region_end + 1);
  const auto account_end = arn.find(':');
  if (account_end == std::string_view::npos || account_end == 0) return std::nullopt;
  const auto account = arn.substr(0, account_end);
  if (account.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  arn.remove_prefix(account_end + 1);
  constexpr std::string_view kind = "table/";
  if (!arn.starts_with(kind)) return std::nullopt;
  const auto name = arn.substr(kind.size());
  if (name.size() < 3 || name.size() > 255 || name.find('/') != std::string_view::npos) return std::nullopt;
  return TableArn{region, account, name};
}

bool is_of_others(std::string_view arn, std::string_view account) {
  std::array<std::string_view, 5> fields;  // "arn", partition, service, region, account
  for (std::string_view& field : fields) {
    const auto end = arn.find(':');
    if (end == std::string_view::npos) return false;
    field = arn.substr(0, end);
    arn.remove_prefix(end + 1);
  }
  return fields[0] == "arn" && (fields[1] != "aws" || fields[2] != "dynamodb" || fields[4] != account);
}

}  // namespace mayfly::compat
