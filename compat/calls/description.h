// The description of a control call. Everything about the call is derived from it: its route, the checks of
// its body and query, how it waits, the list at GET /_mayfly/, /_mayfly/openapi.json, the tool for agents
// (compat/mcp) and the command (cli/options/control_options.h).
//
// To add a call, add its description to a family's list (control/families.h) and write its handler next to
// it:
//
//   constexpr Member shard_body[] = {{"shard", Kind::text, "Id of the shard (default: all open shards)"}};
//   constexpr ControlCall calls[] = {
//       {.method = "POST", .path = "/_mayfly/streams/{table}/roll", .name = "roll_shards",
//        .about = "Close shards and continue each one in a new shard", .effect = Effect::adds,
//        .body = shard_body, .answer = shards_answer, .handle = &roll_shards, .command = "stream roll"}};
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "compat/json/json_tree.h"
#include "compat/wire/error.h"

namespace mayfly::compat::control {

struct Call;
// Returns the response body; null if the handler has put a body or events into call.answer.
using Handle = Result<json::Tree> (*)(Call& call);

// The type of a member.
enum class Kind : std::uint8_t {
  text,
  time,    // "2031-01-01T00:00:00Z"
  moment,  // a time, or "next-expiry"
  number,
  seconds,  // a number; a command takes a duration, such as 90s
  whole,
  flag,    // true or false
  key,     // {"id":{"S":"1"}}
  image,   // an item or a stream record in DynamoDB's format
  range,   // [least, most]: two whole numbers
  object,  // with `members`
  list,    // of objects with `members`
  map,     // from any names to values that members[0] describes
  any,
};

enum class Given : std::uint8_t {
  sometimes,  // can be missing
  always,
  or_null,  // always present, but can be null; only in answers
};

struct Member {
  std::string_view name;
  Kind kind = Kind::text;
  std::string_view about = {};  // human-readable: "Maximum items to list"
  Given given = Given::sometimes;
  double least = 0, most = 0;                      // limits of a number; equal: no limits
  std::span<const std::string_view> choices = {};  // the allowed strings; empty: any string
  std::string_view standard = {};                  // the value of a missing member, in JSON
  std::span<const Member> members = {};
  // How the call's command accepts the member: "--limit", or "KEY" for a positional argument. If it is empty,
  // the command does not accept the member, except that a member of the path is the argument TABLE.
  std::string_view option = {};

  // Member{"limit", Kind::whole, "Maximum items to list"}.within(1, 100).by_default("10").as("--limit")
  [[nodiscard]] constexpr Member within(double from, double to) const {
    Member changed = *this;
    changed.least = from;
    changed.most = to;
    return changed;
  }
  [[nodiscard]] constexpr Member of(std::span<const std::string_view> names) const {
    Member changed = *this;
    changed.choices = names;
    return changed;
  }
  [[nodiscard]] constexpr Member with(std::span<const Member> parts) const {
    Member changed = *this;
    changed.members = parts;
    return changed;
  }
  [[nodiscard]] constexpr Member by_default(std::string_view json) const {
    Member changed = *this;
    changed.standard = json;
    return changed;
  }
  [[nodiscard]] constexpr Member as(std::string_view command_option) const {
    Member changed = *this;
    changed.option = command_option;
    return changed;
  }
};

// The change that a call makes to the account's state.
enum class Effect : std::uint8_t {
  reads,     // changes nothing
  adds,      // adds something
  sets,      // overwrites something; repeating the call changes nothing more
  destroys,  // can delete something
};

// How long a call can take. http/base/slow_lane.h gives each kind its own threads.
enum class Waits : std::uint8_t {
  not_at_all,  // an io thread answers it
  briefly,
  for_changes,  // for the changes that the call itself makes, as an advance does
  for_others,   // for a change or a job of another client
  forever,      // it streams events
};

struct ControlCall {
  std::string_view method;
  std::string_view path;   // a name in braces matches one segment
  std::string_view name;   // the name of the tool, also used in openapi.json: "advance_clock"
  std::string_view about;  // in one sentence, without its period
  Effect effect = Effect::reads;
  Waits waits = Waits::briefly;
  std::span<const Member> place = {};  // the names in braces, in order
  std::span<const Member> query = {};
  std::span<const Member> body = {};
  std::span<const Member> answer = {};
  std::string_view answer_type = "application/json";  // if it is not JSON, `answer` is empty
  Handle handle = nullptr;
  bool admits_everyone = false;  // also answers accounts beyond --accounts-max
  bool is_tool = true;           // agents can call it
  bool is_secret = false;        // its members and answer are not logged
  // The words of the call's command: "ttl explain". Empty if the call has no command, or if
  // cli/options/control_options.cc describes the command's syntax.
  std::string_view command = {};
  // `rows`: the member whose elements the command prints as rows. `when_empty`: the sentence that it prints
  // if there are no rows. Without `rows`, the command always prints the sentence.
  std::string_view rows = {}, when_empty = {};
};

// --- members that several calls share

inline constexpr Member table_place[] = {{"table", Kind::text, "Table", Given::always}};
inline constexpr Member key_member =
    Member{"key", Kind::key, R"(Primary key of the item: {"id":{"S":"1"}})", Given::always}.as("KEY");
inline constexpr Member now_answer[] = {{"now", Kind::time, "The account's time", Given::always}};

}  // namespace mayfly::compat::control
