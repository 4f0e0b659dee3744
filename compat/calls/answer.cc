#include "compat/calls/answer.h"

namespace mayfly::compat::control {

Answer refusal(const Error& error) {
  Answer answer;
  answer.status = error_status(error.kind);
  answer.body = error_body(error);
  return answer;
}

}  // namespace mayfly::compat::control
