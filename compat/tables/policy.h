// A resource policy: is it one, and its canonical form.
//
// AWS decides by the canonical form whether a policy that is put is the one that is there, and returns that
// form: no white space, members in a fixed order, lists of one as their element, account ids as ARNs of their
// roots.
//
//   TRY(auto document, read_policy(R"({ "Version": "2012-10-17", "Statement": [{"Effect": "allow", …}] })"));
//   // {"Version":"2012-10-17","Statement":[{"Effect":"Allow",…}]}
//
// Which actions and resources there are is not checked. Messages were measured on AWS by those who publish
// what a controller of tables has to reckon with.
#pragma once

#include <string>
#include <string_view>

#include "compat/wire/error.h"

namespace mayfly::compat {

inline constexpr std::size_t policy_bytes_max = 20480;  // white space counts

// ValidationException "One or more parameter values were invalid: Invalid policy document: …"
Result<std::string> read_policy(std::string_view text);

}  // namespace mayfly::compat
