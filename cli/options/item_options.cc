#include "cli/options/item_options.h"

#include <CLI/CLI.hpp>
#include <limits>

#include "cli/options/control_options.h"
#include "cli/options/option_text.h"

namespace mayfly::cli {
namespace {

using What = ItemCommand::What;

constexpr const char* item_footer =
    "Key attributes have the types that the table defines. Other values are read as JSON if they are valid\n"
    "JSON (5, true, null, [1,2], '\"5\"'), and as strings otherwise. The table's TTL attribute also takes a\n"
    "time (2031-01-01T00:00:00Z) or a duration from now, by the account's clock (+48h).\n\n"
    "Examples:\n"
    "  mayfly item put carts id=1 owner=ann total=12.50 ttl=+48h\n"
    "  mayfly item put carts '{\"id\": \"1\", \"tags\": [\"a\", \"b\"]}'\n"
    "  mayfly item put carts '{\"id\": {\"S\": \"1\"}, \"tags\": {\"SS\": [\"a\", \"b\"]}}'";

CLI::App& add(CLI::App& group, ItemCommand& command, const std::string& name, const std::string& help,
              What what) {
  CLI::App& added = *group.add_subcommand(name, help);
  if (what != What::table_list) added.add_option("TABLE", command.table, "Table")->required();
  add_json_option(added, command.json);
  add_server_options(added, command.server);
  added.callback([&command, what] { command.what = what; });
  return added;
}

void add_table_commands(CLI::App& app, ItemCommand& command) {
  CLI::App& table =
      *app.add_subcommand("table", "List, create, describe and delete tables")->require_subcommand(1);
  add(table, command, "list", "List tables", What::table_list);
  CLI::App& create = add(table, command, "create", "Create a table", What::table_create);
  create.add_option("--key", command.key, "Partition key; id:N for a number, id:B for binary")
      ->type_name("NAME")
      ->capture_default_str();
  create.add_option("--sort", command.sort, "Sort key, in the same form (default: none)")->type_name("NAME");
  create.add_option("--ttl", command.ttl, "Attribute that holds the time to live (default: none)")
      ->type_name("NAME");
  create
      .add_flag("--stream{on},--no-stream{off}", command.stream,
                "Record changes in a stream; --stream=KEYS_ONLY, NEW_IMAGE or OLD_IMAGE records less")
      ->check(one_of({"on", "off", "KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"}));
  create
      .add_option("--index", command.indexes,
                  "Global index NAME:KEY[,SORT][=PROJECTION]; PROJECTION: KEYS_ONLY or attributes")
      ->type_name("INDEX")
      ->allow_extra_args(false);
  create.add_option("--local-index", command.local_indexes, "Local index NAME:SORT[=PROJECTION]")
      ->type_name("INDEX")
      ->allow_extra_args(false);
  create.footer(
      "Options with ... can be repeated.\n\n"
      "Examples:\n"
      "  mayfly table create carts --ttl ttl\n"
      "  mayfly table create events --key user --sort at:N --index by_kind:kind,at=KEYS_ONLY");
  add(table, command, "describe", "Print a table's keys, indexes, TTL and stream", What::table_describe);
  add(table, command, "delete", "Delete a table and its items", What::table_delete);
}

void add_key(CLI::App& to, ItemCommand& command, const std::string& help) {
  to.add_option("KEY", command.words, help)->required()->expected(1, 2);
}

}  // namespace

void add_item_commands(CLI::App& app, ItemCommand& command) {
  add_table_commands(app, command);
  CLI::App& item =
      *app.add_subcommand("item", "Put, get, query, scan and delete items")->require_subcommand(1);
  const std::string key_help = R"(Key: values (1), NAME=VALUE (id=1) or JSON ('{"id":{"S":"1"}}'))";

  CLI::App& put = add(item, command, "put", "Write an item", What::item_put);
  put.add_option("ITEM", command.words, "NAME=VALUE for each attribute, or one JSON object")->required();
  put.footer(item_footer);

  CLI::App& get =
      add(item, command, "get", "Print an item; exits with 1 if it does not exist", What::item_get);
  add_key(get, command, key_help);
  get.footer("Examples:\n  mayfly item get carts 1\n  mayfly item get events user=ann at=5");

  CLI::App& query =
      add(item, command, "query", "Print the items that have the given partition key", What::item_query);
  add_key(query, command, "Partition key and optional sort key: ann, ann 5, user=ann at=5 or JSON");
  query.add_option("--from", command.from, "Only items whose sort key is at least this value")
      ->type_name("VALUE");
  query.add_option("--to", command.to, "Only items whose sort key is at most this value")->type_name("VALUE");
  query.add_option("--begins-with", command.begins_with, "Only items whose sort key begins with this value")
      ->type_name("VALUE");
  query.add_flag("--reverse", command.reverse, "Print the highest sort key first");
  query.footer("Example:\n  mayfly item query events ann --from 5 --reverse --limit 10");

  CLI::App& scan = add(item, command, "scan", "Print all items of a table", What::item_scan);
  for (CLI::App* reading : {&query, &scan}) {
    reading->add_option("--index", command.index, "Read this index instead of the table")->type_name("NAME");
    reading->add_option("--limit", command.limit, "Maximum items to print")
        ->check(between(1, std::numeric_limits<std::int32_t>::max()))
        ->default_str("all");
  }
  add_key(add(item, command, "delete", "Delete an item", What::item_delete), command, key_help);
}

}  // namespace mayfly::cli
