#include "compat/emulator.h"

#include <utility>

namespace mayfly::compat {

Expected<std::unique_ptr<Emulator>, std::string> Emulator::open(EmulatorOptions options) {
  TRY(auto database, engine::Database::open(std::move(options.database)));
  return std::unique_ptr<Emulator>(new Emulator(std::move(database), std::move(options)));
}

Answer Emulator::execute(const engine::Scope& scope, std::string_view target, std::string_view body,
                         std::string_view host) {
  Context context{*database_, table_changes_, scope, host};
  return dispatch(context, target, body);
}

}  // namespace mayfly::compat
