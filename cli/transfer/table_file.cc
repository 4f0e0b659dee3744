#include "cli/transfer/table_file.h"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "cli/transfer/data_pages.h"
#include "compat/control/call.h"
#include "compat/data_files/compression.h"
#include "compat/data_files/dynamodb_json.h"
#include "compat/data_files/writer.h"

namespace mayfly::transfer {

using compat::data_files::Compression;
using compat::data_files::Unpacker;
using json::Tree;

namespace {

constexpr std::size_t first_line_bytes_max = 64 * 1024 * 1024;

Compression compression_of(std::string_view begin) {
  if (begin.starts_with("\x1f\x8b")) return Compression::gzip;
  if (begin.starts_with("\x28\xb5\x2f\xfd")) return Compression::zstd;
  return Compression::none;
}

}  // namespace

// The unpacked lines of a file or a pipe.
class Lines {
 public:
  static Expected<std::unique_ptr<Lines>, std::string> open(const std::string& path) {
    const bool is_standard = path == "-";
    std::string name = is_standard ? "standard input" : path;
    Descriptor descriptor(is_standard ? ::dup(STDIN_FILENO) : -1);
    if (!is_standard) {
      TRY(descriptor, open_to_read(path));
    }
    auto lines = std::make_unique<Lines>(std::move(name), std::move(descriptor));
    CHECK_OK(lines->read());
    lines->unpacker_ = Unpacker::of(compression_of(lines->packed_));
    return lines;
  }
  Lines(std::string name, Descriptor descriptor)
      : name_(std::move(name)), descriptor_(std::move(descriptor)) {}

  // Nothing: there are no more.
  Expected<std::optional<std::string>, std::string> next() {
    const std::size_t bytes_max = count_ == 0 ? first_line_bytes_max : compat::data_files::record_bytes_max;
    for (std::size_t looked_at = begin_;;) {
      const auto end = text_.find('\n', looked_at);
      if (end != std::string::npos) return take(end);
      looked_at = text_.size();
      if (text_.size() - begin_ > bytes_max) return Unexpected{sentence("the line is too long for an item")};
      text_.erase(0, begin_);
      looked_at -= begin_;
      begin_ = 0;
      TRY(const bool more, unpack());
      if (more) continue;
      if (text_.empty()) return std::optional<std::string>();
      return take(text_.size());
    }
  }
  [[nodiscard]] std::string sentence(const std::string& what) const {
    return name_ + ": line " + std::to_string(count_) + ": " + what;
  }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::optional<std::string> take(std::size_t end) {
    std::string line = text_.substr(begin_, end - begin_);
    begin_ = std::min(end + 1, text_.size());
    ++count_;
    return line;
  }
  Expected<void, std::string> read() {
    TRY(packed_, read_some(descriptor_.number(), name_));
    packed_read_ = 0;
    ended_ = packed_.empty();
    return {};
  }
  // False: there is no more text.
  Expected<bool, std::string> unpack() {
    const std::size_t before = text_.size();
    while (text_.size() == before) {
      if (packed_read_ == packed_.size() && !unpacker_->holds_more()) {
        if (!ended_) CHECK_OK(read());
        if (ended_) {
          if (const auto whole = unpacker_->end(); !whole) return Unexpected{name_ + ": " + whole.error()};
          return false;
        }
      }
      std::string_view input = std::string_view(packed_).substr(packed_read_);
      if (const auto step = unpacker_->step(input, text_); !step)
        return Unexpected{name_ + ": " + step.error()};
      packed_read_ = packed_.size() - input.size();
    }
    return true;
  }

  const std::string name_;
  const Descriptor descriptor_;
  std::unique_ptr<Unpacker> unpacker_;
  std::string packed_, text_;
  std::size_t packed_read_ = 0, begin_ = 0, count_ = 0;
  bool ended_ = false;
};

namespace {

class TableFilePages final : public Pages {
 public:
  // `tables`: by name, those that are wanted. `items_only`: the file has no other lines.
  TableFilePages(std::unique_ptr<Lines> lines, std::string first, std::map<std::string, std::size_t> tables,
                 bool items_only, std::uint64_t passed)
      : lines_(std::move(lines)),
        pending_(std::move(first)),
        tables_(std::move(tables)),
        items_only_(items_only),
        to_pass_(passed) {
    if (items_only_) table_ = tables_.begin()->second;
  }

  Expected<Page, std::string> next() override {
    Page page{.table = table_.value_or(0)};
    for (std::size_t bytes = 0;;) {
      TRY(auto line, next_line());
      if (!line) break;
      if (line->find_first_not_of(" \t\r") == std::string::npos) continue;
      if (!is_item(*line)) {
        const auto before = table_;
        CHECK_OK(read_mark(*line));
        if (before == table_ || page.items.empty()) {
          page.table = table_.value_or(0);
          continue;
        }
        page.cursor = std::to_string(read_);
        return page;
      }
      auto item = compat::data_files::read_dynamodb_json(*line);
      if (!item) return Unexpected{lines_->sentence(item.error().what)};
      ++read_;
      ++counts_[name_];
      if (read_ <= to_pass_ || !table_) continue;
      const bool full = is_full(page, bytes, *item);
      page.items.push_back(*std::move(item));
      if (full) {
        page.cursor = std::to_string(read_);
        return page;
      }
    }
    if (!items_only_ && !ended_)
      return Unexpected{lines_->name() + " ends before its last line: it is not whole"};
    page.cursor = std::to_string(read_);
    page.last = true;
    return page;
  }

 private:
  // Whether its first member is one.
  static bool is_item(std::string_view line) {
    constexpr std::string_view blanks = " \t\r", member = "\"Item\"";
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    if (!line.starts_with('{')) return false;
    line.remove_prefix(1);
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    return line.starts_with(member);
  }
  Expected<std::optional<std::string>, std::string> next_line() {
    if (!pending_.empty()) return std::optional(std::exchange(pending_, {}));
    return lines_->next();
  }
  Expected<void, std::string> read_mark(const std::string& line) {
    const auto tree = json::parse_tree(line);
    if (items_only_ || !tree || ended_) return Unexpected{lines_->sentence("it is no item")};
    if (const auto name = json::string_member(*tree, "Table")) {
      name_ = *name;
      const auto found = tables_.find(name_);
      table_ = found != tables_.end() ? std::optional(found->second) : std::nullopt;
      return {};
    }
    const Tree* const counts = json::member(*tree, "End");
    if (counts == nullptr) return Unexpected{lines_->sentence("it is no item")};
    for (const auto& [name, count] : counts_) {
      if (json::integer_member(*counts, name) != static_cast<std::int64_t>(count))
        return Unexpected{lines_->name() + " has " + std::to_string(count) + " items of " + name +
                          ", which is not what its last line says"};
    }
    ended_ = true;
    return {};
  }

  const std::unique_ptr<Lines> lines_;
  std::string pending_;
  const std::map<std::string, std::size_t> tables_;
  const bool items_only_;
  const std::uint64_t to_pass_;
  std::uint64_t read_ = 0;
  std::map<std::string, std::uint64_t> counts_;
  std::string name_;
  std::optional<std::size_t> table_;
  bool ended_ = false;
};

}  // namespace

TableFileSource::TableFileSource(std::string path) : path_(std::move(path)) {}
TableFileSource::~TableFileSource() = default;

Expected<std::unique_ptr<Source>, std::string> TableFileSource::open(const std::string& path,
                                                                     const Selection& selection) {
  auto source = std::make_unique<TableFileSource>(path);
  TRY(source->lines_, Lines::open(path));
  TRY(auto first, source->lines_->next());
  const std::string& name = source->lines_->name();
  if (!first) return Unexpected{name + " is empty"};
  const auto tree = first->starts_with("{\"Tables\"") ? json::parse_tree(*first) : std::nullopt;
  const Tree* const tables = tree ? json::member(*tree, "Tables") : nullptr;
  if (tables == nullptr || !tables->is_array()) {
    if (selection.patterns().size() != 1 || selection.patterns()[0].find_first_of("*?") != std::string::npos)
      return Unexpected{name + " has items and no table: say which table they are of"};
    source->items_only_ = true;
    source->first_ = *std::move(first);
    source->tables_.push_back({.name = selection.patterns()[0]});
    return std::unique_ptr<Source>(std::move(source));
  }
  source->taken_at_ = compat::control::parse_time(json::string_member(*tree, "begun").value_or(""));
  for (const Tree& one : *tables) {
    const Tree* const table = json::member(one, "Table");
    const auto table_name = table != nullptr ? json::string_member(*table, "TableName") : std::nullopt;
    if (!table_name) return Unexpected{name + ": its first line has a table without a name"};
    if (selection.has(std::string(*table_name)))
      source->tables_.push_back({.name = std::string(*table_name), .description = one});
  }
  if (std::string unmet = selection.unmet(source->tables_, name); !unmet.empty())
    return Unexpected{std::move(unmet)};
  return std::unique_ptr<Source>(std::move(source));
}

std::vector<std::size_t> TableFileSource::tables_of(std::size_t /*part*/) const {
  std::vector<std::size_t> all;
  for (std::size_t table = 0; table < tables_.size(); ++table) all.push_back(table);
  return all;
}

Expected<std::unique_ptr<Pages>, std::string> TableFileSource::open(std::size_t /*part*/,
                                                                    const std::string& cursor) {
  std::map<std::string, std::size_t> tables;
  for (std::size_t table = 0; table < tables_.size(); ++table) tables[tables_[table].name] = table;
  return std::unique_ptr<Pages>(std::make_unique<TableFilePages>(
      std::move(lines_), std::move(first_), std::move(tables), items_only_, passed_by(cursor)));
}

// --- writing

Expected<void, std::string> TableFileSink::check(const std::vector<DescribedTable>& tables,
                                                 std::vector<Stage>& /*stages*/, bool resumed) {
  if (options_.items_only && tables.size() != 1)
    return Unexpected{std::string("a file of items alone is of one table, not of ") +
                      std::to_string(tables.size())};
  std::error_code failure;
  if (options_.path != "-" && !resumed && !replaces_ && std::filesystem::exists(options_.path, failure) &&
      std::filesystem::is_regular_file(options_.path, failure))
    return Unexpected{options_.path + " is there already: --if-exists replace writes over it"};
  return {};
}

Expected<void, std::string> TableFileSink::resume(const std::vector<Written>& written) {
  const engine::Lock lock(mutex_);
  // A line for each table's part of the one file: the furthest says how long it is.
  std::uint64_t bytes = 0;
  for (const Written& one : written) {
    bytes = std::max(bytes, one.bytes);
    items_[one.table] += one.items;
  }
  if (bytes == 0) return {};
  TRY(file_, GrowingFile::open(options_.path, bytes));
  return {};
}

Expected<void, std::string> TableFileSink::append(const std::string& text) {
  if (!options_.compressed) return file_->append(text);
  compat::data_files::Gzip gzip;
  gzip.add(text);
  gzip.end();
  return file_->append(gzip.take());
}

Expected<void, std::string> TableFileSink::begin(const std::vector<DescribedTable>& tables) {
  for (const DescribedTable& table : tables) names_.push_back(table.name);
  const engine::Lock lock(mutex_);
  if (file_ != nullptr) return {};
  if (options_.path == "-") {
    file_ = std::make_unique<GrowingFile>(Descriptor(::dup(STDOUT_FILENO)), "standard output", 0);
  } else {
    TRY(file_, GrowingFile::open(options_.path, 0));
  }
  if (options_.items_only) return {};
  Tree first = {{"Tables", Tree::array()}};
  for (const DescribedTable& table : tables) {
    first["Tables"].push_back(table.is_described() ? table.description
                                                   : Tree{{"Table", {{"TableName", table.name}}}});
  }
  first.update(options_.about);
  return append(json::print(first) + "\n");
}

Expected<void, std::string> TableFileSink::make(const DescribedTable& /*table*/) { return {}; }

Expected<Written, std::string> TableFileSink::write(std::size_t table, std::size_t /*part*/,
                                                    std::span<const engine::Item> items) {
  if (items.empty()) return Written{};
  std::string text;
  if (!options_.items_only) text = json::print(Tree{{"Table", names_[table]}}) + "\n";
  for (const engine::Item& item : items)
    compat::data_files::append_item(text, compat::data_files::Format::dynamodb_json, item);
  const engine::Lock lock(mutex_);
  CHECK_OK(append(text));
  items_[table] += items.size();
  return Written{.file = names_[table], .table = table, .bytes = file_->bytes(), .items = items_[table]};
}

Expected<void, std::string> TableFileSink::complete(const DescribedTable& /*table*/) { return {}; }

Expected<void, std::string> TableFileSink::end() {
  const engine::Lock lock(mutex_);
  if (!options_.items_only) {
    Tree counts = Tree::object();
    for (std::size_t table = 0; table < names_.size(); ++table) counts[names_[table]] = items_[table];
    CHECK_OK(append(json::print(Tree{{"End", std::move(counts)}}) + "\n"));
  }
  return file_->sync();
}

}  // namespace mayfly::transfer
