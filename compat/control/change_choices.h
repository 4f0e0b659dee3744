// The choices for the members and query values "event" and "by", which select the changes that a caller
// awaits or follows.
#pragma once

#include <string_view>
#include <utility>

#include "engine/tables/change_log.h"

namespace mayfly::compat::control {

inline constexpr std::pair<std::string_view, engine::ChangeRecord::Kind> event_choices[] = {
    {"INSERT", engine::ChangeRecord::Kind::insert},
    {"MODIFY", engine::ChangeRecord::Kind::modify},
    {"REMOVE", engine::ChangeRecord::Kind::remove}};
inline constexpr std::pair<std::string_view, engine::Cause> by_choices[] = {
    {"user", engine::Cause::user}, {"service", engine::Cause::time_to_live}};

}  // namespace mayfly::compat::control
