// Validates an SSESpecification and finds the key that it selects.
#pragma once

#include <optional>
#include <string>

#include "compat/context.h"
#include "compat/json/json.h"
#include "compat/wire/error.h"

namespace mayfly::compat {

// Returns the ARN of the selected key, or nullopt for the key that DynamoDB owns. Does not check that the key
// exists. Ids and aliases are converted to key ARNs. Errors: "SSEType can not be specified if Enabled is
// false", "SSEType KMS is required if KMSMasterKeyId is specified", …
Result<std::optional<std::string>> read_kms_key_arn(const Context& context, const json::Value& specification);

// Returns the ARN of a key in this account and region. `key` is an id, an alias or an ARN, as in a request.
// The default is DynamoDB's managed key.
std::string kms_key_arn(const engine::Scope& scope, std::string_view key = "alias/aws/dynamodb");

// Rejects the UpdateTable requests that AWS rejects because they would not change the encryption.
Result<void> check_encryption_change(const std::optional<std::string>& current_key_arn,
                                     const std::optional<std::string>& wanted_key_arn,
                                     const json::Value& specification);

// Writes "SSEDescription", unless DynamoDB owns the key.
void write_encryption(json::Writer& out, const std::optional<std::string>& key_arn, bool changes = false);

}  // namespace mayfly::compat
