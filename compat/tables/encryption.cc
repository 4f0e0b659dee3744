#include "compat/tables/encryption.h"

#include "compat/wire/shape.h"

namespace mayfly::compat {
namespace {

Unexpected<Error> invalid(const char* what) {
  return error::validation("One or more parameter values were invalid: " + std::string(what));
}

}  // namespace

Result<std::optional<std::string>> read_kms_key_arn(const Context& context,
                                                    const json::Value& specification) {
  const auto type = string_member(specification, "SSEType");
  const auto key_id = string_member(specification, "KMSMasterKeyId");
  const auto enabled = boolean_member(specification, "Enabled");
  if (enabled == false) {
    if (type) return invalid("SSEType can not be specified if Enabled is false");
    if (key_id) return invalid("KMSMasterKeyId can not be specified if Enabled is false");
  }
  if (type == "AES256") return invalid("SSEType AES256 is not supported");
  if (key_id && !type) return invalid("SSEType KMS is required if KMSMasterKeyId is specified");
  if (!enabled.value_or(type.has_value())) return std::optional<std::string>();
  std::string key(key_id.value_or("alias/aws/dynamodb"));
  if (!key.starts_with("arn:")) {
    key = "arn:aws:kms:" + context.scope.region + ":" + context.scope.account + ":" +
          (key.starts_with("alias/") ? key : "key/" + key);
  }
  return std::optional(std::move(key));
}

Result<void> check_encryption_change(const std::optional<std::string>& current_key_arn,
                                     const std::optional<std::string>& wanted_key_arn,
                                     const json::Value& specification) {
  if (!current_key_arn && !wanted_key_arn) return invalid("Table is already encrypted by default");
  if (current_key_arn && current_key_arn == wanted_key_arn &&
      specification.member("KMSMasterKeyId") != nullptr) {
    return invalid(
        "Table is already encrypted with given KMSMasterKeyId. Use KMSMasterKeyId parameter if you want to "
        "change "
        "Master Key");
  }
  return {};
}

}  // namespace mayfly::compat
