#include "compat/wire/answer.h"

namespace mayfly::compat {

Answer error_answer(const Error& error, Frame frame) {
  return {error_status(error.kind), error_body(error, has_newer_words(frame))};
}

}  // namespace mayfly::compat
