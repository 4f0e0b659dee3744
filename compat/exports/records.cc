#include "compat/exports/records.h"

#include <utility>

#include "engine/items/history_cursor.h"

namespace mayfly::compat::exports {
namespace {

class Items final : public Records {
 public:
  explicit Items(engine::HistoryCursor cursor) : cursor_(std::move(cursor)) {}
  bool next() override { return cursor_.next(); }
  [[nodiscard]] std::string_view key() const override { return cursor_.key(); }
  [[nodiscard]] const engine::StoredItem* new_image() const override { return &cursor_.item(); }
  [[nodiscard]] const engine::StoredItem* old_image() const override { return nullptr; }
  [[nodiscard]] engine::Instant written() const override { return 0; }

 private:
  engine::HistoryCursor cursor_;
};

class Changes final : public Records {
 public:
  explicit Changes(engine::HistoryChanges changes) : changes_(std::move(changes)) {}
  bool next() override { return changes_.next(); }
  [[nodiscard]] std::string_view key() const override { return changes_.key(); }
  [[nodiscard]] const engine::StoredItem* new_image() const override { return changes_.new_image(); }
  [[nodiscard]] const engine::StoredItem* old_image() const override { return changes_.old_image(); }
  [[nodiscard]] engine::Instant written() const override { return changes_.written(); }

 private:
  engine::HistoryChanges changes_;
};

}  // namespace

std::unique_ptr<Records> items_at(const engine::Database& database, const engine::LiveTable& table,
                                  engine::Instant at) {
  engine::HistoryCursor cursor(database.reader(), table, at);
  if (cursor.gone()) return nullptr;
  return std::make_unique<Items>(std::move(cursor));
}

std::unique_ptr<Records> changes_between(const engine::Database& database, const engine::LiveTable& table,
                                         engine::Instant from, engine::Instant to) {
  engine::HistoryChanges changes(database.reader(), table, from, to);
  if (changes.gone()) return nullptr;
  return std::make_unique<Changes>(std::move(changes));
}

}  // namespace mayfly::compat::exports
