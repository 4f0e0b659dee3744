#include "compat/exports/export_window.h"

#include <string>

#include "compat/backups/backups.h"

namespace mayfly::compat::exports {
namespace {

using engine::Instant;

// Prints a time such as "2026-10-08T22:51:50Z". Omits the fraction if it is zero.
std::string printed(Instant instant) {
  std::string text = engine::iso8601(instant);
  constexpr std::string_view whole = ".000Z";
  if (text.ends_with(whole)) text.replace(text.size() - whole.size(), whole.size(), "Z");
  return text;
}

Unexpected<Error> not_enabled(const engine::Table& table) {
  return error::point_in_time_recovery_unavailable("Point in time recovery is not enabled for table '" +
                                                   table.name + "'");
}

Result<Instant> resolve_time(const Context& context, const engine::LiveTable& live,
                             const engine::Table& table, const ExportRequest& asked, Instant now) {
  const auto window = context.backups.window(live);
  if (!window) return not_enabled(table);
  if (!asked.time) return now;
  if (*asked.time > now || *asked.time < table.created)
    return error::invalid_export_time("Export Time is invalid");
  if (!window->has(*asked.time)) return export_time_unavailable();
  return *asked.time;
}

Result<Instant> resolve_period(const Context& context, const engine::LiveTable& live,
                               const engine::Table& table, const ExportRequest& asked, Instant now) {
  if (*asked.from < table.created) {
    return error::invalid_export_time(
        "Incremental export period from time cannot be less than the table creation time : " +
        printed(*asked.from));
  }
  if (asked.to && *asked.to > now) {
    return error::invalid_export_time(
        "Incremental export period to time cannot be greater than the current time : " + printed(*asked.to));
  }
  constexpr Instant second_ms = 1000;
  const Instant to = asked.to.value_or(now / second_ms * second_ms);
  if (to - *asked.from < window_ms_min) {
    return error::invalid_export_time(
        "Difference between export period from time and export period to time is less than 15 minutes");
  }
  if (to - *asked.from > window_ms_max) {
    return error::invalid_export_time(
        "Difference between export period from time and export period to time is greater than 24 hours");
  }
  const auto window = context.backups.window(live);
  if (!window) return not_enabled(table);
  if (*asked.from < window->earliest) return export_time_unavailable();
  return to;
}

}  // namespace

Unexpected<Error> export_time_unavailable() {
  return error::invalid_export_time("Point in Time Recovery is not available for specified export time");
}

Result<Instant> resolve_window(const Context& context, const engine::LiveTable& table,
                               const ExportRequest& asked, Instant now) {
  const auto description = table.description();
  return asked.incremental() ? resolve_period(context, table, *description, asked, now)
                             : resolve_time(context, table, *description, asked, now);
}

std::unique_ptr<Records> records_of(const Context& context, const engine::LiveTable& table,
                                    const ExportRequest& asked) {
  const auto window = context.backups.window(table);
  if (!window) return nullptr;
  if (!asked.incremental()) return items_at(context.database, table, window->within(asked.until));
  // The engine's windows exclude their first instant and include their last one, so both ends move back by a
  // millisecond. The start cannot move to before the instant at which recovery began, so an export omits the
  // changes of that instant.
  return changes_between(context.database, table, window->within(*asked.from - 1), asked.until - 1);
}

}  // namespace mayfly::compat::exports
