// `mayfly table list|create|describe|delete` and `mayfly item put|get|query|scan|delete`, on a running
// server.
//
//   mayfly table create carts --sort at:N --ttl ttl --index by_owner:owner,at
//   mayfly item put carts id=1 at=5 ttl=+48h
//   mayfly item get carts 1 5
//
// Reads are strongly consistent, except reads from global indexes. With --json, a command prints DynamoDB's
// answer in DynamoDB JSON. The pages of a query or a scan become one answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/calls/server_calls.h"

namespace mayfly::cli {

struct ItemCommand {
  enum class What : std::uint8_t {
    table_list,
    table_create,
    table_describe,
    table_delete,
    item_put,
    item_get,
    item_query,
    item_scan,
    item_delete,
  };
  What what = What::table_list;
  ServerPlace server;
  bool json = false;
  std::string table;
  std::vector<std::string> words;  // the key or the item, as typed (item_text.h)

  // table create: "id" or "id:N"
  std::string key = "id", sort, ttl, stream = "on";
  std::vector<std::string> indexes, local_indexes;

  // item query and scan
  std::string index;
  std::string from, to, begins_with;  // conditions on the sort key
  bool reverse = false;
  std::optional<std::int64_t> limit;
};

// Returns the exit code: 0, or 1 with a sentence on stderr. 1 is also the exit code if the item to get does
// not exist.
int run_item_command(const ItemCommand& command);

// Returns the CreateTable request of a `table create`. The error is a human-readable sentence.
Expected<json::Tree, std::string> create_request(const ItemCommand& command);

}  // namespace mayfly::cli
