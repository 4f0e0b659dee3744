#include "compat/backups/arn.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "compat/tables/arn.h"
#include "engine/base/text.h"

namespace mayfly::compat::backups {
namespace {

constexpr std::string_view marker = "/backup/";

// Takes the part before the next colon.
std::optional<std::string_view> take_part(std::string_view& rest) {
  const auto end = rest.find(':');
  if (end == std::string_view::npos) return std::nullopt;
  const auto part = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return part;
}

struct Parts {
  std::string_view partition, service, region, account, table_name, id;
};

std::optional<Parts> split(std::string_view arn) {
  const auto head = take_part(arn);
  const auto partition = take_part(arn);
  const auto service = take_part(arn);
  const auto region = take_part(arn);
  const auto account = take_part(arn);
  constexpr std::string_view kind = "table/";
  if (head != "arn" || !account || !arn.starts_with(kind)) return std::nullopt;
  arn.remove_prefix(kind.size());
  const auto name_end = arn.find(marker);
  if (name_end == std::string_view::npos || name_end == 0) return std::nullopt;
  const auto id = arn.substr(name_end + marker.size());
  const bool plain =
      std::all_of(id.begin(), id.end(), [](char c) { return engine::is_alphanumeric(c) || c == '-'; });
  const auto name = arn.substr(0, name_end);
  if (id.empty() || !plain || name.find('/') != std::string_view::npos) return std::nullopt;
  return Parts{*partition, *service, *region, *account, name, id};
}

// Whether the string looks like the name of an AWS region, such as "eu-west-1" or "us-gov-east-1". A region
// in Mayfly can have any name, so the request's own region is accepted even if this function returns false.
bool is_region(std::string_view region) {
  constexpr std::array<std::string_view, 12> places = {"af", "ap", "ca", "cn", "eu", "il",
                                                       "me", "mx", "sa", "us", "uk", "nz"};
  const bool somewhere = std::any_of(places.begin(), places.end(), [&](std::string_view place) {
    return region.starts_with(place) && region.substr(place.size(), 1) == "-";
  });
  return somewhere && region.size() > 3 && region.back() >= '1' && region.back() <= '9' &&
         region[region.size() - 2] == '-';
}

}  // namespace

std::string backup_id(engine::Instant created, std::uint32_t number) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%014lld-%08x", static_cast<long long>(created), number);
  return text.data();
}

std::string backup_arn(const engine::Scope& scope, std::string_view table_name, std::string_view id) {
  return table_arn(scope, table_name) + std::string(marker) + std::string(id);
}

std::optional<BackupArn> parse_backup_arn(std::string_view arn) {
  const auto parts = split(arn);
  if (!parts) return std::nullopt;
  return BackupArn{std::string(parts->region), std::string(parts->account), std::string(parts->table_name),
                   std::string(parts->id)};
}

Result<BackupArn> read_backup_arn(const Context& context, std::string_view arn) {
  const auto parts = split(arn);
  if (!parts) return error::validation("Invalid Backup ARN");
  const bool known =
      parts->region.empty() || parts->region == context.scope.region || is_region(parts->region);
  if (parts->partition != "aws" || parts->service != "dynamodb" || !known)
    return error::validation("Invalid Request: BackupArn is not valid");
  if (parts->region.empty() || parts->account != context.scope.account)
    return error::access_denied("Access is denied");
  return BackupArn{std::string(parts->region), std::string(parts->account), std::string(parts->table_name),
                   std::string(parts->id)};
}

}  // namespace mayfly::compat::backups
