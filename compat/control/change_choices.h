// The choices for the members and query values "event" and "by", which select the changes that a caller
// awaits or follows.
#pragma once

#include <string_view>
#include <utility>

#include "compat/calls/body.h"
#include "engine/tables/change_log.h"

namespace mayfly::compat::control {

inline constexpr std::pair<std::string_view, engine::ChangeRecord::Kind> event_choices[] = {
    {"INSERT", engine::ChangeRecord::Kind::insert},
    {"MODIFY", engine::ChangeRecord::Kind::modify},
    {"REMOVE", engine::ChangeRecord::Kind::remove}};
inline constexpr std::pair<std::string_view, engine::Cause> by_choices[] = {
    {"user", engine::Cause::user}, {"service", engine::Cause::time_to_live}};

inline constexpr auto event_names = names_of(event_choices);
inline constexpr auto author_names = names_of(by_choices);
inline constexpr Member event_member =
    Member{"event", Kind::text, "Only INSERT, MODIFY or REMOVE"}.of(event_names).as("--event");
inline constexpr Member author_member =
    Member{"by", Kind::text, "Only changes by a user, or by the service (expired items)"}
        .of(author_names)
        .as("--by");

}  // namespace mayfly::compat::control
