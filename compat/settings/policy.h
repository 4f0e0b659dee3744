// Validates a resource policy and converts it to canonical form.
//
// AWS compares policies in canonical form and returns that form: no white space, members in a fixed order, a
// list with one element written as that element, and account ids as ARNs of their root users.
//
//   TRY(auto document, read_policy(R"({ "Version": "2012-10-17", "Statement": [{"Effect": "allow", …}] })"));
//   // {"Version":"2012-10-17","Statement":[{"Effect":"Allow",…}]}
//
// Does not check whether the actions and resources exist. The messages were recorded on AWS and published by
// the authors of a table controller.
#pragma once

#include <string>
#include <string_view>

#include "compat/wire/error.h"

namespace mayfly::compat {

inline constexpr std::size_t policy_bytes_max = 20480;  // including white space

// Error: ValidationException "One or more parameter values were invalid: Invalid policy document: …"
Result<std::string> read_policy(std::string_view text);

}  // namespace mayfly::compat
