#include "compat/settings/tags.h"

#include "compat/operations/operations.h"
#include "compat/settings/settings.h"
#include "compat/tables/arn.h"
#include "compat/tables/lookup.h"
#include "compat/wire/shapes_common.h"

namespace mayfly::compat {
namespace {

using json::Value;

constexpr Shape resource_arn = string_shape({}, 1283);  // an ARN that is too short has its own error message
constexpr Member tag_members[] = {
    {"ResourceArn", &resource_arn},
    {"Tags", &shapes::tags},
};
constexpr Shape tag_shape = structure("TagResourceInput", tag_members);
constexpr Member untag_members[] = {
    {"ResourceArn", &resource_arn},
    {"TagKeys", &shapes::tag_keys},
};
constexpr Shape untag_shape = structure("UntagResourceInput", untag_members);
constexpr Member list_members[] = {
    {"ResourceArn", &resource_arn},
    {"NextToken", &shapes::any_string},
};
constexpr Shape list_shape = structure("ListTagsOfResourceInput", list_members);

constexpr std::string_view tag_operation = "TagResource";
constexpr std::string_view untag_operation = "UntagResource";
constexpr std::string_view list_operation = "ListTagsOfResource";

// Whether the string has six parts that are separated by colons, and the last part contains a slash:
// "a:b:c:d:e:f/g".
bool looks_like_arn(std::string_view arn) {
  for (int part = 0; part < 5; ++part) {
    const auto colon = arn.find(':', 1);
    if (arn.empty() || colon == std::string_view::npos) return false;
    arn.remove_prefix(colon + 1);
  }
  const auto slash = arn.find('/', 1);
  return !arn.empty() && slash != std::string_view::npos && slash + 1 < arn.size();
}

Unexpected<Error> access_denied(const Context& context, std::string_view operation, std::string_view arn) {
  return error::access_denied("User: arn:aws:iam::" + context.scope.account +
                              ":root is not authorized to perform: dynamodb:" + std::string(operation) +
                              " on resource: " + (arn.empty() ? "*" : std::string(arn)));
}

Unexpected<Error> invalid_arn(std::string_view arn) {
  return error::validation("Invalid TableArn: Invalid ResourceArn provided as input " + std::string(arn));
}

// UntagResource and ListTagsOfResource check access before they check the form of the ARN; TagResource checks
// the form first.
Result<std::string_view> read_arn(const Context& context, const Value& request, std::string_view operation) {
  const auto arn = string_member(request, "ResourceArn");
  if (!arn) return error::validation("Invalid TableArn");
  if (looks_like_arn(*arn)) return *arn;
  if (operation == tag_operation && arn->starts_with("arn:")) return invalid_arn(*arn);
  if (operation == tag_operation) {
    return error::validation("One or more parameter values were invalid: ARNs must start with 'arn:': " +
                             std::string(*arn));
  }
  return access_denied(context, operation, *arn);
}

Result<TableArn> read_table_arn(std::string_view arn) {
  const auto parsed = parse_table_arn(arn);
  if (!parsed) return invalid_arn(arn);
  return *parsed;
}

std::shared_ptr<engine::LiveTable> find(const Context& context, const TableArn& arn) {
  if (arn.region != context.scope.region || arn.account != context.scope.account ||
      is_being_restored(context, arn.name))
    return nullptr;
  return context.database.catalog().find(context.scope, arn.name);
}

Unexpected<Error> resource_not_found(std::string_view arn) {
  return error::resource_not_found("Requested resource not found: ResourcArn: " + std::string(arn) +
                                   " not found");
}

Result<void> tag(Context& context, const Value& request, json::Writer&) {
  TRY(const auto arn, read_arn(context, request, tag_operation));
  const Value* list = request.member("Tags");
  if (list == nullptr) {
    return error::validation(
        "1 validation error detected: Value null at 'tags' failed to satisfy constraint: Member must not be "
        "null");
  }
  TRY(const auto table_arn, read_table_arn(arn));
  if (list->items().empty()) return error::validation("Atleast one Tag needs to be provided as Input.");
  TRY(const auto tags, read_tags(*list));
  const auto table = find(context, table_arn);
  if (table == nullptr) return resource_not_found(arn);
  bool too_many = false;
  const auto after = context.database.tables().update(table, [&](engine::Table& edited) {
    change_settings(edited, [&](TableSettings& settings) {
      auto merged = settings.tags;
      for (const auto& [key, value] : tags) merged.insert_or_assign(key, value);
      too_many = merged.size() > tags_max;
      if (!too_many) settings.tags = std::move(merged);
    });
  });
  if (after == nullptr) return resource_not_found(arn);
  if (too_many) return too_many_tags();
  return {};
}

Result<void> untag(Context& context, const Value& request, json::Writer&) {
  TRY(const auto arn, read_arn(context, request, untag_operation));
  const Value* list = request.member("TagKeys");
  if (list == nullptr) {
    return error::validation(
        "1 validation error detected: Value null at 'tagKeys' failed to satisfy constraint: Member must not "
        "be null");
  }
  TRY(const auto table_arn, read_table_arn(arn));
  if (list->items().empty()) return error::validation("Atleast one Tag Key needs to be provided as Input.");
  CHECK_OK(check_tag_keys(*list));
  const auto table = find(context, table_arn);
  if (table == nullptr) return table_not_found();
  const auto after = context.database.tables().update(table, [&](engine::Table& edited) {
    change_settings(edited, [&](TableSettings& settings) {
      for (const Value& key : list->items()) settings.tags.erase(std::string(key.string()));
    });
  });
  if (after == nullptr) return table_not_found();
  return {};
}

Result<void> list(Context& context, const Value& request, json::Writer& out) {
  TRY(const auto arn, read_arn(context, request, list_operation));
  TRY(const auto table_arn, read_table_arn(arn));
  if (table_arn.account != context.scope.account) return access_denied(context, list_operation, arn);
  const auto table = find(context, table_arn);
  if (table == nullptr) return resource_not_found(arn);
  const TableSettings settings = settings_of(*table->description());
  out.begin_object();
  out.key("Tags");
  out.begin_array();
  for (const auto& [key, value] : settings.tags) {
    out.begin_object();
    out.key("Key");
    out.string(key);
    out.key("Value");
    out.string(value);
    out.end_object();
  }
  out.end_array();
  out.end_object();
  return {};
}

}  // namespace

constinit const Operation operations::tag_resource{dynamodb,          tag_operation, Access::control,
                                                   TablesIn::nothing, &tag_shape,    &tag};
constinit const Operation operations::untag_resource{dynamodb,          untag_operation, Access::control,
                                                     TablesIn::nothing, &untag_shape,    &untag};
constinit const Operation operations::list_tags_of_resource{
    dynamodb, list_operation, Access::control, TablesIn::nothing, &list_shape, &list};

}  // namespace mayfly::compat
