#include "cli/transfer/transfer.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "cli/anonymize/anonymizer.h"
#include "cli/anonymize/rules.h"
#include "cli/base/fail.h"
#include "cli/base/output.h"
#include "cli/schemas/files.h"
#include "cli/table_files/aws_export.h"
#include "cli/table_files/directory.h"
#include "cli/table_files/files.h"
#include "cli/table_files/source.h"
#include "cli/table_files/table_file.h"
#include "cli/transfer/endpoint_sink.h"
#include "cli/transfer/endpoint_source.h"
#include "cli/transfer/interruption.h"
#include "cli/transfer/journal.h"
#include "cli/transfer/place.h"
#include "cli/transfer/progress.h"
#include "cli/views/answer_view.h"
#include "compat/calls/times.h"
#include "compat/json/json.h"
#include "compat/wire/attribute_value_json.h"
#include "engine/base/hex.h"
#include "engine/base/random.h"
#include "engine/base/stopwatch.h"
#include "http/base/log.h"
#include "http/base/sha256.h"
#include "os/path.h"

namespace mayfly::transfer {
namespace {

using json::Tree;

enum class ExitCode : std::uint8_t { done = 0, failed = 1, means_nothing = 2, unfinished = 3 };

struct Problem {
  std::string sentence;
  ExitCode code = ExitCode::failed;
};
template <class T>
using Outcome = Expected<T, Problem>;

Unexpected<Problem> problem(std::string sentence, ExitCode code = ExitCode::failed) {
  return {Problem{std::move(sentence), code}};
}
template <class T>
Outcome<T> outcome(Expected<T, std::string> result) {
  if (!result) return problem(std::move(result.error()));
  if constexpr (std::is_void_v<T>)
    return {};
  else
    return *std::move(result);
}

constexpr std::size_t secret_bytes = 32;
constexpr std::size_t secret_file_bytes_max = 4096;
constexpr std::size_t items_shown = 3;  // by --dry-run, for each table
constexpr const char* journal_here = "mayfly-transfer.journal";

std::string generated_secret() {
  engine::SystemRandom random;
  std::string secret;
  while (secret.size() < secret_bytes)
    for (std::uint64_t bits = random.next(), i = 0; i < sizeof bits; ++i, bits >>= 8)
      secret += static_cast<char>(bits & 0xFF);
  return secret;
}

// Splits each OLD=NEW into a pair.
Outcome<std::map<std::string, std::string>> pairs_of(const std::vector<std::string>& texts,
                                                     const std::string& option) {
  std::map<std::string, std::string> pairs;
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
      return problem(option + ", got '" + text + "'", ExitCode::means_nothing);
    pairs[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return pairs;
}

std::string item_json(const engine::Item& item) {
  std::string text;
  json::Writer out(text);
  compat::write_item_object(out, item);
  return text;
}

std::string item_text(const engine::Item& item) { return http::log::printable(item_json(item)); }

// Converts a table that a schema defines to a described table.
DescribedTable described(const schemas::TableSchema& schema) {
  DescribedTable table{.name = schema.table, .description = Tree::object()};
  for (const schemas::SchemaRequest& request : schema.requests) {
    if (request.operation == "CreateTable") table.description["Table"] = request.body;
    if (request.operation == "UpdateTimeToLive") {
      const Tree& specification = request.body["TimeToLiveSpecification"];
      table.description["TimeToLiveDescription"] = {{"TimeToLiveStatus", "ENABLED"},
                                                    {"AttributeName", specification["AttributeName"]}};
    }
    if (request.operation == "UpdateContinuousBackups") {
      Tree points = request.body["PointInTimeRecoverySpecification"];
      points["PointInTimeRecoveryStatus"] = "ENABLED";
      table.description["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"] = std::move(points);
    }
    if (request.operation == "UpdateContributorInsights") {
      Tree insights = request.body;
      insights["ContributorInsightsStatus"] = "ENABLED";
      table.description["ContributorInsightsSummaries"].push_back(std::move(insights));
    }
  }
  return table;
}

// One run of the command, from its options to its exit code.
class Run {
 public:
  explicit Run(const TransferCommand& command)
      : command_(command),
        from_(Place::parse(command.from.place)),
        to_(Place::parse(command.to.place)),
        progress_(command.kind, Progress::for_standard_error(command.quiet)) {}

  int run() {
    auto result = prepare();
    if (result && command_.dry_run) result = show_some();
    if (result && !command_.dry_run) result = transfer();
    if (result) return cli::printed(static_cast<int>(ExitCode::done));
    cli::fail(result.error().sentence);
    return static_cast<int>(result.error().code);
  }

 private:
  // How one table's items are changed.
  struct Treatment {
    std::string ttl;  // the TTL attribute; empty: nothing expires
    std::optional<Anonymizer> anonymizer;
  };
  using Counts = std::map<std::string, std::uint64_t>;

  // --- before anything is changed
  Outcome<void> prepare();
  Outcome<void> check_words() const;
  Outcome<void> read_rules();
  Outcome<void> read_schemas();
  Outcome<void> open_journal();
  Outcome<void> settle_secret();
  Outcome<void> open_source();
  Outcome<void> name_targets();
  Outcome<void> open_sink();
  [[nodiscard]] Tree asked() const;
  [[nodiscard]] std::string journal_path() const;
  [[nodiscard]] aws::Given given_for(const PlaceOptions& place) const;
  Outcome<void> show_some();

  // --- the transfer itself
  Outcome<void> transfer();
  Outcome<void> begin();
  Outcome<void> check_file();
  Outcome<void> make_tables();
  void copy();
  void work();
  Expected<void, std::string> copy_part(std::size_t part);
  Expected<void, std::string> treat(std::size_t table, std::vector<engine::Item>& items,
                                    Counts& counts) const;
  bool is_due(const engine::Item& item, const std::string& attribute) const;
  Expected<void, std::string> write_page(const Page& page, std::size_t part, Reached& reached,
                                         const Counts& counts);
  Expected<void, std::string> part_is_over(std::size_t part);
  Expected<void, std::string> complete(std::size_t table);
  [[nodiscard]] bool is_wanted(std::size_t part) const;
  void fail_with(std::string sentence);
  [[nodiscard]] int ended_late() const;
  Unexpected<Problem> ended_early(std::string sentence, bool by_signal = false);
  void report();
  [[nodiscard]] std::vector<std::string> notices() const;
  [[nodiscard]] Tree result() REQUIRES(mutex_);

  const TransferCommand& command_;
  const Place from_, to_;
  std::atomic<bool> is_journal_kept_ = false;
  Interruption interruption_{[this] { return ended_late(); }};
  Progress progress_;
  const engine::Stopwatch stopwatch_;

  std::optional<Rules> rules_;
  std::string rules_text_, given_secret_;
  std::optional<KeyedHash> hash_;
  std::map<std::string, DescribedTable> schemas_;
  std::unique_ptr<Journal> journal_;
  bool resumed_ = false;
  Tree settled_ = Tree::object();
  std::optional<Selection> selection_;
  std::unique_ptr<Source> source_;
  std::unique_ptr<Sink> sink_;
  std::vector<DescribedTable> targets_;  // in the order of the source's tables
  std::vector<Treatment> treatments_;
  std::vector<Stage> stages_;
  engine::Instant now_ = 0, shift_ms_ = 0;

  std::atomic<std::size_t> next_part_ = 0;
  engine::Mutex row_;  // orders the writes to a sink whose is_one_row() is true
  engine::Mutex mutex_;
  engine::Condition ended_;
  std::size_t working_ GUARDED_BY(mutex_) = 0;
  std::string failure_ GUARDED_BY(mutex_);
  Changes changes_ GUARDED_BY(mutex_);
  std::vector<std::size_t> parts_left_ GUARDED_BY(mutex_);  // by table
  std::vector<std::uint64_t> items_ GUARDED_BY(mutex_);     // by table, in all runs
  bool has_begun_ = false;                         // if true, a failure leaves the created tables in place
  std::atomic<bool> has_changed_ = false;          // whether this run has changed the target
  std::atomic<bool> has_failed_for_good_ = false;  // --resume would fail again
};

Outcome<void> Run::check_words() const {
  const auto wrong = [](std::string sentence) {
    return problem(std::move(sentence), ExitCode::means_nothing);
  };
  if (command_.to.place.empty()) return wrong("--to is required: a directory, a file, a URL, aws or -");
  if (command_.from.place.empty()) return wrong("--from is required: a directory, a file, a URL, aws or -");
  if (from_.is_server() && command_.tables.empty() && !command_.all)
    return wrong("name the tables to copy (or patterns such as 'orders*'), or use --all");
  if (!command_.tables.empty() && command_.all) return wrong("--all cannot be combined with table names");
  if (from_.kind == to_.kind && from_.text == to_.text && !from_.is_server())
    return wrong("--from and --to are the same");
  if (to_.text.ends_with(".zst")) return wrong(".zst files can only be read. Write a plain file or .gz");
  if (!to_.is_server() && command_.if_exists != IfExists::fail &&
      (to_.kind == Place::Kind::directory || command_.if_exists != IfExists::replace))
    return wrong("--if-exists applies to tables of a server; for a file, only 'replace' is possible");
  if (command_.json && to_.kind == Place::Kind::standard && !command_.dry_run)
    return wrong(
        "--json cannot be combined with --to -, because both print on standard output. Name a file with "
        "--to.");
  if (command_.anonymize.empty() && !command_.secret_file.empty())
    return wrong("--secret-file requires --anonymize");
  if (command_.items_only && command_.if_exists != IfExists::fail && to_.is_server())
    return wrong(
        "--items-only cannot be combined with --if-exists, because --items-only always writes to existing "
        "tables");
  if (auto pairs = pairs_of(command_.renames, "--rename must be OLD=NEW"); !pairs)
    return Unexpected{pairs.error()};
  return {};
}

Outcome<void> Run::prepare() {
  CHECK_OK(check_words());
  CHECK_OK(read_rules());
  CHECK_OK(read_schemas());
  CHECK_OK(open_journal());
  CHECK_OK(settle_secret());
  CHECK_OK(open_source());
  CHECK_OK(name_targets());
  return {};
}

Outcome<void> Run::read_rules() {
  if (command_.anonymize.empty()) return {};
  TRY(rules_text_, outcome(read_file(command_.anonymize, Rules::file_bytes_max)));
  auto rules = Rules::parse(rules_text_);
  if (!rules) return problem(command_.anonymize + ": " + rules.error(), ExitCode::means_nothing);
  rules_ = *std::move(rules);
  if (!command_.secret_file.empty()) {
    TRY(given_secret_, outcome(read_file(command_.secret_file, secret_file_bytes_max)));
    while (given_secret_.ends_with('\n') || given_secret_.ends_with('\r')) given_secret_.pop_back();
  } else if (const char* const variable = std::getenv("MAYFLY_ANONYMIZE_SECRET")) {
    given_secret_ = variable;
  } else {
    return {};
  }
  if (given_secret_.size() < KeyedHash::secret_bytes_min)
    return problem("the anonymization secret must have at least 16 bytes", ExitCode::means_nothing);
  return {};
}

Outcome<void> Run::read_schemas() {
  auto parameters = schemas::schema_parameters(command_.schema_parameters);
  if (!parameters) return problem(parameters.error(), ExitCode::means_nothing);
  schemas::SchemaContext context{.parameters = *std::move(parameters)};
  if (!command_.to.region.empty()) context.region = command_.to.region;
  for (const std::string& path : command_.schemas) {
    TRY(const auto read, outcome(schemas::read_schema_files(path, context)));
    for (const std::string& warning : read.warnings) cli::fail(warning);
    for (const schemas::TableSchema& schema : read.tables) schemas_[schema.table] = described(schema);
  }
  return {};
}

std::string Run::journal_path() const {
  if (command_.journal == "-" || to_.kind == Place::Kind::standard) return {};
  if (!command_.journal.empty()) return command_.journal;
  if (to_.kind == Place::Kind::directory) return to_.text + "/" + directory_journal;
  return to_.kind == Place::Kind::file ? to_.text + ".journal" : journal_here;
}

// Returns the options that a resumed run must repeat, by name.
Tree Run::asked() const {
  constexpr const char* ways[] = {"fail", "skip", "append", "replace"};
  constexpr const char* choices[] = {"on", "off", "shift", "unexpired"};
  Tree tree = {{"from", command_.from.place},
               {"to", command_.to.place},
               {"from-account", command_.from.account},
               {"to-account", command_.to.account},
               {"from-region", command_.from.region},
               {"to-region", command_.to.region},
               {"all", command_.all},
               {"items-only", command_.items_only},
               {"if-exists", ways[static_cast<std::size_t>(command_.if_exists)]},
               {"ttl", choices[static_cast<std::size_t>(command_.ttl)]},
               {"uncompressed", command_.uncompressed},
               {"anonymize", rules_text_.empty() ? "" : engine::hex(http::sha256(rules_text_))}};
  tree["rename"] = command_.renames;
  tree["schema"] = command_.schemas;
  tree["tables"] = command_.tables;
  return tree;
}

Outcome<void> Run::open_journal() {
  if (!command_.resume) {
    const std::string path = command_.dry_run ? "" : journal_path();
    if (std::string other = path.empty() ? "" : Journal::in_the_way(path); !other.empty())
      return problem(std::move(other));
    return {};
  }
  const std::string path = journal_path();
  if (path.empty() || command_.dry_run)
    return problem("--resume needs a journal, which --dry-run, --journal - and --to - do not have",
                   ExitCode::means_nothing);
  TRY(journal_, outcome(Journal::resume(path, asked())));
  is_journal_kept_ = true;
  settled_ = journal_->plan().settled;
  resumed_ = true;
  return {};
}

// Uses the given secret or the secret from the first run, or generates a secret.
Outcome<void> Run::settle_secret() {
  now_ = resumed_ ? json::integer_member(settled_, "now").value_or(0) : engine::SystemClock().now();
  settled_["now"] = now_;
  if (!rules_) return {};
  std::string secret = given_secret_;
  if (secret.empty() && resumed_) {
    const std::string_view digits = json::string_member(settled_, "secret").value_or("");
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
      secret +=
          static_cast<char>(engine::hex_digits.find(digits[i]) * 16 + engine::hex_digits.find(digits[i + 1]));
    if (secret.empty())
      return problem(
          "the transfer began with an anonymization secret that you set. Set the same secret again");
  } else if (secret.empty()) {
    secret = generated_secret();
    settled_["secret"] = engine::hex(secret);
  }
  hash_.emplace(std::move(secret));
  const std::string check = engine::hex(hash_->bytes("check", "").substr(0, sizeof(std::uint64_t)));
  if (resumed_ && json::string_member(settled_, "secret_check") != check)
    return problem("the transfer began with a different anonymization secret. Set the same secret again");
  settled_["secret_check"] = check;
  return {};
}

aws::Given Run::given_for(const PlaceOptions& place) const {
  return {.endpoint = place.place,
          .region = place.region,
          .profile = place.profile,
          .ca_file = command_.ca_file,
          .account = place.account};
}

Outcome<void> Run::open_source() {
  std::vector<std::string> patterns = command_.tables;
  bool all = command_.all || patterns.empty();
  if (const Tree* const names = resumed_ ? json::member(settled_, "tables") : nullptr) {
    patterns.clear();
    for (const Tree& name : *names) patterns.push_back(name.is_string() ? name.get<std::string>() : "");
    all = false;
  }
  const Selection& selection = selection_.emplace(std::move(patterns), all);
  if (from_.is_server()) {
    const auto segments = resumed_ ? json::integer_member(settled_, "segments").value_or(1)
                                   : static_cast<std::int64_t>(command_.parallel);
    settled_["segments"] = segments;
    TRY(auto endpoint, outcome(Endpoint::open(given_for(command_.from), interruption_)));
    TRY(source_, outcome(EndpointSource::open(std::move(endpoint), selection,
                                              {.segments = static_cast<std::size_t>(segments),
                                               .consistent = command_.consistent,
                                               .items_only = command_.items_only,
                                               .read_units_max = command_.read_units_max})));
    return {};
  }
  TRY(const std::string summary, outcome(AwsExportSource::summary_at(from_.text)));
  if (!summary.empty()) {
    TRY(source_, outcome(AwsExportSource::open(from_.text, summary, selection)));
  } else if (from_.kind == Place::Kind::directory) {
    TRY(source_, outcome(DirectorySource::open(from_.text, selection)));
  } else {
    TRY(source_, outcome(TableFileSource::open(from_.text, selection, resumed_)));
  }
  return {};
}

Outcome<void> Run::name_targets() {
  TRY(const auto renames, pairs_of(command_.renames, "--rename must be OLD=NEW"));
  Tree names = Tree::array();
  std::map<std::string, std::string> taken;
  for (const DescribedTable& table : source_->tables()) {
    names.push_back(table.name);
    DescribedTable target = table;
    if (const auto renamed = renames.find(table.name); renamed != renames.end())
      target.rename(renamed->second);
    for (const std::string& name : {target.name, table.name}) {
      const auto schema = schemas_.find(name);
      if (schema == schemas_.end()) continue;
      const std::string own = target.name;
      target = schema->second;
      target.rename(own);
      break;
    }
    if (const auto [other, is_new] = taken.emplace(target.name, table.name); !is_new)
      return problem(other->second + " and " + table.name + " would both be copied to " + target.name,
                     ExitCode::means_nothing);
    Treatment treatment{.ttl = target.ttl()};
    if (rules_) {
      auto anonymizer = Anonymizer::for_table(
          *rules_, *hash_, {.table = table.name, .keys = target.keys(), .ttl = treatment.ttl});
      if (!anonymizer)
        return problem(command_.anonymize + ": " + anonymizer.error(), ExitCode::means_nothing);
      treatment.anonymizer = *std::move(anonymizer);
    }
    targets_.push_back(std::move(target));
    treatments_.push_back(std::move(treatment));
  }
  settled_["tables"] = std::move(names);
  for (const auto& [old_name, new_name] : renames)
    if (std::none_of(source_->tables().begin(), source_->tables().end(),
                     [&name = old_name](const DescribedTable& table) { return table.name == name; }))
      return problem("--rename " + old_name + "=" + new_name + ": there is no table " + old_name);
  if (command_.ttl == TtlChoice::shift) {
    const auto taken_at = source_->taken_at();
    if (!taken_at)
      return problem(
          "--ttl shift needs an export as its source, because only an export records when it was taken",
          ExitCode::means_nothing);
    shift_ms_ = now_ - *taken_at;
  }
  return {};
}

Outcome<void> Run::open_sink() {
  Tree about = {{"program", "mayfly " MAYFLY_VERSION},
                {"from", command_.from.place},
                {"begun", compat::control::print_time(now_)}};
  if (rules_) about["anonymized"] = true;
  FileSinkOptions files{.path = to_.text,
                        .items_only = command_.items_only,
                        .compressed = !command_.uncompressed,
                        .about = std::move(about)};
  switch (to_.kind) {
    case Place::Kind::server: {
      TRY(auto endpoint, outcome(Endpoint::open(given_for(command_.to), interruption_)));
      sink_ = std::make_unique<EndpointSink>(
          std::move(endpoint), EndpointSinkOptions{.if_exists = command_.if_exists,
                                                   .items_only = command_.items_only,
                                                   .with_ttl = command_.ttl != TtlChoice::off,
                                                   .from_server = from_.is_server(),
                                                   .write_units_max = command_.write_units_max});
      break;
    }
    case Place::Kind::directory: sink_ = std::make_unique<DirectorySink>(std::move(files)); break;
    case Place::Kind::file:
    case Place::Kind::standard:
      files.compressed = to_.text.ends_with(".gz");
      sink_ = std::make_unique<TableFileSink>(std::move(files), command_.if_exists == IfExists::replace);
      break;
  }
  return {};
}

// --- --dry-run

Outcome<void> Run::show_some() {
  std::vector<std::size_t> shown(targets_.size());
  std::vector<Tree> samples(targets_.size(), Tree::array());
  for (std::size_t part = 0; part < source_->parts(); ++part) {
    const auto tables = source_->tables_of(part);
    if (std::all_of(tables.begin(), tables.end(), [&](std::size_t table) { return shown[table] > 0; }))
      continue;
    TRY(const auto pages, outcome(source_->open(part, "")));
    TRY(Page page, outcome(pages->next()));
    while (!page.last && tables.size() == 1 && page.items.empty()) {
      TRY(page, outcome(pages->next()));
    }
    for (const engine::Item& item : page.items) {
      if (shown[page.table]++ == items_shown) break;
      std::vector<engine::Item> one = {item};
      Counts counts;
      CHECK_OK(outcome(treat(page.table, one, counts)));
      if (command_.json) {
        samples[page.table].push_back({{"before", json::raw(item_json(item))},
                                       {"after", one.empty() ? Tree() : json::raw(item_json(one[0]))}});
        continue;
      }
      std::printf("%s -> %s\n  before %s\n  after  %s\n",
                  http::log::printable(source_->tables()[page.table].name).c_str(),
                  http::log::printable(targets_[page.table].name).c_str(), item_text(item).c_str(),
                  one.empty() ? "nothing: the item has expired" : item_text(one[0]).c_str());
    }
  }
  if (command_.json) {
    Tree tables = Tree::array();
    for (std::size_t table = 0; table < targets_.size(); ++table)
      tables.push_back({{"table", targets_[table].name},
                        {"source", source_->tables()[table].name},
                        {"samples", std::move(samples[table])}});
    cli::print(
        cli::print_json({{"dry_run", true}, {"tables", std::move(tables)}, {"notices", source_->notices()}}));
    return {};
  }
  for (const std::string& sentence : source_->notices())
    std::printf("%s\n", http::log::printable(sentence).c_str());
  std::printf("Dry run: nothing was written.\n");
  return {};
}

// --- the transfer itself

bool Run::is_due(const engine::Item& item, const std::string& attribute) const {
  constexpr engine::Instant too_old_ms = engine::Instant{5} * 366 * 24 * 3600 * 1000;
  const engine::AttributeValue* const value = item.find(attribute);
  const auto* const number = value != nullptr ? value->get_if<engine::Number>() : nullptr;
  const auto due = number != nullptr ? number->floor_scaled(3) : std::nullopt;
  return due && now_ - too_old_ms < *due && *due < now_;
}

Expected<void, std::string> Run::treat(std::size_t table, std::vector<engine::Item>& items,
                                       Counts& counts) const {
  const Treatment& treatment = treatments_[table];
  const std::string where = targets_[table].name + ": ";
  if (!treatment.ttl.empty()) {
    const auto is_past = [&](const engine::Item& item) { return is_due(item, treatment.ttl); };
    if (command_.ttl == TtlChoice::unexpired) {
      const std::size_t before = items.size();
      std::erase_if(items, is_past);
      if (const std::size_t gone = before - items.size(); gone > 0)
        counts[where + "expired items (skipped)"] += gone;
    } else if (command_.ttl == TtlChoice::shift) {
      for (engine::Item& item : items) {
        engine::AttributeValue* const value = item.find(treatment.ttl);
        auto* const number = value != nullptr ? value->get_if<engine::Number>() : nullptr;
        if (number == nullptr) continue;
        if (const auto sum = engine::Number::add(*number, engine::Number(shift_ms_ / 1000))) *number = *sum;
      }
    }
    if (command_.ttl != TtlChoice::off && !command_.items_only)
      if (const auto past = std::count_if(items.begin(), items.end(), is_past); past > 0)
        counts[where + "expired items (by this machine's clock)"] += static_cast<std::uint64_t>(past);
  }
  if (!treatment.anonymizer) return {};
  Changes changes;
  for (engine::Item& item : items) CHECK_OK(treatment.anonymizer->change(item, changes));
  for (const auto& [what, count] : changes.counts) counts[what] += count;
  return {};
}

Outcome<void> Run::begin() {
  CHECK_OK(open_sink());
  stages_.assign(targets_.size(), Stage::nothing);
  if (resumed_)
    for (const auto& [table, stage] : journal_->stages())
      if (table < stages_.size()) stages_[table] = stage;
  const std::vector<Stage> before = stages_;
  CHECK_OK(outcome(sink_->check(targets_, stages_, resumed_)));
  CHECK_OK(check_file());
  if (!resumed_) {
    const std::string path = journal_path();
    if (to_.kind == Place::Kind::directory) CHECK_OK(outcome(make_directory(to_.text)));
    if (path.empty() || !source_->can_resume()) {
      journal_ = Journal::none({asked(), settled_});
    } else {
      TRY(journal_, outcome(Journal::begin(path, {asked(), settled_})));
      is_journal_kept_ = true;
    }
  }
  for (std::size_t table = 0; table < stages_.size(); ++table)
    if (stages_[table] != before[table]) CHECK_OK(outcome(journal_->stage(table, stages_[table])));
  CHECK_OK(outcome(sink_->resume(journal_->written())));
  CHECK_OK(outcome(sink_->begin(targets_)));
  CHECK_OK(make_tables());
  return {};
}

// Reads a file to its end before anything is changed. A pipe can be read only once, so only its first page is
// checked.
Outcome<void> Run::check_file() {
  const Page* const first = source_->first_page();
  if (first == nullptr) return {};
  std::uint64_t before = 0;
  const auto check = [&](const Page& page) -> Outcome<void> {
    if (stages_[page.table] != Stage::skipped) {
      if (const auto accepted = sink_->accept(page.table, page.items, before); !accepted)
        return problem(command_.from.place + ": " + accepted.error());
    }
    before += page.items.size();
    return {};
  };
  std::error_code failure;
  if (first->last || !std::filesystem::is_regular_file(os::path_of(from_.text), failure))
    return check(*first);
  TRY(const auto again, outcome(TableFileSource::open(from_.text, *selection_, false)));
  TRY(const auto pages, outcome(again->open(0, "")));
  for (bool last = false; !last;) {
    if (interruption_.is_wanted()) return problem("interrupted");
    TRY(const Page page, outcome(pages->next()));
    CHECK_OK(check(page));
    last = page.last;
  }
  return {};
}

Outcome<void> Run::make_tables() {
  for (std::size_t table = 0; table < targets_.size(); ++table) {
    if (interruption_.is_wanted()) return problem("interrupted");
    if (stages_[table] == Stage::nothing) {
      stages_[table] = Stage::making;
      CHECK_OK(outcome(journal_->stage(table, Stage::making)));
    }
    if (stages_[table] == Stage::making) {
      CHECK_OK(outcome(sink_->make(targets_[table])));
      stages_[table] = Stage::made;
      has_begun_ = has_changed_ = true;
      CHECK_OK(outcome(journal_->stage(table, Stage::made)));
    }
    if (stages_[table] == Stage::found) has_begun_ = true;
  }
  return {};
}

bool Run::is_wanted(std::size_t part) const {
  const auto reached = journal_->parts().find(part);
  if (reached != journal_->parts().end() && reached->second.last) return false;
  const auto tables = source_->tables_of(part);
  return std::any_of(tables.begin(), tables.end(), [&](std::size_t table) {
    return stages_[table] != Stage::skipped && stages_[table] != Stage::finished;
  });
}

void Run::copy() {
  {
    const engine::Lock lock(mutex_);
    parts_left_.assign(targets_.size(), 0);
    items_.assign(targets_.size(), 0);
    changes_.counts = journal_->counts();
    std::vector<std::uint64_t> before(targets_.size());
    for (std::size_t part = 0; part < source_->parts(); ++part) {
      const auto tables = source_->tables_of(part);
      const auto reached = journal_->parts().find(part);
      if (reached != journal_->parts().end() && tables.size() == 1)
        items_[tables[0]] += reached->second.items;
      if (is_wanted(part))
        for (const std::size_t table : tables) ++parts_left_[table];
    }
    for (std::size_t table = 0; table < targets_.size(); ++table) {
      progress_.add_table(targets_[table].name,
                          static_cast<std::uint64_t>(source_->tables()[table].item_count()), items_[table]);
    }
  }
  for (std::size_t table = 0; table < targets_.size(); ++table) {
    const bool has_all = [&] {
      const engine::Lock lock(mutex_);
      return parts_left_[table] == 0;
    }();
    if (has_all)
      if (auto completed = complete(table); !completed) return fail_with(std::move(completed.error()));
  }
  std::vector<std::jthread> workers;
  const std::size_t count = std::min(command_.parallel, source_->parts());
  {
    const engine::Lock lock(mutex_);
    working_ = count;
  }
  for (std::size_t i = 0; i < count; ++i) workers.emplace_back([this] { work(); });
  constexpr std::chrono::milliseconds between_looks{100};
  engine::Lock lock(mutex_);
  while (!ended_.wait_for(lock, between_looks, [&]() REQUIRES(mutex_) { return working_ == 0; })) {
    lock.unlock();
    progress_.show();
    lock.lock();
  }
}

void Run::work() {
  for (;;) {
    const std::size_t part = next_part_++;
    if (part >= source_->parts() || interruption_.is_wanted()) break;
    if (!is_wanted(part)) continue;
    if (auto copied = copy_part(part); !copied) fail_with(std::move(copied.error()));
  }
  const engine::Lock lock(mutex_);
  --working_;
  ended_.notify_all();
}

void Run::fail_with(std::string sentence) {
  const engine::Lock lock(mutex_);
  if (failure_.empty() && !interruption_.is_wanted()) failure_ = std::move(sentence);
  interruption_.want();
}

Expected<void, std::string> Run::copy_part(std::size_t part) {
  Reached reached{.part = part};
  if (const auto before = journal_->parts().find(part); before != journal_->parts().end())
    reached = before->second;
  TRY(const auto pages, source_->open(part, reached.cursor));
  while (!reached.last) {
    if (interruption_.is_wanted()) return {};
    auto next = pages->next();
    has_failed_for_good_ = has_failed_for_good_ || (!next && source_->fails_for_good());
    if (!next) return Unexpected{std::move(next.error())};
    Page page = *std::move(next);
    Counts counts;
    const Stage stage = stages_[page.table];
    if (stage == Stage::skipped || stage == Stage::finished) {
      page.items.clear();
    } else {
      if (const auto accepted = sink_->accept(page.table, page.items, reached.items); !accepted) {
        has_failed_for_good_ = has_failed_for_good_ || source_->fails_for_good();
        return Unexpected{command_.from.place + ": " + accepted.error()};
      }
      CHECK_OK(treat(page.table, page.items, counts));
    }
    if (!page.items.empty()) has_changed_ = true;
    CHECK_OK(write_page(page, part, reached, counts));
    progress_.advance(page.table, page.items.size());
    const engine::Lock lock(mutex_);
    items_[page.table] += page.items.size();
    changes_.add(counts);
  }
  return part_is_over(part);
}

Expected<void, std::string> Run::write_page(const Page& page, std::size_t part, Reached& reached,
                                            const Counts& counts) {
  std::optional<engine::Lock<engine::Mutex>> lock;
  if (sink_->is_one_row()) lock.emplace(row_);
  TRY(const Written written, sink_->write(page.table, part, page.items));
  reached.cursor = page.cursor;
  reached.last = page.last;
  reached.items += page.items.size();
  return journal_->page(reached, written, counts);
}

Expected<void, std::string> Run::part_is_over(std::size_t part) {
  std::vector<std::size_t> over;
  {
    const engine::Lock lock(mutex_);
    for (const std::size_t table : source_->tables_of(part))
      if (--parts_left_[table] == 0) over.push_back(table);
  }
  for (const std::size_t table : over) CHECK_OK(complete(table));
  return {};
}

Expected<void, std::string> Run::complete(std::size_t table) {
  if (stages_[table] == Stage::made) {
    CHECK_OK(sink_->complete(targets_[table]));
    CHECK_OK(journal_->stage(table, Stage::finished));
  }
  if (stages_[table] != Stage::skipped) progress_.end(table);
  return {};
}

// Called if an interrupted run does not stop in time. The process then exits without cleanup, as if it were
// killed, and --resume can still continue the run.
int Run::ended_late() const {
  cli::fail(is_journal_kept_ ? "interrupted. Run the same command with --resume to continue" : "interrupted");
  return static_cast<int>(is_journal_kept_ ? ExitCode::unfinished : ExitCode::failed);
}

// Removes the journal if --resume would fail again.
Unexpected<Problem> Run::ended_early(std::string sentence, bool by_signal) {
  if (!sentence.ends_with('.')) sentence += '.';
  const bool is_kept = journal_ != nullptr && journal_->is_kept();
  const bool is_hopeless = has_failed_for_good_ || (!by_signal && !resumed_ && !has_changed_);
  if (is_kept && !is_hopeless)
    return problem(sentence + " Run the same command with --resume to continue", ExitCode::unfinished);
  if (is_kept) journal_->remove();
  if (!has_changed_ || !has_failed_for_good_) return problem(std::move(sentence));
  std::uint64_t items = 0;
  const engine::Lock lock(mutex_);
  for (const std::uint64_t count : items_) items += count;
  return problem(sentence + " The " + std::to_string(items) +
                 " items written before the failure remain in the target");
}

Outcome<void> Run::transfer() {
  if (const auto begun = begin(); !begun) {
    if (begun.error().code == ExitCode::failed && (has_begun_ || resumed_))
      return ended_early(begun.error().sentence);
    if (journal_ != nullptr) journal_->remove();
    return Unexpected{begun.error()};
  }
  copy();
  progress_.show();
  std::string failure;
  {
    const engine::Lock lock(mutex_);
    failure = failure_;
  }
  if (!failure.empty()) return ended_early(std::move(failure));
  if (interruption_.is_wanted()) return ended_early("interrupted", true);
  if (const auto ended = sink_->end(); !ended) return ended_early(ended.error());
  journal_->remove();
  report();
  return {};
}

// Returns sentences about what was not copied.
std::vector<std::string> Run::notices() const {
  std::vector<std::string> sentences = source_->notices();
  for (std::string& sentence : sink_->notices()) sentences.push_back(std::move(sentence));
  return sentences;
}

// Returns the result for --json.
Tree Run::result() {
  Tree tables = Tree::array();
  std::uint64_t items = 0;
  for (std::size_t table = 0; table < targets_.size(); ++table) {
    const bool is_skipped = stages_[table] == Stage::skipped;
    items += items_[table];
    tables.push_back({{"table", targets_[table].name},
                      {"source", source_->tables()[table].name},
                      {"skipped", is_skipped},
                      {"items", items_[table]},
                      {"files", is_skipped ? std::vector<std::string>() : sink_->files_of(table)}});
  }
  return {
      {"items", items},
      {"seconds",
       json::seconds(std::chrono::duration_cast<std::chrono::milliseconds>(stopwatch_.elapsed()).count())},
      {"tables", std::move(tables)},
      {"changes", Tree(changes_.counts)},
      {"notices", notices()}};
}

void Run::report() {
  std::FILE* const out = to_.kind == Place::Kind::standard ? stderr : stdout;
  const engine::Lock lock(mutex_);
  if (command_.json) return cli::print(cli::print_json(result()));
  std::uint64_t items = 0;
  std::size_t tables = 0;
  for (std::size_t table = 0; table < targets_.size(); ++table) {
    items += items_[table];
    tables += stages_[table] != Stage::skipped;
    if (stages_[table] == Stage::skipped)
      std::fprintf(out, "%s already exists and was skipped\n",
                   http::log::printable(targets_[table].name).c_str());
  }
  for (const std::string& sentence : notices())
    std::fprintf(out, "%s\n", http::log::printable(sentence).c_str());
  for (const auto& [what, count] : changes_.counts)
    std::fprintf(out, "%s: %llu\n", http::log::printable(what).c_str(),
                 static_cast<unsigned long long>(count));
  const double seconds = std::chrono::duration<double>(stopwatch_.elapsed()).count();
  std::fprintf(out, "%llu item%s of %zu table%s in %.1f s\n", static_cast<unsigned long long>(items),
               items == 1 ? "" : "s", tables, tables == 1 ? "" : "s", seconds);
}

}  // namespace

int run_transfer(const TransferCommand& command) { return Run(command).run(); }

}  // namespace mayfly::transfer
