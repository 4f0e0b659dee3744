// `mayfly export` and `mayfly import`: copies tables with their settings and items between servers,
// directories and files.
//
//   mayfly export --all --to backup                              # DIR, from http://127.0.0.1:8000
//   mayfly import --from backup --to http://127.0.0.1:9000
//   mayfly export orders --from aws --to http://127.0.0.1:8000 --anonymize rules.json
//
// Both commands do the same thing with different defaults: export reads from the server of --url, and import
// writes to it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/table_files/sink.h"

namespace mayfly::transfer {

// How TTL and expired items are handled.
enum class TtlChoice : std::uint8_t {
  on,         // enabled after all items are written; the target then deletes expired items
  off,        // not enabled
  shift,      // enabled, and TTLs are moved forward by the time since the source was read
  unexpired,  // enabled, and expired items are not copied
};

struct PlaceOptions {
  std::string place;  // a URL, "aws", a directory, a file, "-"
  std::string account, region, profile;
};

struct TransferCommand {
  std::string kind;  // "export" or "import"
  std::vector<std::string> tables;
  bool all = false;
  PlaceOptions from, to;
  std::string ca_file;
  bool items_only = false, consistent = false, uncompressed = false, quiet = false;
  bool json = false;  // print the result as one JSON object
  IfExists if_exists = IfExists::fail;
  TtlChoice ttl = TtlChoice::on;
  std::size_t parallel = 4;
  double read_units_max = 0, write_units_max = 0;
  std::vector<std::string> renames;  // OLD=NEW
  std::vector<std::string> schemas, schema_parameters;
  std::string anonymize, secret_file;
  bool dry_run = false;
  std::string journal;  // empty: a default path; "-": no journal
  bool resume = false;
};

// Returns the exit code. 0: the transfer is complete. 1: it failed. 2: the options are invalid. 3: it was
// interrupted and can be continued with --resume.
int run_transfer(const TransferCommand& command);

}  // namespace mayfly::transfer
