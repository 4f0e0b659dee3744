#include "compat/outbound/beneath.h"

#include <cerrno>
#include <sys/stat.h>

namespace mayfly::compat::outbound {

bool names_nothing(std::string_view part) {
  return part.empty() || part == "." || part == ".." || part.find('\0') != part.npos;
}

Descriptor open_parent(int directory, const std::vector<std::string>& parts, bool make_missing) {
  Descriptor at(::openat(directory, ".", directory_flags));
  for (std::size_t i = 0; i + 1 < parts.size() && at.is_open(); ++i) {
    const char* const name = parts[i].c_str();
    if (make_missing && ::mkdirat(at.number(), name, 0700) != 0 && errno != EEXIST) return Descriptor();
    at = Descriptor(::openat(at.number(), name, directory_flags));
  }
  return at;
}

}  // namespace mayfly::compat::outbound
