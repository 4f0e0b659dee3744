#include "cli/calls/item_command.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "cli/base/fail.h"
#include "cli/base/output.h"
#include "cli/views/answer_view.h"
#include "cli/views/item_text.h"
#include "compat/calls/times.h"
#include "compat/outbound/page_keys.h"
#include "compat/wire/percent_encoding.h"
#include "engine/base/clock.h"
#include "engine/base/stopwatch.h"
#include "engine/base/whole_number.h"
#include "http/base/log.h"

namespace mayfly::cli {
namespace {

using json::Tree;

constexpr std::size_t tables_listed_max = 10'000;
constexpr auto active_after = std::chrono::milliseconds(50);
constexpr auto active_within = std::chrono::seconds(60);

template <typename Value>
using Outcome = Expected<Value, std::string>;

std::string text_of(const Tree& object, std::string_view name) {
  return http::log::printable(json::string_member(object, name).value_or(""));
}

int print_answer(const Tree& answer) {
  print(print_json(answer));
  return printed(0);
}

int say(const std::string& sentence) {
  print(sentence + "\n");
  return printed(0);
}

Outcome<Tree> operate(ServerCalls& server, std::string_view operation, const Tree& body) {
  auto answer = server.operate(operation, body);
  if (!answer) return Unexpected{std::move(answer.error().sentence)};
  return *std::move(answer);
}

// --- tables

// Splits "at:N" into name and type. The type is empty if `text` contains only a name. The error is a
// human-readable sentence.
Outcome<KeyAttribute> attribute_of(std::string_view text) {
  const auto colon = text.find(':');
  const std::string_view type = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  const bool is_type = type == "S" || type == "N" || type == "B";
  if (text.empty() || colon == 0 || (colon != std::string_view::npos && !is_type))
    return Unexpected{"a key attribute must be NAME, NAME:S, NAME:N or NAME:B, got " + in_quotes(text) + "."};
  return KeyAttribute{std::string(text.substr(0, colon)), std::string(type)};
}

// Key attributes and their types, in the order in which they were added.
class Attributes {
 public:
  // Fails if the attribute was already added with a different type.
  Outcome<void> add(const KeyAttribute& attribute) {
    for (KeyAttribute& known : known_) {
      if (known.name != attribute.name) continue;
      if (known.type.empty()) known.type = attribute.type;
      if (!attribute.type.empty() && known.type != attribute.type)
        return Unexpected{"attribute '" + http::log::printable(attribute.name) + "' has conflicting types " +
                          known.type + " and " + attribute.type + "."};
      return {};
    }
    known_.push_back(attribute);
    return {};
  }
  [[nodiscard]] Tree definitions() const {
    Tree all = Tree::array();
    for (const KeyAttribute& attribute : known_)
      all.push_back({{"AttributeName", attribute.name},
                     {"AttributeType", attribute.type.empty() ? "S" : attribute.type}});
    return all;
  }

 private:
  std::vector<KeyAttribute> known_;
};

Tree key_schema(const std::string& partition, const std::string& sort) {
  Tree keys = Tree::array();
  keys.push_back({{"AttributeName", partition}, {"KeyType", "HASH"}});
  if (!sort.empty()) keys.push_back({{"AttributeName", sort}, {"KeyType", "RANGE"}});
  return keys;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// `text` is empty, "ALL", "KEYS_ONLY" or a list of attributes separated by commas.
Tree projection_of(std::string_view text) {
  if (text.empty() || text == "ALL") return {{"ProjectionType", "ALL"}};
  if (text == "KEYS_ONLY") return {{"ProjectionType", "KEYS_ONLY"}};
  return {{"ProjectionType", "INCLUDE"}, {"NonKeyAttributes", split(text, ',')}};
}

// Parses NAME:KEY[,SORT][=PROJECTION], or for a local index NAME:SORT[=PROJECTION]. `partition` is the
// table's partition key.
Outcome<Tree> index_of(const std::string& text, bool is_local, const std::string& partition,
                       Attributes& attributes) {
  const auto wrong = [&] {
    return Unexpected{
        std::string(is_local ? "--local-index must be NAME:SORT[=PROJECTION], such as by_time:at:N"
                             : "--index must be NAME:KEY[,SORT][=PROJECTION], such as by_owner:owner,at:N") +
        ", got '" + http::log::printable(text) + "'."};
  };
  const auto colon = text.find(':'), equals = text.find('=');
  if (colon == 0 || colon == std::string::npos || equals < colon) return wrong();
  const std::string keys = text.substr(colon + 1, equals == std::string::npos ? equals : equals - colon - 1);
  std::vector<KeyAttribute> named;
  for (const std::string& key : split(keys, ',')) {
    if (key.empty()) return wrong();
    TRY(KeyAttribute attribute, attribute_of(key));
    CHECK_OK(attributes.add(attribute));
    named.push_back(std::move(attribute));
  }
  if (named.size() > (is_local ? 1u : 2u)) return wrong();
  return Tree{{"IndexName", text.substr(0, colon)},
              {"KeySchema", is_local ? key_schema(partition, named[0].name)
                                     : key_schema(named[0].name, named.size() > 1 ? named[1].name : "")},
              {"Projection",
               projection_of(equals == std::string::npos ? "" : std::string_view(text).substr(equals + 1))}};
}

int list_tables(ServerCalls& server, const ItemCommand& command) {
  const auto names = table_names(server, tables_listed_max);
  if (!names) return fail(names.error().sentence);
  if (command.json) return print_answer({{"TableNames", *names}});
  if (names->empty())
    return say("No tables in account " + server.account() + ", region " +
               http::log::printable(server.region()) + ".");
  TextTable table({"TABLE", "KEY", "SORT", "STREAM", "ITEMS"});
  for (const std::string& name : *names) {
    const auto answer = server.operate("DescribeTable", {{"TableName", name}});
    const Tree* const described = answer ? json::member(*answer, "Table") : nullptr;
    if (described == nullptr) continue;  // deleted in the meantime
    const auto schema = key_schema_of(*described, *described, name);
    const auto key = [&](std::size_t number) {
      if (!schema || schema->attributes.size() <= number) return std::string();
      return http::log::printable(schema->attributes[number].name + ":" + schema->attributes[number].type);
    };
    const Tree* const stream = json::member(*described, "StreamSpecification");
    const Tree* const items = json::member(*described, "ItemCount");
    table.add({http::log::printable(name), key(0), key(1),
               stream == nullptr ? "" : text_of(*stream, "StreamViewType"),
               items == nullptr ? "" : cell_text(*items)});
  }
  print(table.text());
  return printed(0);
}

// Waits until the table is ACTIVE. With `serve --table-delay-ms`, a new table is CREATING for some time.
Outcome<void> wait_until_active(ServerCalls& server, const std::string& table) {
  const engine::Stopwatch waited;
  for (;;) {
    TRY(const Tree answer, operate(server, "DescribeTable", {{"TableName", table}}));
    const Tree* const described = json::member(answer, "Table");
    if (described == nullptr || json::string_member(*described, "TableStatus") == "ACTIVE") return {};
    if (waited.elapsed() > active_within)
      return Unexpected{"created '" + table +
                        "', but it is not ACTIVE after 60 seconds; its TTL was not enabled."};
    std::this_thread::sleep_for(active_after);
  }
}

int create_table(ServerCalls& server, const ItemCommand& command) {
  const auto request = create_request(command);
  if (!request) return fail(request.error());
  const auto created = operate(server, "CreateTable", *request);
  if (!created) return fail(created.error());
  if (!command.ttl.empty()) {
    if (const auto active = wait_until_active(server, command.table); !active) return fail(active.error());
    const auto enabled =
        operate(server, "UpdateTimeToLive",
                {{"TableName", command.table},
                 {"TimeToLiveSpecification", {{"Enabled", true}, {"AttributeName", command.ttl}}}});
    if (!enabled)
      return fail("created '" + command.table + "', but could not enable its TTL: " + enabled.error());
  }
  return command.json ? print_answer(*created)
                      : say("Created table " + http::log::printable(command.table) + ".");
}

void print_indexes(const Tree& table, const char* member, const char* heading) {
  const Tree* const indexes = json::member(table, member);
  if (indexes == nullptr || !indexes->is_array() || indexes->empty()) return;
  TextTable rows({heading, "KEY", "SORT", "PROJECTION"});
  for (const Tree& index : *indexes) {
    const auto schema = key_schema_of(table, index, "");
    const auto key = [&](std::size_t number) {
      if (!schema || schema->attributes.size() <= number) return std::string();
      return http::log::printable(schema->attributes[number].name + ":" + schema->attributes[number].type);
    };
    const Tree* const projection = json::member(index, "Projection");
    std::string projected = projection == nullptr ? "" : text_of(*projection, "ProjectionType");
    if (const Tree* const more =
            projection == nullptr ? nullptr : json::member(*projection, "NonKeyAttributes"))
      projected = cell_text(*more);
    rows.add({text_of(index, "IndexName"), key(0), key(1), projected});
  }
  print("\n" + rows.text());
}

int describe(ServerCalls& server, const ItemCommand& command) {
  const auto table = describe_table(server, command.table);
  if (!table) return fail(table.error());
  const auto ttl = operate(server, "DescribeTimeToLive", {{"TableName", command.table}});
  const Tree* const time_to_live = ttl ? json::member(*ttl, "TimeToLiveDescription") : nullptr;
  if (command.json) {
    Tree answer = {{"Table", *table}};
    if (time_to_live != nullptr) answer["TimeToLiveDescription"] = *time_to_live;
    return print_answer(answer);
  }
  TextList lines;
  lines.add("table", text_of(*table, "TableName"));
  lines.add("status", text_of(*table, "TableStatus"));
  if (const auto schema = key_schema_of(*table, *table, command.table)) {
    constexpr const char* roles[] = {"key", "sort"};
    for (std::size_t i = 0; i < schema->attributes.size() && i < std::size(roles); ++i)
      lines.add(roles[i],
                http::log::printable(schema->attributes[i].name + ":" + schema->attributes[i].type));
  }
  const std::string attribute = time_to_live == nullptr ? "" : text_of(*time_to_live, "AttributeName");
  lines.add("ttl", attribute.empty() ? "off" : attribute);
  const Tree* const stream = json::member(*table, "StreamSpecification");
  lines.add("stream", stream == nullptr ? "off" : text_of(*stream, "StreamViewType"));
  for (const auto& [name, member] :
       {std::pair("items", "ItemCount"), std::pair("bytes", "TableSizeBytes"), std::pair("arn", "TableArn"),
        std::pair("stream arn", "LatestStreamArn")})
    if (const Tree* const value = json::member(*table, member))
      lines.add(name, value->is_string() ? text_of(*table, member) : cell_text(*value));
  print(lines.text());
  print_indexes(*table, "GlobalSecondaryIndexes", "INDEX");
  print_indexes(*table, "LocalSecondaryIndexes", "LOCAL INDEX");
  return printed(0);
}

int delete_table(ServerCalls& server, const ItemCommand& command) {
  auto answer = server.operate("DeleteTable", {{"TableName", command.table}});
  if (!answer && answer.error().name == "ResourceNotFoundException")
    if (const auto table = describe_table(server, command.table); !table) return fail(table.error());
  if (!answer) return fail(answer.error().sentence);
  return command.json ? print_answer(*answer)
                      : say("Deleted table " + http::log::printable(command.table) + ".");
}

// --- items

// A table's description and its key schema, which are needed to read and print items.
struct Described {
  Tree table;
  KeySchema keys;
};

Outcome<Described> described(ServerCalls& server, const std::string& name) {
  TRY(Tree table, describe_table(server, name));
  auto keys = key_schema_of(table, table, name);
  if (!keys) return Unexpected{std::string("DescribeTable's response has no KeySchema.")};
  return Described{std::move(table), *std::move(keys)};
}

Outcome<Tree> item_key_of(ServerCalls& server, const ItemCommand& command) {
  if (command.words.size() == 1)
    if (auto typed = typed_key(command.words[0])) return *std::move(typed);
  TRY(const Described table, described(server, command.table));
  return read_key(table.keys, command.words);
}

// Returns the control API's explanation of why an item does or does not expire, or nullopt if the server has
// no control API.
std::optional<Tree> explanation(const ServerCalls& server, const std::string& table, const Tree& key) {
  std::string path = "/_mayfly/ttl/";
  compat::append_encoded(path, table, "");
  const auto answer = server.control("POST", path + "/explain", json::print({{"key", key}}));
  return answer ? json::parse_tree(*answer) : std::nullopt;
}

// Returns the table's TTL attribute, or an empty string if TTL is off.
Outcome<std::string> ttl_attribute(ServerCalls& server, const std::string& table) {
  TRY(const Tree answer, operate(server, "DescribeTimeToLive", {{"TableName", table}}));
  const Tree* const ttl = json::member(answer, "TimeToLiveDescription");
  return std::string(ttl == nullptr ? "" : json::string_member(*ttl, "AttributeName").value_or(""));
}

Outcome<Tree> item_of(ServerCalls& server, const Described& table, const ItemCommand& command) {
  std::string attribute;
  engine::Instant now = 0;
  if (may_have_time_to_live(command.words)) {
    TRY(attribute, ttl_attribute(server, command.table));
    TRY(now, account_time(server));
  }
  return read_item(table.keys, command.words, attribute, now);
}

Tree key_in(const Tree& item, const KeySchema& schema) {
  Tree key = Tree::object();
  for (const KeyAttribute& attribute : schema.attributes)
    if (item.contains(attribute.name)) json::add_member(key, attribute.name, item[attribute.name]);
  return key;
}

int put_item(ServerCalls& server, const ItemCommand& command) {
  const auto table = described(server, command.table);
  if (!table) return fail(table.error());
  const auto item = item_of(server, *table, command);
  if (!item) return fail(item.error());
  const auto answer = operate(server, "PutItem", {{"TableName", command.table}, {"Item", *item}});
  if (!answer) return fail(answer.error());
  if (command.json) return print_answer(*answer);
  const Tree key = key_in(*item, table->keys);
  std::string sentence = "Put " + plain_key(key) + " into " + http::log::printable(command.table) + ".";
  if (const auto why = explanation(server, command.table, key)) {
    const std::string reason = text_of(*why, "reason");
    // In manual mode, the table's items have no expiry time.
    const std::string expires = text_of(*why, "expires_at");
    if (reason == "not_due" || reason == "delayed")
      sentence += expires.empty() ? "\n" + text_of(*why, "message") : " It expires at " + expires + ".";
    else if (reason != "ttl_disabled" && reason != "no_attribute" && reason != "no_item")
      sentence += "\nNote: " + text_of(*why, "message");
  }
  return say(sentence);
}

// Returns " (2031-01-03T00:00:00Z)" if the value is a time in epoch seconds, otherwise an empty string.
std::string as_time(const Tree& value) {
  const auto text = json::string_member(value, "N");
  const auto seconds = text ? engine::whole_number<engine::Instant>(*text) : std::nullopt;
  if (!seconds || *seconds < 0 || *seconds > engine::last_instant / 1000) return {};
  return " (" + compat::control::print_time(*seconds * 1000) + ")";
}

int get_item(ServerCalls& server, const ItemCommand& command) {
  const auto key = item_key_of(server, command);
  if (!key) return fail(key.error());
  const auto answer =
      operate(server, "GetItem", {{"TableName", command.table}, {"Key", *key}, {"ConsistentRead", true}});
  if (!answer) return fail(answer.error());
  if (command.json) print(print_json(*answer));
  const Tree* const item = json::member(*answer, "Item");
  if (item == nullptr || !item->is_object()) {
    const int code = printed(1);
    std::string sentence = "no item " + plain_key(*key) + " in " + http::log::printable(command.table) + ".";
    const auto why = explanation(server, command.table, *key);
    if (why && json::string_member(*why, "expires_at")) sentence += " " + text_of(*why, "message");
    fail(sentence);
    return code;
  }
  if (command.json) return printed(0);
  const auto expires = ttl_attribute(server, command.table);
  TextList lines;
  for (const auto& [name, value] : item->items())
    lines.add(http::log::printable(name),
              plain_text(value) + (expires && name == *expires ? as_time(value) : ""));
  print(lines.text());
  return printed(0);
}

int delete_item(ServerCalls& server, const ItemCommand& command) {
  const auto key = item_key_of(server, command);
  if (!key) return fail(key.error());
  const auto answer = operate(server, "DeleteItem",
                              {{"TableName", command.table}, {"Key", *key}, {"ReturnValues", "ALL_OLD"}});
  if (!answer) return fail(answer.error());
  if (command.json) return print_answer(*answer);
  const bool existed = json::member(*answer, "Attributes") != nullptr;
  return say((existed ? "Deleted " : "There was no item ") + plain_key(*key) + (existed ? " from " : " in ") +
             http::log::printable(command.table) + ".");
}

// --- queries and scans

// Prints pages as they arrive, so that a large table does not have to fit into memory.
class Pages {
 public:
  Pages(const ItemCommand& command, std::vector<std::string> first_columns)
      : json_(command.json), first_columns_(std::move(first_columns)) {}

  void take(const Tree& page) {
    const Tree* const items = json::member(page, "Items");
    if (items == nullptr || !items->is_array()) return;
    scanned_ += json::integer_member(page, "ScannedCount").value_or(0);
    if (json_) {
      for (const Tree& item : *items) {
        print((count_ == 0 ? "{\n  \"Items\": [\n    " : ",\n    ") + without_end(print_json_line(item)));
        ++count_;
      }
      return;
    }
    count_ += static_cast<std::int64_t>(items->size());
    if (!items->empty()) print_table(*items);
  }
  // `nothing` is the sentence to print if there were no items and --json is not given.
  int end(const std::string& nothing) {
    if (json_)
      print((count_ == 0 ? "{\n  \"Items\": [" : "\n  ") + std::string("],\n  \"Count\": ") +
            std::to_string(count_) + ",\n  \"ScannedCount\": " + std::to_string(scanned_) + "\n}\n");
    else if (count_ == 0)
      print(nothing + "\n");
    return printed(0);
  }
  [[nodiscard]] std::int64_t count() const { return count_; }

 private:
  static std::string without_end(std::string line) {
    line.pop_back();
    return line;
  }

  // Prints the key first, then the other attributes sorted by name. The headings are printed once, and again
  // only for a page with attributes that have no column yet.
  void print_table(const Tree& items) {
    std::set<std::string> others;
    bool has_columns = table_.has_value();
    for (const Tree& item : items) {
      for (const auto& [name, value] : item.items()) {
        if (std::find(first_columns_.begin(), first_columns_.end(), name) != first_columns_.end()) continue;
        others.insert(name);
        has_columns = has_columns && others_.contains(name);
      }
    }
    if (!has_columns) {
      if (table_) print("\n");
      others_ = std::move(others);
      begin_table();
    }
    for (const Tree& item : items) {
      std::vector<std::string> cells;
      for (const std::string& column : columns_) {
        const Tree* const value = json::member(item, column);
        cells.push_back(value == nullptr ? "" : plain_text(*value));
      }
      table_->add(std::move(cells));
    }
    print(table_->take_page());
  }

  void begin_table() {
    columns_ = first_columns_;
    columns_.insert(columns_.end(), others_.begin(), others_.end());
    std::vector<std::string> headings;
    headings.reserve(columns_.size());
    for (const std::string& column : columns_) headings.push_back(http::log::printable(column));
    table_.emplace(std::move(headings));
  }

  const bool json_;
  const std::vector<std::string> first_columns_;
  std::int64_t count_ = 0, scanned_ = 0;
  std::set<std::string> others_;  // attributes whose columns follow first_columns_
  std::vector<std::string> columns_;
  std::optional<TextTable> table_;
};

// Returns the index's description and whether the index is global, or nullopt if the table has no such index.
std::optional<std::pair<Tree, bool>> find_index(const Tree& table, const std::string& name) {
  for (const auto& [member, is_global] :
       {std::pair("GlobalSecondaryIndexes", true), std::pair("LocalSecondaryIndexes", false)})
    if (const Tree* const indexes = json::member(table, member); indexes != nullptr && indexes->is_array())
      for (const Tree& index : *indexes)
        if (json::string_member(index, "IndexName") == name) return std::pair(index, is_global);
  return std::nullopt;
}

// Returns the condition on the sort key, such as " AND #s >= :from". The condition is empty if no option
// limits the sort key.
Outcome<std::string> sort_condition(const ItemCommand& command, const KeySchema& schema, Tree& request) {
  const bool has_range = !command.from.empty() || !command.to.empty();
  if (!has_range && command.begins_with.empty()) return std::string();
  if (schema.attributes.size() < 2)
    return Unexpected{schema.table + " has no sort key, so --from, --to and --begins-with do not apply."};
  if (has_range && !command.begins_with.empty())
    return Unexpected{std::string("--begins-with cannot be combined with --from or --to.")};
  const KeyAttribute& sort = schema.attributes[1];
  request["ExpressionAttributeNames"]["#s"] = sort.name;
  for (const auto& [name, text] : {std::pair(":from", command.from), std::pair(":to", command.to)}) {
    if (text.empty()) continue;
    TRY(request["ExpressionAttributeValues"][name], read_key_value(schema, sort, text));
  }
  if (!command.begins_with.empty()) {
    TRY(request["ExpressionAttributeValues"][":prefix"], read_key_value(schema, sort, command.begins_with));
    return std::string(" AND begins_with(#s, :prefix)");
  }
  if (command.from.empty()) return std::string(" AND #s <= :to");
  return std::string(command.to.empty() ? " AND #s >= :from" : " AND #s BETWEEN :from AND :to");
}

// Adds the key condition to a Query request.
Outcome<void> add_condition(const ItemCommand& command, const KeySchema& schema, Tree& request) {
  TRY(const Tree key, read_key(schema, command.words, false));
  request["ExpressionAttributeNames"] = {{"#p", schema.attributes[0].name}};
  request["ExpressionAttributeValues"] = {{":p", key[schema.attributes[0].name]}};
  std::string condition = "#p = :p";
  if (key.size() > 1) {
    if (!command.from.empty() || !command.to.empty() || !command.begins_with.empty())
      return Unexpected{std::string("a sort key cannot be combined with --from, --to or --begins-with.")};
    request["ExpressionAttributeNames"]["#s"] = schema.attributes[1].name;
    request["ExpressionAttributeValues"][":s"] = key[schema.attributes[1].name];
    condition += " AND #s = :s";
  } else {
    TRY(const std::string sort, sort_condition(command, schema, request));
    condition += sort;
  }
  request["KeyConditionExpression"] = condition;
  if (command.reverse) request["ScanIndexForward"] = false;
  return {};
}

int read_items(ServerCalls& server, const ItemCommand& command) {
  const auto table = described(server, command.table);
  if (!table) return fail(table.error());
  Tree request = {{"TableName", command.table}};
  KeySchema schema = table->keys;
  bool is_global = false;
  if (!command.index.empty()) {
    const auto index = find_index(table->table, command.index);
    if (!index)
      return fail("table '" + http::log::printable(command.table) + "' has no index '" +
                  http::log::printable(command.index) + "'.");
    is_global = index->second;
    request["IndexName"] = command.index;
    if (auto keys = key_schema_of(table->table, index->first, command.index)) schema = *std::move(keys);
  }
  if (!is_global) request["ConsistentRead"] = true;
  const bool is_query = command.what == ItemCommand::What::item_query;
  if (is_query)
    if (const auto added = add_condition(command, schema, request); !added) return fail(added.error());

  std::vector<std::string> columns;
  for (const KeySchema* const keys :
       {static_cast<const KeySchema*>(&table->keys), static_cast<const KeySchema*>(&schema)})
    for (const KeyAttribute& attribute : keys->attributes)
      if (std::find(columns.begin(), columns.end(), attribute.name) == columns.end())
        columns.push_back(attribute.name);
  Pages pages(command, std::move(columns));
  compat::outbound::PageKeys keys;
  for (;;) {
    if (command.limit) request["Limit"] = *command.limit - pages.count();
    const auto page = operate(server, is_query ? "Query" : "Scan", request);
    if (!page) {
      (void)printed(0);
      return fail(page.error());
    }
    pages.take(*page);
    const Tree* const last = json::member(*page, "LastEvaluatedKey");
    if (last == nullptr || reader_left() || (command.limit && pages.count() >= *command.limit)) break;
    if (!keys.advance(json::print(*last))) {
      (void)printed(0);
      return fail(std::string(compat::outbound::PageKeys::repeated));
    }
    request["ExclusiveStartKey"] = *last;
  }
  return pages.end("No items" + std::string(is_query ? " with this key" : "") + " in " +
                   http::log::printable(command.table) +
                   (command.index.empty() ? "" : "'s index " + http::log::printable(command.index)) + ".");
}

}  // namespace

Expected<Tree, std::string> create_request(const ItemCommand& command) {
  Attributes attributes;
  TRY(const KeyAttribute partition, attribute_of(command.key));
  KeyAttribute sort;
  if (!command.sort.empty()) {
    TRY(sort, attribute_of(command.sort));
  }
  CHECK_OK(attributes.add(partition));
  if (!sort.name.empty()) CHECK_OK(attributes.add(sort));
  Tree request = {{"TableName", command.table},
                  {"BillingMode", "PAY_PER_REQUEST"},
                  {"KeySchema", key_schema(partition.name, sort.name)}};
  for (const auto& [member, texts, is_local] :
       {std::tuple("GlobalSecondaryIndexes", &command.indexes, false),
        std::tuple("LocalSecondaryIndexes", &command.local_indexes, true)}) {
    for (const std::string& text : *texts) {
      TRY(Tree index, index_of(text, is_local, partition.name, attributes));
      request[member].push_back(std::move(index));
    }
  }
  request["AttributeDefinitions"] = attributes.definitions();
  if (command.stream != "off")
    request["StreamSpecification"] = {
        {"StreamEnabled", true},
        {"StreamViewType", command.stream == "on" ? "NEW_AND_OLD_IMAGES" : command.stream}};
  return request;
}

int run_item_command(const ItemCommand& command) {
  auto server = ServerCalls::to(command.server);
  if (!server) return fail(server.error());
  using What = ItemCommand::What;
  switch (command.what) {
    case What::table_list: return list_tables(*server, command);
    case What::table_create: return create_table(*server, command);
    case What::table_describe: return describe(*server, command);
    case What::table_delete: return delete_table(*server, command);
    case What::item_put: return put_item(*server, command);
    case What::item_get: return get_item(*server, command);
    case What::item_query:
    case What::item_scan: return read_items(*server, command);
    case What::item_delete: return delete_item(*server, command);
  }
  return 1;
}

}  // namespace mayfly::cli
