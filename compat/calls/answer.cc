#include "compat/calls/answer.h"

namespace mayfly::compat::control {

CallAnswer refusal(const Error& error) {
  CallAnswer answer;
  answer.status = error_status(error.kind);
  answer.body = error_body(error);
  return answer;
}

}  // namespace mayfly::compat::control
