// Explains errors to readers who do not know what caused them, by error name and by message text.
//
//   explain_error("ValidationException: The provided key element does not match the schema")
//     -> {"errors":[{"name":"ValidationException","status":400,"when":"…","then":"…","retry":false}],
//         "messages":[{"message":"The provided key element does not match the schema",
//                      "when":"…","then":"…"}]}
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>

#include "compat/json/json_tree.h"
#include "compat/wire/error.h"

namespace mayfly::compat::mcp {

struct KnownError {
  Error::Kind kind;
  bool retry;  // the same request may succeed later
  std::string_view when, then;
};
struct KnownMessage {
  std::string_view part;  // a part of the message, as it is raised
  std::string_view when, then;
};

// known_errors() has every error of DynamoDB and of the control API, in the order of Error::Kind.
// known_messages() has the messages that need a more specific explanation than their error's name allows.
std::span<const KnownError> known_errors();
std::span<const KnownMessage> known_messages();

// Explains the known names and messages that occur in `text`. Returns null if none occurs.
json::Tree explain_error(std::string_view text);

}  // namespace mayfly::compat::mcp
