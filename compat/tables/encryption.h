// SSESpecification: which combinations there are, and what they make of a table.
#pragma once

#include <optional>
#include <string>

#include "compat/context.h"
#include "compat/wire/error.h"
#include "compat/wire/json.h"

namespace mayfly::compat {

// "SSEType can not be specified if Enabled is false", "SSEType KMS is required if KMSMasterKeyId is
// specified", … Nothing: DynamoDB's own key. Keys are not looked for; an id and an alias become a key's ARN.
Result<std::optional<std::string>> read_kms_key_arn(const Context& context, const json::Value& specification);

// The ARN of a key as requests name it, in this account and region; of DynamoDB's managed key, if none is
// named.
std::string kms_key_arn(const engine::Scope& scope, std::string_view key = "alias/aws/dynamodb");

// UpdateTable's: it has to change something.
Result<void> check_encryption_change(const std::optional<std::string>& current_key_arn,
                                     const std::optional<std::string>& wanted_key_arn,
                                     const json::Value& specification);

}  // namespace mayfly::compat
