// `mayfly export` and `mayfly import`: tables with their settings and items from one place to another, of
// which each is a server, a directory or a file.
//
//   mayfly export --all --to backup                              # DIR, from http://127.0.0.1:8000
//   mayfly import --from backup --to http://127.0.0.1:9000
//   mayfly export orders --from aws --to http://127.0.0.1:8000 --anonymize rules.json
//
// The two are one command that fills in what is not said: what is exported comes from the server of --url,
// what is imported goes there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/transfer/sink.h"

namespace mayfly::transfer {

// What becomes of times to live.
enum class TtlChoice : std::uint8_t {
  on,         // switched on when all items are in; what is past then goes as the target lets it go
  off,        // not switched on
  shift,      // on, and moved on by the time since the source was read
  unexpired,  // on, and what is past does not come along
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
  std::string journal;  // empty: where it is by itself; "-": none
  bool resume = false;
};

// Returns the exit code: 0, it is done; 1, it could not be done; 2, what is asked for means nothing; 3, it
// has begun, and --resume goes on.
int run_transfer(const TransferCommand& command);

}  // namespace mayfly::transfer
