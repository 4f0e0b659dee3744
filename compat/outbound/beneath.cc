#include "compat/outbound/beneath.h"

#include <cerrno>

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

RegularFile open_regular(int directory, const std::vector<std::string>& parts) {
  const auto closed = [](int reason) {
    errno = reason;
    return RegularFile{};
  };
  const Descriptor parent = open_parent(directory, parts);
  if (!parent.is_open()) return closed(errno);
  RegularFile file{Descriptor(::openat(parent.number(), parts.back().c_str(), O_RDONLY | file_flags))};
  if (!file.descriptor.is_open() || ::fstat(file.descriptor.number(), &file.status) != 0)
    return closed(errno);
  if (S_ISDIR(file.status.st_mode)) return closed(EISDIR);
  return S_ISREG(file.status.st_mode) ? std::move(file) : closed(ENXIO);
}

}  // namespace mayfly::compat::outbound
