#include "cli/transfer_options.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "cli/transfer/transfer.h"

namespace mayfly::http {
namespace {

using transfer::IfExists;
using transfer::PlaceOptions;
using transfer::TransferCommand;
using transfer::TtlChoice;

constexpr const char* server_here = "http://127.0.0.1:8000";

void add_place(CLI::App& app, PlaceOptions& place, const std::string& side) {
  const std::string of = side == "from" ? "the source" : "the target";
  app.add_option("--" + side + "-account", place.account,
                 "Account of twelve digits, where " + of + " is a Mayfly");
  app.add_option("--" + side + "-region", place.region,
                 "Region of " + of + "; without it, the environment's");
  app.add_option("--" + side + "-profile", place.profile,
                 "Profile of AWS's credentials files for " + of + "; without it, the environment's");
}

void add_what_and_how(CLI::App& app, TransferCommand& command) {
  app.add_option("TABLE", command.tables, "Tables, or patterns such as 'orders*'");
  app.add_flag("--all", command.all, "All tables");
  add_place(app, command.from, "from");
  add_place(app, command.to, "to");
  app.add_option("--ca-file", command.ca_file,
                 "Whose certificates an https:// server may show; without it, the system's issuers'")
      ->envname("MAYFLY_CA_FILE")
      ->type_name("FILE");
  app.add_option("--rename", command.renames, "What a table is called at the target; may be repeated")
      ->type_name("OLD=NEW")
      ->allow_extra_args(false);
  app.add_option(
         "--schema", command.schemas,
         "Definitions of tables whose settings the source does not have, as of serve --schema; may be "
         "repeated")
      ->type_name("FILE|DIR")
      ->allow_extra_args(false);
  app.add_option("--schema-parameter", command.schema_parameters, "A parameter of templates; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app.add_flag("--items-only", command.items_only,
               "Only items: the tables are there, or a file has no settings");
  const std::map<std::string, IfExists> ways = {{"fail", IfExists::fail},
                                                {"skip", IfExists::skip},
                                                {"append", IfExists::append},
                                                {"replace", IfExists::replace}};
  app.add_option("--if-exists", command.if_exists, "What becomes of a table that the target has already")
      ->transform(CLI::Transformer(ways, CLI::ignore_case).description("fail|skip|append|replace"))
      ->default_str("fail");
  const std::map<std::string, TtlChoice> choices = {{"on", TtlChoice::on},
                                                    {"off", TtlChoice::off},
                                                    {"shift", TtlChoice::shift},
                                                    {"unexpired", TtlChoice::unexpired}};
  app.add_option(
         "--ttl", command.ttl,
         "Of times to live: switched on when all items are in; left off; moved on by the time since the "
         "export; or on, without the items that are past")
      ->transform(CLI::Transformer(choices, CLI::ignore_case).description("on|off|shift|unexpired"))
      ->default_str("on");
  app.add_option("--anonymize", command.anonymize, "Rules by which values are dropped, hashed, or made up")
      ->type_name("FILE");
  app.add_option(
         "--secret-file", command.secret_file,
         "What hashes are keyed with; without it, MAYFLY_ANONYMIZE_SECRET, or a new one that is forgotten")
      ->type_name("FILE");
  app.add_flag("--dry-run", command.dry_run, "Show a few items before and after, and write nothing");
  app.add_option("--parallel", command.parallel, "How many segments of tables, or files, are copied at once")
      ->check(CLI::Range(std::size_t{1}, std::size_t{64}))
      ->capture_default_str();
  app.add_option("--read-units-max", command.read_units_max, "How many capacity units may be read a second")
      ->check(CLI::PositiveNumber);
  app.add_option("--write-units-max", command.write_units_max, "How many may be written a second")
      ->check(CLI::PositiveNumber);
  app.add_flag("--consistent", command.consistent, "Read consistently, which costs twice as much");
  app.add_flag("--uncompressed", command.uncompressed,
               "Write a directory's data files as they are, not as gzip");
  app.add_flag("--resume", command.resume, "Go on with what was interrupted, asked for by the same words");
  app.add_option("--journal", command.journal,
                 "Where to write down how far it is; - is nowhere; without it, in DIR/export.journal, "
                 "FILE.journal, or mayfly-transfer.journal here")
      ->type_name("FILE");
  app.add_flag("--quiet", command.quiet, "No progress on standard error");
}

// On this side is a server, unless somebody says otherwise.
void add_server(CLI::App& app, PlaceOptions& place) {
  app.add_option("--account", place.account, "Account of twelve digits, of the server")
      ->envname("MAYFLY_ACCOUNT");
  app.add_option("--region", place.region, "Region, of the server")->envname("MAYFLY_REGION");
  app.add_option("--profile", place.profile, "Profile, of the server");
}

constexpr const char* places = "aws|URL|DIR|FILE|-";

}  // namespace

// Each has its own words until it is the one that was asked for: of one that was not, the environment's
// variables are taken, too.
void add_transfer_commands(CLI::App& app, TransferCommand& command) {
  CLI::App* const out = app.add_subcommand(
      "export", "Write tables with their settings and items to a directory, a file, or another server");
  const auto exported = std::make_shared<TransferCommand>();
  exported->kind = "export";
  exported->from.place = server_here;
  out->add_option("--to", exported->to.place, "Where to")->type_name(places)->required();
  out->add_option("--from,--url", exported->from.place, "Where from")
      ->envname("MAYFLY_URL")
      ->type_name(places)
      ->capture_default_str();
  add_server(*out, exported->from);
  add_what_and_how(*out, *exported);
  out->callback([exported, &command] { command = *exported; });

  CLI::App* const in = app.add_subcommand(
      "import", "Make tables with their settings and items of a directory, a file, or another server");
  const auto imported = std::make_shared<TransferCommand>();
  imported->kind = "import";
  imported->to.place = server_here;
  in->add_option("--from", imported->from.place, "Where from, an export of AWS's too")
      ->type_name(places)
      ->required();
  in->add_option("--to,--url", imported->to.place, "Where to")
      ->envname("MAYFLY_URL")
      ->type_name(places)
      ->capture_default_str();
  add_server(*in, imported->to);
  add_what_and_how(*in, *imported);
  in->callback([imported, &command] { command = *imported; });
}

}  // namespace mayfly::http
