#include "cli/sweep/journal.h"

#include <array>

#include "compat/json/json.h"
#include "engine/base/clock.h"
#include "http/base/log.h"
#include "os/terminal.h"

namespace mayfly::sweep {

void Journal::write(Level level, std::string_view event, std::initializer_list<Field> fields) {
  if (!enabled(level)) return;
  static constexpr std::array<std::string_view, 4> names = {"debug", "info", "warning", "error"};
  std::string line;
  json::Writer writer(line);
  const auto text = [&](std::string_view name, std::string_view value) {
    writer.key(name);
    writer.string(http::log::printable(value));
  };
  writer.begin_object();
  text("time", engine::iso8601(engine::SystemClock().now()));
  text("level", names[static_cast<std::size_t>(level)]);
  text("event", event);
  for (const Field& field : fields) {
    if (field.is_text) {
      text(field.name, field.text);
    } else {
      writer.key(field.name);
      writer.raw(field.text);
    }
  }
  writer.end_object();
  line += '\n';
  os::write_error(line);
}

}  // namespace mayfly::sweep
