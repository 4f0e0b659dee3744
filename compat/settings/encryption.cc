#include "compat/settings/encryption.h"

#include "compat/json/json_members.h"
#include "compat/wire/hash.h"
#include "compat/wire/shape.h"
#include "engine/base/random.h"
#include "engine/base/uuid.h"

namespace mayfly::compat {
// AWS shows the key id behind an alias, so each alias is mapped to a fixed key id.
std::string kms_key_arn(const engine::Scope& scope, std::string_view key) {
  const std::string prefix = "arn:aws:kms:" + scope.region + ":" + scope.account + ":";
  const bool is_arn = key.starts_with("arn:");
  const std::string arn =
      is_arn ? std::string(key) : prefix + (key.starts_with("alias/") ? "" : "key/") + std::string(key);
  const auto alias = arn.find(":alias/");
  if (alias == arn.npos) return arn;
  engine::SeededRandom ids(hash(arn, 0));
  return arn.substr(0, alias) + ":key/" + engine::random_uuid(ids);
}

Result<std::optional<std::string>> read_kms_key_arn(const Context& context,
                                                    const json::Value& specification) {
  const auto type = string_member(specification, "SSEType");
  const auto key_id = string_member(specification, "KMSMasterKeyId");
  const auto enabled = boolean_member(specification, "Enabled");
  if (enabled == false) {
    if (type) return error::invalid_parameters("SSEType can not be specified if Enabled is false");
    if (key_id) return error::invalid_parameters("KMSMasterKeyId can not be specified if Enabled is false");
  }
  if (type == "AES256") return error::invalid_parameters("SSEType AES256 is not supported");
  if (key_id && !type)
    return error::invalid_parameters("SSEType KMS is required if KMSMasterKeyId is specified");
  if (!enabled.value_or(type.has_value())) return std::optional<std::string>();
  return std::optional(kms_key_arn(context.scope, key_id.value_or("alias/aws/dynamodb")));
}

Result<void> check_encryption_change(const std::optional<std::string>& current_key_arn,
                                     const std::optional<std::string>& wanted_key_arn,
                                     const json::Value& specification) {
  if (!current_key_arn && !wanted_key_arn)
    return error::invalid_parameters("Table is already encrypted by default");
  if (current_key_arn && current_key_arn == wanted_key_arn &&
      specification.member("KMSMasterKeyId") != nullptr) {
    return error::invalid_parameters(
        "Table is already encrypted with given KMSMasterKeyId. Use KMSMasterKeyId parameter if you want to "
        "change "
        "Master Key");
  }
  return {};
}

void write_encryption(json::Writer& out, const std::optional<std::string>& key_arn, bool changes) {
  if (!key_arn) return;
  out.key("SSEDescription");
  out.begin_object();
  json::member(out, "Status", changes ? "UPDATING" : "ENABLED");
  json::member(out, "SSEType", "KMS");
  json::member(out, "KMSMasterKeyArn", *key_arn);
  out.end_object();
}

}  // namespace mayfly::compat
