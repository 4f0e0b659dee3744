#include "compat/calls/call_path.h"

#include <utility>

#include "compat/wire/percent_encoding.h"

namespace mayfly::compat::control {

Expected<std::string, std::string> call_path(const ControlCall& call,
                                             const std::function<MemberText(const Member&)>& value_of) {
  std::string path;
  std::string_view left = call.path;
  for (const Member& member : call.place) {
    const auto begin = left.find('{'), end = left.find('}');
    MAYFLY_CHECK(begin < end && left.substr(begin + 1, end - begin - 1) == member.name);
    TRY(const auto value, value_of(member));
    if (!value) return Unexpected{"'" + std::string(member.name) + "' is required and must be a string."};
    append_encoded(path += left.substr(0, begin), *value, "");
    left.remove_prefix(end + 1);
  }
  path += left;
  char separator = '?';
  for (const Member& member : call.query) {
    TRY(const auto value, value_of(member));
    if (!value) continue;
    path.append(1, std::exchange(separator, '&')).append(member.name).append(1, '=');
    append_encoded(path, *value, "");
  }
  return path;
}

}  // namespace mayfly::compat::control
