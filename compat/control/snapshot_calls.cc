// /_mayfly/snapshots/…, /_mayfly/reset: save, restore and empty a whole account
// (engine/background/snapshots.h).
//
// POST   /_mayfly/snapshots               {"id":"7"}; takes {"name":"fixtures"}
// GET    /_mayfly/snapshots               {"snapshots":[{"id":"7","name":"fixtures"}]}
// POST   /_mayfly/snapshots/{id}/restore  {"now":"2031-01-01T00:00:00Z"}
// DELETE /_mayfly/snapshots/{id}          {}
// POST   /_mayfly/reset                   {"now":"2026-11-20T10:00:00Z"}
//
// A snapshot's name is for people; calls use the id. The name is stored in the account's document
// "snapshot-name" / id (engine/storage/documents.h). That document is not part of the account's state, so a
// restore keeps the names of later snapshots. If a crash leaves a name without its snapshot, the name has no
// effect, because ids are never reused.
#include <nlohmann/json.hpp>

#include "compat/control/families.h"
#include "compat/memory_room.h"
#include "compat/triggers/triggers.h"
#include "engine/background/snapshot_heads.h"
#include "engine/background/snapshots.h"
#include "engine/base/whole_number.h"
#include "engine/items/failpoints.h"
#include "engine/storage/documents.h"

namespace mayfly::compat::control {
namespace {

Unexpected<Error> no_such_snapshot(const Call& call) {
  return not_found("Account " + call.scope.account + " has no snapshot " + call.parameters[0] + ".");
}

constexpr std::size_t name_bytes_max = 255;
constexpr std::string_view name_kind = "snapshot-name";

engine::DocumentName name_of(const Call& call, std::string id) {
  return {call.scope.account, std::string(name_kind), std::move(id)};
}

// Returns the account's time after the restore or reset.
json::Tree show_now(const Call& call) {
  return {{"now", print_time(call.database().accounts().of(call.scope.account).now())}};
}

Result<json::Tree> take_snapshot(Call& call) {
  const auto name = call.body.text("name");
  CHECK_OK(check_room(call.database()));
  const std::size_t snapshots_max = call.emulator.limits().snapshots_max;
  const auto id = call.database().snapshots().take(call.scope.account, snapshots_max);
  if (!id) {
    return error::limit_exceeded("Too many snapshots in account " + call.scope.account + " (limit " +
                                 std::to_string(snapshots_max) + ", set by --snapshots-max).");
  }
  if (name) call.database().documents().put(name_of(call, std::to_string(*id)), *name);
  return json::Tree{{"id", std::to_string(*id)}};
}

Result<json::Tree> list_snapshots(Call& call) {
  json::Tree snapshots = json::Tree::array();
  for (const engine::SnapshotId id : call.database().snapshots().list(call.scope.account)) {
    json::Tree& shown = snapshots.emplace_back(json::Tree{{"id", std::to_string(id)}});
    if (auto name = call.database().documents().get(name_of(call, std::to_string(id))))
      shown["name"] = *std::move(name);
  }
  return json::Tree{{"snapshots", std::move(snapshots)}};
}

Result<json::Tree> restore_snapshot(Call& call) {
  const auto id = engine::whole_number<engine::SnapshotId>(call.parameters[0]);
  // Release all failpoints first: an advance that stops at a failpoint would block the restore.
  call.database().failpoints().release_all(call.scope.account);
  bool restored = false;
  if (id) {
    call.emulator.triggers().while_stopped(
        call.scope.account, [&] { restored = call.database().snapshots().restore(call.scope.account, *id); });
  }
  if (!restored) return no_such_snapshot(call);
  call.emulator.table_changes().settle_all(call.scope.account);
  return show_now(call);
}

Result<json::Tree> delete_snapshot(Call& call) {
  const auto id = engine::whole_number<engine::SnapshotId>(call.parameters[0]);
  if (!id || !call.database().snapshots().drop(call.scope.account, *id)) return no_such_snapshot(call);
  call.database().documents().erase(name_of(call, std::to_string(*id)));
  return json::Tree::object();
}

Result<json::Tree> reset_account(Call& call) {
  call.database().failpoints().release_all(call.scope.account);
  call.emulator.faults().set(call.scope.account, {});
  call.emulator.triggers().reset(call.scope.account,
                                 [&] { call.database().snapshots().reset(call.scope.account); });
  std::vector<engine::DocumentName> names;
  for (engine::Document& named : call.database().documents().list(call.scope.account, name_kind))
    names.push_back(std::move(named.name));
  call.database().documents().write(names, {});
  call.emulator.table_changes().settle_all(call.scope.account);
  return show_now(call);
}

}  // namespace

std::span<const ControlCall> snapshot_calls() {
  static constexpr Member place[] = {{"id", Kind::text, "Id of the snapshot", Given::always}};
  static constexpr Member take_body[] = {
      Member{"name", Kind::text, "Name of the snapshot"}.within(1, name_bytes_max).as("--name")};
  static constexpr Member id_answer[] = {{"id", Kind::text, "Id of the snapshot", Given::always}};
  static constexpr Member snapshot_members[] = {{"id", Kind::text, "Id of the snapshot", Given::always},
                                                {"name", Kind::text, "Its name"}};
  static constexpr Member list_answer[] = {
      Member{"snapshots", Kind::list, "The account's snapshots", Given::always}.with(snapshot_members)};

  static constexpr ControlCall calls[] = {
      {.method = "GET",
       .path = "/_mayfly/snapshots",
       .name = "list_snapshots",
       .about = "List snapshots",
       .answer = list_answer,
       .handle = &list_snapshots,
       .command = "snapshot list",
       .rows = "snapshots",
       .when_empty = "No snapshots in account {account}."},
      {.method = "POST",
       .path = "/_mayfly/snapshots",
       .name = "take_snapshot",
       .about = "Save the account: tables, items, streams and clock",
       .effect = Effect::adds,
       .waits = Waits::for_changes,
       .body = take_body,
       .answer = id_answer,
       .handle = &take_snapshot,
       .command = "snapshot take"},
      {.method = "POST",
       .path = "/_mayfly/snapshots/{id}/restore",
       .name = "restore_snapshot",
       .about = "Restore the account from a snapshot, which can be restored any number of times",
       .effect = Effect::destroys,
       .waits = Waits::for_changes,
       .place = place,
       .answer = now_answer,
       .handle = &restore_snapshot,
       .command = "snapshot restore"},
      {.method = "DELETE",
       .path = "/_mayfly/snapshots/{id}",
       .name = "delete_snapshot",
       .about = "Delete a snapshot",
       .effect = Effect::destroys,
       .place = place,
       .handle = &delete_snapshot,
       .command = "snapshot delete",
       .when_empty = "Deleted."},
      {.method = "POST",
       .path = "/_mayfly/reset",
       .name = "reset_account",
       .about = "Delete the account's tables, snapshots and faults, and reset its clock",
       .effect = Effect::destroys,
       .waits = Waits::for_changes,
       .answer = now_answer,
       .handle = &reset_account,
       .command = "reset"},
  };
  return calls;
}

}  // namespace mayfly::compat::control
