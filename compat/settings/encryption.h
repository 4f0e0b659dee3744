// SSESpecification: which combinations are valid, and the key that results.
#pragma once

#include <optional>
#include <string>

#include "compat/context.h"
#include "compat/json/json.h"
#include "compat/wire/error.h"

namespace mayfly::compat {

// "SSEType can not be specified if Enabled is false", "SSEType KMS is required if KMSMasterKeyId is
// specified", … Returns nullopt for the key that DynamoDB owns. Does not check that a key exists. Ids and
// aliases are converted to key ARNs.
Result<std::optional<std::string>> read_kms_key_arn(const Context& context, const json::Value& specification);

// The ARN of a key, given as in a request, in this account and region. The default is DynamoDB's managed key.
std::string kms_key_arn(const engine::Scope& scope, std::string_view key = "alias/aws/dynamodb");

// For UpdateTable, which must change something.
Result<void> check_encryption_change(const std::optional<std::string>& current_key_arn,
                                     const std::optional<std::string>& wanted_key_arn,
                                     const json::Value& specification);

// Writes "SSEDescription", unless DynamoDB owns the key.
void write_encryption(json::Writer& out, const std::optional<std::string>& key_arn, bool changes = false);

}  // namespace mayfly::compat
