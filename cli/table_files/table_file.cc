#include "cli/table_files/table_file.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/table_files/data_pages.h"
#include "compat/calls/times.h"
#include "compat/data_files/compression.h"
#include "compat/data_files/dynamodb_json.h"
#include "compat/data_files/writer.h"
#include "os/path.h"
#include "os/terminal.h"

namespace mayfly::transfer {

using json::Tree;

namespace {

// The first line has the descriptions of all tables. Parsed JSON takes about 100 bytes for each value.
constexpr std::size_t first_line_bytes_max = 64 * 1024 * 1024;
constexpr std::size_t first_line_values_max = 1'000'000;
constexpr std::size_t mark_values_max = 2 * tables_max;

}  // namespace

// Reads text line by line.
class Lines {
 public:
  explicit Lines(std::unique_ptr<UnpackedText> text) : text_(std::move(text)) {}

  // Returns the next line, or nullopt if there are no more lines.
  Expected<std::optional<std::string>, std::string> next() {
    const std::size_t bytes_max = count_ == 0 ? first_line_bytes_max : compat::data_files::record_bytes_max;
    for (std::size_t looked_at = 0;;) {
      const auto end = text_->rest().find('\n', looked_at);
      if (end != std::string::npos) return take(end, 1);
      looked_at = text_->rest().size();
      if (looked_at > bytes_max) return Unexpected{sentence("the line is too long for an item")};
      TRY(const bool more, text_->extend());
      if (more) continue;
      if (text_->rest().empty()) return std::optional<std::string>();
      return take(text_->rest().size(), 0);
    }
  }
  [[nodiscard]] std::string sentence(const std::string& what) const {
    return name() + ": line " + std::to_string(count_) + ": " + what;
  }
  [[nodiscard]] const std::string& name() const { return text_->name(); }

 private:
  std::optional<std::string> take(std::size_t size, std::size_t end_of_line) {
    std::string line(text_->rest().substr(0, size));
    text_->pass(size + end_of_line);
    ++count_;
    return line;
  }

  const std::unique_ptr<UnpackedText> text_;
  std::size_t count_ = 0;
};

namespace {

class TableFilePages final : public Pages {
 public:
  // `tables` has the selected tables by name. `items_only` says whether the file contains only {"Item":…}
  // lines.
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
      return Unexpected{lines_->name() + " is incomplete: its last line is missing"};
    page.cursor = std::to_string(read_);
    page.last = true;
    return page;
  }

 private:
  // Whether the line's first member is "Item".
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
    const auto tree = json::parse_tree(line, json::Decimals::read, mark_values_max);
    if (items_only_ && read_ == 0) {
      return Unexpected{
          lines_->sentence("not an item. A file must be a mayfly export, the output of `aws dynamodb scan`, "
                           "a batch-write-item file, a JSON array of items, or items one after another")};
    }
    if (items_only_ || !tree || ended_) return Unexpected{lines_->sentence("not an item")};
    if (const auto name = json::string_member(*tree, "Table")) {
      name_ = *name;
      const auto found = tables_.find(name_);
      table_ = found != tables_.end() ? std::optional(found->second) : std::nullopt;
      return {};
    }
    const Tree* const counts = json::member(*tree, "End");
    if (counts == nullptr) return Unexpected{lines_->sentence("not an item")};
    for (const auto& [name, count] : counts_) {
      if (json::integer_member(*counts, name) != static_cast<std::int64_t>(count))
        return Unexpected{lines_->name() + " has " + std::to_string(count) + " items of " + name +
                          ", but its last line gives a different number"};
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

// Pages of the items in an ItemFile. All of these items belong to one table.
class ItemFilePages final : public Pages {
 public:
  ItemFilePages(std::unique_ptr<ItemFile> file, std::uint64_t passed, bool& is_cut_short)
      : file_(std::move(file)), to_pass_(passed), is_cut_short_(is_cut_short) {}

  Expected<Page, std::string> next() override {
    Page page;
    for (std::size_t bytes = 0;;) {
      TRY(auto item, file_->next());
      if (!item) break;
      if (read_++ < to_pass_) continue;
      const bool full = is_full(page, bytes, *item);
      page.items.push_back(*std::move(item));
      if (!full) continue;
      page.cursor = std::to_string(read_);
      return page;
    }
    is_cut_short_ = file_->is_cut_short();
    page.cursor = std::to_string(read_);
    page.last = true;
    return page;
  }

 private:
  const std::unique_ptr<ItemFile> file_;
  const std::uint64_t to_pass_;
  bool& is_cut_short_;
  std::uint64_t read_ = 0;
};

// Pages of items that are already in memory, grouped by table.
class KeptPages final : public Pages {
 public:
  KeptPages(const std::vector<std::vector<engine::Item>>& tables, std::uint64_t passed)
      : tables_(tables), read_(passed) {
    while (table_ < tables_.size() && passed >= tables_[table_].size()) passed -= tables_[table_++].size();
    item_ = passed;
  }

  Expected<Page, std::string> next() override {
    Page page{.table = std::min(table_, tables_.size() - 1)};
    bool full = false;
    for (std::size_t bytes = 0; !full && table_ < tables_.size() && item_ < tables_[table_].size(); ++item_) {
      full = is_full(page, bytes, tables_[table_][item_]);
      page.items.push_back(tables_[table_][item_]);
    }
    while (table_ < tables_.size() && item_ == tables_[table_].size()) {
      ++table_;
      item_ = 0;
    }
    read_ += page.items.size();
    page.cursor = std::to_string(read_);
    page.last = table_ == tables_.size();
    return page;
  }

 private:
  const std::vector<std::vector<engine::Item>>& tables_;
  std::uint64_t read_;
  std::size_t table_ = 0, item_ = 0;
};

// Returns a first page that was read earlier, and then the pages after that page.
class PagesFromFirst final : public Pages {
 public:
  PagesFromFirst(Page first, std::unique_ptr<Pages> rest)
      : first_(std::move(first)), rest_(std::move(rest)) {}
  Expected<Page, std::string> next() override {
    if (!first_) return rest_->next();
    Page page = *std::move(first_);
    first_.reset();
    return page;
  }

 private:
  std::optional<Page> first_;
  const std::unique_ptr<Pages> rest_;
};

}  // namespace

TableFileSource::TableFileSource(std::string path) : path_(std::move(path)) {}
TableFileSource::~TableFileSource() = default;

Expected<std::unique_ptr<Source>, std::string> TableFileSource::open(const std::string& path,
                                                                     const Selection& selection,
                                                                     bool is_resumed) {
  auto source = std::make_unique<TableFileSource>(path);
  TRY(source->text_, UnpackedText::open(path));
  TRY(source->layout_, item_layout_of(*source->text_));
  if (source->layout_ == ItemLayout::batch) {
    CHECK_OK(source->keep_batch(selection));
  } else if (source->layout_) {
    CHECK_OK(source->name_table(selection, source->text_->name()));
  } else {
    CHECK_OK(source->read_first_line(selection));
  }
  // For a new transfer, the first page is read here, so that errors in this page are found before anything is
  // changed.
  if (is_resumed) return std::unique_ptr<Source>(std::move(source));
  TRY(source->pages_, source->pages_from(0));
  TRY(source->first_, source->pages_->next());
  const bool has_no_items = source->first_->items.empty() && source->first_->last;
  if (has_no_items && (source->layout_ || source->items_only_)) return Unexpected{path + " has no items"};
  return std::unique_ptr<Source>(std::move(source));
}

Expected<void, std::string> TableFileSource::keep_batch(const Selection& selection) {
  TRY(auto tables, read_batch(*text_));
  for (auto& [name, items] : tables) {
    if (!selection.has(name)) continue;
    tables_.push_back({.name = name});
    kept_.push_back(std::move(items));
  }
  if (std::string unmet = selection.unmet(tables_, text_->name()); !unmet.empty())
    return Unexpected{std::move(unmet)};
  return {};
}

// Requires: all items in the file belong to one table, and the file does not name that table.
Expected<void, std::string> TableFileSource::name_table(const Selection& selection, const std::string& name) {
  if (selection.patterns().size() != 1 || selection.patterns()[0].find_first_of("*?") != std::string::npos)
    return Unexpected{
        name + " does not name the table of its items. Name the table: mayfly import TABLE --from " + path_};
  tables_.push_back({.name = selection.patterns()[0]});
  return {};
}

Expected<void, std::string> TableFileSource::read_first_line(const Selection& selection) {
  const std::string name = text_->name();
  lines_ = std::make_unique<Lines>(std::move(text_));
  TRY(auto first, lines_->next());
  if (!first) return Unexpected{name + " is empty"};
  std::optional<Tree> tree;
  if (first->starts_with("{\"Tables\"")) {
    auto read = json::parse_tree(*first, json::Decimals::read, first_line_values_max);
    if (!read && read.error() == json::NoTree::too_many_values)
      return Unexpected{name + ": line 1 has more than " + std::to_string(first_line_values_max) +
                        " JSON values"};
    if (read) tree = *std::move(read);
  }
  const Tree* const tables = tree ? json::member(*tree, "Tables") : nullptr;
  if (tables == nullptr || !tables->is_array()) {
    items_only_ = true;
    first_line_ = *std::move(first);
    return name_table(selection, name);
  }
  taken_at_ = compat::control::parse_time(json::string_member(*tree, "begun").value_or(""));
  if (tables->size() > tables_max)
    return Unexpected{name + ": line 1 has more than " + std::to_string(tables_max) + " tables"};
  for (const Tree& one : *tables) {
    const Tree* const table = json::member(one, "Table");
    const auto table_name = table != nullptr ? json::string_member(*table, "TableName") : std::nullopt;
    if (!table_name) return Unexpected{name + ": line 1 has a table without a name"};
    if (selection.has(std::string(*table_name)))
      tables_.push_back({.name = std::string(*table_name), .description = one});
  }
  if (std::string unmet = selection.unmet(tables_, name); !unmet.empty()) return Unexpected{std::move(unmet)};
  return {};
}

std::vector<std::string> TableFileSource::notices() const {
  if (!is_cut_short_) return {};
  return {path_ + " is part of a scan: it has a LastEvaluatedKey or NextToken, so the table had more items"};
}

std::vector<std::size_t> TableFileSource::tables_of(std::size_t /*part*/) const {
  std::vector<std::size_t> all;
  for (std::size_t table = 0; table < tables_.size(); ++table) all.push_back(table);
  return all;
}

// Called once for each source, because a pipe can be read only once.
Expected<std::unique_ptr<Pages>, std::string> TableFileSource::pages_from(std::uint64_t passed) {
  if (layout_ == ItemLayout::batch) return std::unique_ptr<Pages>(std::make_unique<KeptPages>(kept_, passed));
  if (layout_) {
    return std::unique_ptr<Pages>(std::make_unique<ItemFilePages>(
        std::make_unique<ItemFile>(std::move(text_), *layout_), passed, is_cut_short_));
  }
  std::map<std::string, std::size_t> tables;
  for (std::size_t table = 0; table < tables_.size(); ++table) tables[tables_[table].name] = table;
  return std::unique_ptr<Pages>(std::make_unique<TableFilePages>(std::move(lines_), std::move(first_line_),
                                                                 std::move(tables), items_only_, passed));
}

Expected<std::unique_ptr<Pages>, std::string> TableFileSource::open(std::size_t /*part*/,
                                                                    const std::string& cursor) {
  if (!first_) return pages_from(passed_by(cursor));
  return std::unique_ptr<Pages>(std::make_unique<PagesFromFirst>(*std::move(first_), std::move(pages_)));
}

// --- writing

Expected<void, std::string> TableFileSink::check(const std::vector<DescribedTable>& tables,
                                                 std::vector<Stage>& /*stages*/, bool resumed) {
  if (options_.items_only && tables.size() != 1)
    return Unexpected{"with --items-only, a file can have only one table, got " +
                      std::to_string(tables.size())};
  std::error_code failure;
  if (options_.path != "-" && !resumed && !replaces_ &&
      std::filesystem::is_regular_file(os::path_of(options_.path), failure))
    return Unexpected{options_.path + " already exists. Use --if-exists replace to overwrite it"};
  return {};
}

Expected<void, std::string> TableFileSink::resume(const std::vector<Written>& written) {
  const engine::Lock lock(mutex_);
  // Each table's part of the file has an entry. The entry with the most bytes gives the file's length.
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
    file_ = std::make_unique<GrowingFile>(os::standard_output(), "standard output", 0);
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
