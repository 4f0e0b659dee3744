#include "cli/options/transfer_options.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "cli/options/option_text.h"
#include "cli/transfer/transfer.h"

namespace mayfly::cli {
namespace {

using transfer::IfExists;
using transfer::PlaceOptions;
using transfer::TransferCommand;
using transfer::TtlChoice;

constexpr const char* server_here = "http://127.0.0.1:8000";

void add_place(CLI::App& app, PlaceOptions& place, const std::string& side) {
  const std::string of = side == "from" ? "the source" : "the target";
  app.add_option("--" + side + "-account", place.account, "Account of " + of + ", if it is a Mayfly server")
      ->type_name("ID");
  app.add_option("--" + side + "-region", place.region, "Region of " + of + " (default: the environment's)")
      ->type_name("NAME");
  app.add_option("--" + side + "-profile", place.profile,
                 "AWS profile for " + of + " (default: the environment's)")
      ->type_name("NAME");
}

void add_what_and_how(CLI::App& app, TransferCommand& command) {
  app.add_option("TABLE", command.tables, "Table, or pattern such as 'orders*'");
  app.add_flag("--all", command.all, "Copy all tables except mayfly_sweep, the state of 'mayfly sweep'");
  app.add_flag("--dry-run", command.dry_run,
               "Print a few items before and after anonymization, and write nothing");
  app.add_flag("--json", command.json, "Print the result as one JSON object");
  app.add_flag("--quiet", command.quiet, "Print no progress on standard error");
  app.option_defaults()->group("Source and target");
  add_place(app, command.from, "from");
  add_place(app, command.to, "to");
  app.add_option("--ca-file", command.ca_file,
                 "Trust the certificates in FILE for https:// (default: the system's)")
      ->envname("MAYFLY_CA_FILE")
      ->type_name("FILE");
  app.option_defaults()->group("Tables");
  app.add_option("--rename", command.renames, "Rename a table at the target")
      ->type_name("OLD=NEW")
      ->allow_extra_args(false);
  app.add_option("--schema", command.schemas,
                 "Table definitions, as for serve --schema, if the source has none")
      ->type_name("FILE|DIR")
      ->allow_extra_args(false);
  app.add_option("--schema-parameter", command.schema_parameters, "Set a template's parameter")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app.add_flag("--items-only", command.items_only,
               "Copy only items: a target server must have the tables, and files get no table settings");
  app.add_option("--if-exists", command.if_exists,
                 "What to do if a table exists at the target: fail, skip, append or replace")
      ->transform(choice<IfExists>({{"fail", IfExists::fail},
                                    {"skip", IfExists::skip},
                                    {"append", IfExists::append},
                                    {"replace", IfExists::replace}}))
      ->type_name("ACTION")
      ->default_str("fail");
  app.add_option("--ttl", command.ttl,
                 "TTL at the target: on, off, shift (by the export's age) or unexpired (skip expired items)")
      ->transform(choice<TtlChoice>({{"on", TtlChoice::on},
                                     {"off", TtlChoice::off},
                                     {"shift", TtlChoice::shift},
                                     {"unexpired", TtlChoice::unexpired}}))
      ->type_name("CHOICE")
      ->default_str("on");
  app.option_defaults()->group("Anonymization");
  app.add_option("--anonymize", command.anonymize, "Drop, hash or replace values by the rules in FILE")
      ->type_name("FILE");
  app.add_option("--secret-file", command.secret_file,
                 "Key for the hashes (default: MAYFLY_ANONYMIZE_SECRET, or a random key)")
      ->type_name("FILE");
  app.option_defaults()->group("Speed");
  app.add_option("--parallel", command.parallel, "Number of table segments or files to copy in parallel")
      ->check(between(1, 64))
      ->capture_default_str();
  app.add_option("--read-units-max", command.read_units_max,
                 "Maximum capacity units to read per second (default: no limit)")
      ->check(positive())
      ->type_name("UNITS");
  app.add_option("--write-units-max", command.write_units_max,
                 "Maximum capacity units to write per second (default: no limit)")
      ->check(positive())
      ->type_name("UNITS");
  app.add_flag("--consistent", command.consistent, "Use consistent reads, which cost twice as much");
  app.add_flag("--uncompressed", command.uncompressed, "Do not compress the data files of a directory");
  app.option_defaults()->group("Interruptions");
  app.add_flag("--resume", command.resume, "Continue an interrupted run of the same command");
  app.add_option("--journal", command.journal,
                 "File that records progress for --resume, or - for no file (default: next to the target)")
      ->type_name("FILE");
  app.footer("Options with ... can be repeated.");
}

// Adds the options for the server that is the default source of an export or the default target of an import.
void add_server(CLI::App& app, PlaceOptions& place) {
  app.option_defaults()->group("Source and target");
  app.add_option("--account", place.account, "Account of the server, twelve digits")
      ->envname("MAYFLY_ACCOUNT")
      ->type_name("ID");
  app.add_option("--region", place.region, "Region of the server")
      ->envname("MAYFLY_REGION")
      ->type_name("NAME");
  app.add_option("--profile", place.profile, "AWS profile for the server")->type_name("NAME");
  app.option_defaults()->group("Options");
}

constexpr const char* places = "aws|URL|DIR|FILE|-";

}  // namespace

// Each subcommand fills in its own TransferCommand, which is copied to `command` only if the subcommand was
// named. CLI11 also reads the environment variables of subcommands that were not named.
void add_transfer_commands(CLI::App& app, TransferCommand& command) {
  CLI::App* const out = app.add_subcommand("export", "Copy tables to a directory, a file or another server");
  const auto exported = std::make_shared<TransferCommand>();
  exported->kind = "export";
  exported->from.place = server_here;
  out->add_option("--to", exported->to.place, "Target")->type_name(places)->required();
  out->add_option("--from,--url", exported->from.place, "Source")
      ->envname("MAYFLY_URL")
      ->type_name(places)
      ->capture_default_str();
  add_server(*out, exported->from);
  add_what_and_how(*out, *exported);
  out->callback([exported, &command] { command = *exported; });

  CLI::App* const in =
      app.add_subcommand("import", "Copy tables from a directory, a file, an AWS export or another server");
  const auto imported = std::make_shared<TransferCommand>();
  imported->kind = "import";
  imported->to.place = server_here;
  in->add_option("--from", imported->from.place, "Source; also an AWS export or a JSON file of items")
      ->type_name(places)
      ->required();
  in->add_option("--to,--url", imported->to.place, "Target")
      ->envname("MAYFLY_URL")
      ->type_name(places)
      ->capture_default_str();
  add_server(*in, imported->to);
  add_what_and_how(*in, *imported);
  in->callback([imported, &command] { command = *imported; });
}

}  // namespace mayfly::cli
