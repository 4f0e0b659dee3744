#include <algorithm>

#include "compat/operations/operations.h"
#include "compat/settings/policy.h"
#include "compat/settings/settings.h"
#include "compat/tables/arn.h"
#include "compat/tables/changes.h"
#include "compat/tables/lookup.h"
#include "compat/wire/shapes_common.h"
#include "engine/base/whole_number.h"

namespace mayfly::compat {
namespace {

constexpr Shape resource_arn = string_shape(1, 1283);
constexpr Shape revision_id = string_shape(1, 255);
constexpr Member put_members[] = {
    {"ResourceArn", &resource_arn, required},
    {"Policy", &shapes::any_string, required},
    {"ExpectedRevisionId", &revision_id},
    {"ConfirmRemoveSelfResourceAccess", &shapes::boolean},
};
constexpr Shape put_shape = structure("PutResourcePolicyInput", put_members);
constexpr Member get_members[] = {
    {"ResourceArn", &resource_arn, required},
};
constexpr Shape get_shape = structure("GetResourcePolicyInput", get_members);
constexpr Member delete_members[] = {
    {"ResourceArn", &resource_arn, required},
    {"ExpectedRevisionId", &revision_id},
};
constexpr Shape delete_shape = structure("DeleteResourcePolicyInput", delete_members);

// A table, or a table's stream: "arn:aws:dynamodb:us-east-1:000000000000:table/T/stream/2024-…".
struct Resource {
  std::string table;
  std::string stream;  // label; empty: the table itself
};

Result<Resource> read_resource(const Context& context, std::string_view arn) {
  const auto invalid = [](const std::string& what) {
    return error::validation("One or more parameter values were invalid: " + what);
  };
  if (!arn.starts_with("arn:")) return invalid("ARNs must start with 'arn:': " + std::string(arn));
  // The text must begin with the ARN of a table. Only "/stream/…" or "/index/…" can follow the ARN.
  const auto table_part = arn.find(":table/");
  const auto slash = table_part == std::string_view::npos ? table_part : arn.find('/', table_part + 7);
  const auto partition_free =
      arn.starts_with("arn:aws:")
          ? std::string(arn.substr(0, slash))
          : "arn:aws" + std::string(arn.substr(0, slash).substr(std::min(arn.size(), arn.find(':', 4))));
  const auto parsed = parse_table_arn(partition_free);
  const auto below = slash == std::string_view::npos ? std::string_view() : arn.substr(slash);
  if (!parsed || (!below.empty() && !below.starts_with("/stream/") && !below.starts_with("/index/"))) {
    return invalid("Provided Arn is not a DynamoDB resource arn: " + std::string(arn));
  }
  if (parsed->account != context.scope.account) {
    return error::validation(
        "This action is only supported by accounts that match the resource owner’s account.");
  }
  if (parsed->region != context.scope.region || !arn.starts_with("arn:aws:")) {
    return invalid("Invalid resource Arn: " + std::string(arn));
  }
  if (below.starts_with("/index/")) {
    return invalid(
        "Invalid resource arn provided, only table or stream is accepted. Provided resource arn: " +
        std::string(arn));
  }
  return Resource{std::string(parsed->name), below.empty() ? std::string() : std::string(below.substr(8))};
}

Unexpected<Error> stream_not_found(const Resource& resource) {
  return error::resource_not_found("Requested resource not found: Stream: " + resource.stream +
                                   " not found for Table: " + resource.table);
}

Result<std::shared_ptr<engine::LiveTable>> find(const Context& context, const Resource& resource) {
  TRY(auto table, find_named_table(context, resource.table));
  const auto status = context.table_changes.status(context.scope, resource.table);
  if (status == TableStatus::creating) return named_table_not_found(resource.table);
  return table;
}

// The table's enabled stream if the resource names it, else nullptr.
template <class Table>
auto* find_stream(Table& table, const Resource& resource) {
  return table.stream && table.stream->label == resource.stream ? &*table.stream : nullptr;
}

Unexpected<Error> policy_not_found(const std::string& what) {
  return error::policy_not_found("Resource-based policy not found for the provided ResourceArn: " + what);
}

bool has_document(const std::optional<ResourcePolicy>& policy) { return policy && !policy->document.empty(); }

Result<void> check_revision(const Resource& resource, const std::optional<ResourcePolicy>& policy,
                            std::optional<std::string_view> expected) {
  if (!expected) return {};
  if (*expected == "NO_POLICY") {
    if (!has_document(policy)) return {};
    return policy_not_found("Requested policy update expecting none to be present for table " +
                            resource.table + ", but a policy exists with revision id " + policy->revision +
                            ".");
  }
  const std::string asked = "Requested update for policy with revision id " + std::string(*expected);
  if (!policy)
    return policy_not_found(asked + ", but table " + resource.table + " has no associated policy.");
  if (policy->revision == *expected && has_document(policy)) return {};
  return policy_not_found(asked + ", but the policy associated to target table " + resource.table +
                          " has revision id " + policy->revision + ".");
}

// Returns the time in milliseconds since 1970, or the previous revision plus 1 if that is greater. Revisions
// therefore increase even on a frozen clock.
std::string next_revision(const std::optional<ResourcePolicy>& policy, engine::Instant now) {
  const auto last = policy ? engine::whole_number<engine::Instant>(policy->revision) : std::nullopt;
  return std::to_string(std::max(now, last.value_or(0) + 1));
}

// `change` edits the policy and returns the revision for the response.
template <class Change>
Result<std::string> update(Context& context, const Resource& resource, Change change) {
  if (context.table_changes.status(context.scope, resource.table) == TableStatus::deleting) {
    CHECK_OK(check_settled(context, resource.table));
  }
  TRY(const auto table, find(context, resource));
  Result<std::string> revision = std::string();
  const auto change_policy = [&](auto& settings) { revision = change(settings.policy); };
  const auto after = context.database.tables().update(table, [&](engine::Table& edited) {
    if (resource.stream.empty()) return change_settings(edited, change_policy);
    engine::Stream* const stream = find_stream(edited, resource);
    if (stream != nullptr) return change_settings(*stream, change_policy);
    revision = stream_not_found(resource);
  });
  if (after == nullptr) return named_table_not_found(resource.table);
  return revision;
}

void write_revision(json::Writer& out, const std::string& revision) {
  out.begin_object();
  if (!revision.empty()) {
    out.key("RevisionId");
    out.string(revision);
  }
  out.end_object();
}

Result<void> put(Context& context, const json::Value& request, json::Writer& out) {
  TRY(const auto resource, read_resource(context, *string_member(request, "ResourceArn")));
  TRY(const auto document, read_policy(*string_member(request, "Policy")));
  const auto expected = string_member(request, "ExpectedRevisionId");
  const auto now = context.now();
  TRY(const auto revision,
      update(context, resource, [&](std::optional<ResourcePolicy>& policy) -> Result<std::string> {
        CHECK_OK(check_revision(resource, policy, expected));
        if (!policy || policy->document != document)
          policy = ResourcePolicy{document, next_revision(policy, now)};
        return policy->revision;
      }));
  write_revision(out, revision);
  return {};
}

Result<void> remove(Context& context, const json::Value& request, json::Writer& out) {
  TRY(const auto resource, read_resource(context, *string_member(request, "ResourceArn")));
  const auto expected = string_member(request, "ExpectedRevisionId");
  const auto now = context.now();
  TRY(const auto revision,
      update(context, resource, [&](std::optional<ResourcePolicy>& policy) -> Result<std::string> {
        CHECK_OK(check_revision(resource, policy, expected));
        if (!policy) return std::string();  // there never was a policy
        const auto removed = policy->revision;
        if (has_document(policy)) policy = ResourcePolicy{"", next_revision(policy, now)};
        return removed;  // a repeated deletion returns the revision that the first deletion assigned
      }));
  write_revision(out, revision);
  return {};
}

Result<void> get(Context& context, const json::Value& request, json::Writer& out) {
  const auto arn = *string_member(request, "ResourceArn");
  TRY(const auto resource, read_resource(context, arn));
  TRY(const auto table, find(context, resource));
  const auto description = table->description();
  std::optional<ResourcePolicy> policy;
  if (resource.stream.empty()) {
    policy = settings_of(*description).policy;
  } else {
    const engine::Stream* const stream = find_stream(*description, resource);
    if (stream == nullptr) return stream_not_found(resource);
    policy = settings_of(*stream).policy;
  }
  if (!has_document(policy)) return policy_not_found(std::string(arn));
  out.begin_object();
  out.key("Policy");
  out.string(policy->document);
  out.key("RevisionId");
  out.string(policy->revision);
  out.end_object();
  return {};
}

}  // namespace

constinit const Operation operations::put_resource_policy{
    dynamodb, "PutResourcePolicy", Access::control, TablesIn::nothing, &put_shape, &put};
constinit const Operation operations::get_resource_policy{
    dynamodb, "GetResourcePolicy", Access::control, TablesIn::nothing, &get_shape, &get};
constinit const Operation operations::delete_resource_policy{
    dynamodb, "DeleteResourcePolicy", Access::control, TablesIn::nothing, &delete_shape, &remove};

}  // namespace mayfly::compat
