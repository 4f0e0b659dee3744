#include "os/directory.h"

namespace mayfly::os {

Directory open_parent(const Directory& directory, const Parts& parts, bool make_missing,
                      std::error_code& error) {
  Directory at = directory.open_below(".", error);
  for (std::size_t i = 0; i + 1 < parts.size() && !error; ++i) {
    if (make_missing) at.make_directory(parts[i], error);
    if (!error) at = at.open_below(parts[i], error);
  }
  return error ? Directory() : std::move(at);
}

RegularFile open_regular(const Directory& directory, const Parts& parts, std::error_code& error) {
  const Directory parent = open_parent(directory, parts, false, error);
  if (error) return {};
  RegularFile opened;
  opened.file = parent.open_file(parts.back(), {}, error);
  if (!error) opened.facts = opened.file.facts(error);
  if (!error && opened.facts.kind == Kind::directory) error = std::make_error_code(std::errc::is_a_directory);
  if (!error && opened.facts.kind != Kind::file)
    error = std::make_error_code(std::errc::no_such_device_or_address);
  if (error) return {};
  return opened;
}

}  // namespace mayfly::os
