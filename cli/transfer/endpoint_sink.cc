#include "cli/transfer/endpoint_sink.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

#include "compat/json/json.h"
#include "compat/wire/attribute_value_json.h"
#include "engine/base/text.h"

namespace mayfly::transfer {
namespace {

using json::Tree;

constexpr std::size_t batch_items_max = 25;
constexpr std::size_t batch_bytes_max = 8 * 1024 * 1024;  // of the 16 MB that a request may have
constexpr std::chrono::milliseconds status_pause{20};
constexpr int attempts_at_a_batch_max = 60;

std::string refused(const std::string& table, std::string_view operation, const aws::Failure& failure) {
  return table + ": " + std::string(operation) + ": " + failure.sentence();
}

// Returns the table's ID, which identifies a table regardless of its name, or an empty string if the server
// does not return an ID.
std::string id_of(const DescribedTable& described) {
  const Tree* const table = json::member(described.description, "Table");
  return std::string(table != nullptr ? json::string_member(*table, "TableId").value_or("") : "");
}

bool is_unknown(const aws::Failure& failure) {
  return failure.name == "UnknownOperationException" || failure.name == "AccessDeniedException";
}

// Returns the item's key as text, to compare the items of one batch.
std::string key_text(const engine::Item& item, const std::vector<std::string>& keys) {
  std::string text;
  json::Writer out(text);
  for (const std::string& name : keys)
    if (const engine::AttributeValue* const value = item.find(name))
      compat::write_attribute_value(out, *value);
  return text;
}

}  // namespace

Expected<std::string, std::string> EndpointSink::status_of(const std::string& table, DescribedTable* found) {
  auto answer = endpoint_->call("DescribeTable", json::print(Tree{{"TableName", table}}));
  if (!answer) {
    if (answer.error().name == "ResourceNotFoundException") return std::string();
    return Unexpected{refused(table, "DescribeTable", answer.error())};
  }
  auto tree = json::parse_tree(*answer, json::Decimals::as_written);
  if (!tree) return Unexpected{table + ": DescribeTable: the response is not JSON"};
  const Tree* const table_found = json::member(*tree, "Table");
  std::string status(table_found != nullptr ? json::string_member(*table_found, "TableStatus").value_or("")
                                            : "");
  if (found != nullptr) *found = {.name = table, .description = *std::move(tree)};
  return status;
}

Unexpected<std::string> EndpointSink::is_there_already(const std::string& table) const {
  return {table + ": the table already exists at " + endpoint_->where() +
          ". Use --if-exists skip, append or replace"};
}

Expected<void, std::string> EndpointSink::check(const std::vector<DescribedTable>& tables,
                                                std::vector<Stage>& stages, bool /*resumed*/) {
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const DescribedTable& table = tables[i];
    Table known{.name = table.name, .keys = table.keys(), .is_ours = stages[i] == Stage::making};
    if (stages[i] == Stage::nothing) {
      DescribedTable found;
      TRY(const std::string status, status_of(table.name, &found));
      const bool is_there = !status.empty();
      if (known.keys.empty()) known.keys = found.keys();
      // Replacing the table would delete the source, and appending would anonymize the source in place.
      if (is_there && options_.from_server && id_of(table) == id_of(found) && !id_of(found).empty())
        return Unexpected{table.name +
                          ": source and target are the same table. Use --rename, or name another server"};
      if (!is_there && !has_settings(table)) {
        return Unexpected{
            table.name + ": there is no such table at " + endpoint_->where() +
            ", and the source has no table definition. Create the table first, or use --schema"};
      }
      if (is_there && has_settings(table) && options_.if_exists == IfExists::fail) {
        return is_there_already(table.name);
      }
      if (is_there && options_.if_exists == IfExists::skip) {
        stages[i] = Stage::skipped;
      } else if (is_there && (options_.if_exists == IfExists::append || !has_settings(table))) {
        if (has_settings(table) && found.keys() != known.keys)
          return Unexpected{table.name + ": the table at the target has a different key"};
        stages[i] = Stage::found;
      }
    }
    tables_.push_back(std::move(known));
  }
  return {};
}

Expected<void, std::string> EndpointSink::resume(const std::vector<Written>& /*written*/) { return {}; }

Expected<void, std::string> EndpointSink::begin(const std::vector<DescribedTable>& tables) {
  // Reads the keys of tables that an earlier run found at the target.
  for (std::size_t i = 0; i < tables.size(); ++i)
    if (tables_[i].keys.empty()) {
      DescribedTable found;
      if (const auto status = status_of(tables[i].name, &found); !status) return Unexpected{status.error()};
      tables_[i].keys = found.keys();
    }
  return {};
}

Expected<void, std::string> EndpointSink::accept(std::size_t table, std::span<const engine::Item> items,
                                                 std::uint64_t before) const {
  const Table& known = tables_[table];
  for (const engine::Item& item : items) {
    ++before;
    for (const std::string& key : known.keys)
      if (item.find(key) == nullptr)
        return Unexpected{"item " + std::to_string(before) + " has no '" + key +
                          "', a key attribute of table " + known.name};
  }
  return {};
}

Expected<void, std::string> EndpointSink::await(const std::string& table, const std::string& status) {
  for (;;) {
    TRY(const std::string now, status_of(table));
    if (now == status) return {};
    if (now == "INACCESSIBLE_ENCRYPTION_CREDENTIALS" || now == "ARCHIVED")
      return Unexpected{table + " is " + now};
    if (!endpoint_->interruption().pause(status_pause)) return Unexpected{std::string("interrupted")};
  }
}

Expected<void, std::string> EndpointSink::delete_table(const std::string& table) {
  const auto answer = endpoint_->call("DeleteTable", json::print(Tree{{"TableName", table}}));
  if (!answer && answer.error().name != "ResourceNotFoundException")
    return Unexpected{refused(table, "DeleteTable", answer.error())};
  return await(table, "");
}

Expected<void, std::string> EndpointSink::make(const DescribedTable& table) {
  if (!has_settings(table)) return {};
  TRY(std::string status, status_of(table.name));
  if (!status.empty() && options_.if_exists == IfExists::replace) {
    CHECK_OK(await(table.name, "ACTIVE"));
    CHECK_OK(delete_table(table.name));
    status.clear();
  }
  // Another client may have created the table since the first check, and can still do so until this run sends
  // its own request.
  const bool may_be_there = options_.if_exists == IfExists::append ||
                            std::any_of(tables_.begin(), tables_.end(), [&](const Table& known) {
                              return known.name == table.name && known.is_ours;
                            });
  if (!status.empty() && !may_be_there) return is_there_already(table.name);
  TRY(const Making making, making_of(table, endpoint_->region(), options_.with_ttl));
  for (const std::string& sentence : making.left_out) notice(sentence);
  for (const schemas::SchemaRequest& request : making.before) {
    if (!status.empty() && request.operation == "CreateTable") continue;
    const auto answer = endpoint_->call(request.operation, json::print(request.body));
    const bool is_there = !answer && answer.error().name == "ResourceInUseException";
    if (!answer && !(is_there && may_be_there))
      return Unexpected{refused(table.name, request.operation, answer.error())};
  }
  return await(table.name, "ACTIVE");
}

Expected<void, std::string> EndpointSink::put(const std::string& table, std::span<const std::string> items) {
  std::string name;
  json::append_escaped(name, table);
  std::string requests = "{" + name + ":[" + engine::joined(items, ",") + "]}";
  std::size_t left = items.size();
  for (int attempt = 1;; ++attempt) {
    const std::string tail = options_.write_units_max > 0 ? R"(,"ReturnConsumedCapacity":"TOTAL"})" : "}";
    const auto answer = endpoint_->call("BatchWriteItem", R"({"RequestItems":)" + requests + tail);
    if (!answer) return Unexpected{refused(table, "BatchWriteItem", answer.error())};
    const auto document = json::parse(*answer);
    if (document == nullptr) return Unexpected{table + ": BatchWriteItem: the response is not JSON"};
    double units = 0;
    if (const json::Value* const consumed = document->root().member("ConsumedCapacity"))
      for (const json::Value& one : consumed->items())
        if (const json::Value* const count = one.member("CapacityUnits"))
          units += std::strtod(std::string(count->number_text()).c_str(), nullptr);
    allowance_.use(units, endpoint_->interruption());
    const json::Value* const unprocessed = document->root().member("UnprocessedItems");
    const json::Value* const rest = unprocessed != nullptr ? unprocessed->member(table) : nullptr;
    if (rest == nullptr || rest->items().empty()) return {};
    if (rest->items().size() < left) attempt = 1;  // some items were written, so restart the count
    left = rest->items().size();
    if (attempt == attempts_at_a_batch_max)
      return Unexpected{table + ": BatchWriteItem still returns unprocessed items after " +
                        std::to_string(attempts_at_a_batch_max) + " attempts"};
    requests.clear();
    json::Writer out(requests);
    out.value(*unprocessed);
    endpoint_->pause_before(attempt + 1);
    if (endpoint_->interruption().is_wanted()) return Unexpected{std::string("interrupted")};
  }
}

Expected<Written, std::string> EndpointSink::write(std::size_t table, std::size_t /*part*/,
                                                   std::span<const engine::Item> items) {
  const Table& known = tables_[table];
  std::vector<std::string> batch;
  std::set<std::string> keys;
  std::size_t bytes = 0;
  const auto flush = [&]() -> Expected<void, std::string> {
    if (batch.empty()) return {};
    CHECK_OK(put(known.name, batch));
    batch.clear();
    keys.clear();
    bytes = 0;
    return {};
  };
  for (const engine::Item& item : items) {
    std::string text = R"({"PutRequest":{"Item":)";
    json::Writer out(text);
    compat::write_item_object(out, item);
    text += "}}";
    std::string key = key_text(item, known.keys);
    if (batch.size() == batch_items_max || bytes + text.size() > batch_bytes_max || keys.contains(key))
      CHECK_OK(flush());
    bytes += text.size();
    batch.push_back(std::move(text));
    keys.insert(std::move(key));
  }
  CHECK_OK(flush());
  return Written{};
}

Expected<void, std::string> EndpointSink::complete(const DescribedTable& table) {
  if (!has_settings(table)) return {};
  TRY(const Making making, making_of(table, endpoint_->region(), options_.with_ttl));
  for (const schemas::SchemaRequest& request : making.after) {
    const auto answer = endpoint_->call(request.operation, json::print(request.body));
    if (!answer) {
      // Either an earlier run made this request without recording it, or the server lacks the feature.
      const aws::Failure& failure = answer.error();
      const bool is_done = failure.name == "ValidationException" &&
                           (failure.message.find("already enabled") != std::string::npos ||
                            failure.message.find("already has an enabled stream") != std::string::npos);
      if (!is_done && !is_unknown(failure))
        return Unexpected{refused(table.name, request.operation, failure)};
      if (!is_done) notice(table.name + ": " + request.operation + " failed: " + failure.sentence());
    }
    CHECK_OK(await(table.name, "ACTIVE"));
  }
  return {};
}

void EndpointSink::notice(std::string sentence) {
  const engine::Lock lock(mutex_);
  notices_.push_back(std::move(sentence));
}

std::vector<std::string> EndpointSink::notices() {
  const engine::Lock lock(mutex_);
  return notices_;
}

}  // namespace mayfly::transfer
