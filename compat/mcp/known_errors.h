// What errors mean, for whoever reads one and does not know what brought it about: by their names, and by
// what their messages say.
//
//   explain_error("ValidationException: The provided key element does not match the schema")
//     -> {"errors":[{"name":"ValidationException","status":400,"when":"…","then":"…","retry":false}],
//         "messages":[{"message":"The provided key element does not match the
//         schema","when":"…","then":"…"}]}
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>

#include "compat/wire/error.h"
#include "compat/wire/json_tree.h"

namespace mayfly::compat::mcp {

struct KnownError {
  Error::Kind kind;
  bool retry;  // the same request may succeed later
  std::string_view when, then;
};
struct KnownMessage {
  std::string_view part;  // of the message, as it is raised
  std::string_view when, then;
};

// Every error of DynamoDB's and of the control API's, in the order of Error::Kind; and messages that ask for
// more than their error's name says.
std::span<const KnownError> known_errors();
std::span<const KnownMessage> known_messages();

// `text`: a name, a message, or both. What it has of what is known; null: nothing.
json::Tree explain_error(std::string_view text);

}  // namespace mayfly::compat::mcp
