#include "compat/mcp/own_tools.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "compat/dispatch.h"
#include "compat/mcp/known_errors.h"
#include "compat/mcp/tool_call.h"
#include "compat/outbound/page_keys.h"
#include "engine/base/text.h"

namespace mayfly::compat::mcp {
namespace {

using json::Tree;

bool reads_only(const Operation& operation) {
  const std::string_view name = operation.name;
  return name.starts_with("Describe") || name.starts_with("List") ||
         (operation.access == Access::reads && !name.ends_with("Statement"));
}

// One page of a shard's records, and the iterator of the next page.
struct ShardPage {
  Tree records = Tree::array();
  std::optional<std::string> next;
};

constexpr std::int64_t records_default = 25, records_max = 200;
constexpr int shards_max = 1000, pages_max = 1000;  // limits for one call

class StreamReader {
 public:
  explicit StreamReader(ToolCall& call) : call_(call) {}

  // Returns the records from the iterators in `next` on, or from the stream's beginning if `next` is null:
  // {"records":[…],"next":{"shard":"iterator"}}.
  Outcome read(const std::string& table, const Tree* next, std::int64_t limit, bool last) {
    if (!find_stream(table)) return std::move(*failed_);
    if (!find_shards()) return std::move(*failed_);
    Tree iterators = Tree::object();
    if (next != nullptr) iterators = *next;
    std::vector<Tree> records;
    bool more = false;
    for (const std::string& shard : shards_) {
      auto iterator = json::string_member(iterators, shard).value_or("");
      if (iterator == "closed") continue;
      std::string at(iterator);
      if (at.empty() && !first_iterator(shard, at)) return std::move(*failed_);
      for (;;) {
        if (!last && static_cast<std::int64_t>(records.size()) >= limit) {
          more = true;
          break;
        }
        if (++pages_ > pages_max || call_.stop.stop_requested()) {
          more = true;
          break;
        }
        const auto wanted = last ? std::int64_t{1000} : limit - static_cast<std::int64_t>(records.size());
        ShardPage page;
        if (!read_page(at, wanted, page)) return std::move(*failed_);
        for (Tree& record : page.records) records.push_back(std::move(record));
        if (last && static_cast<std::int64_t>(records.size()) > limit)
          records.erase(records.begin(), records.end() - limit);
        const bool was_empty = page.records.empty();
        at = page.next.value_or("closed");
        if (at == "closed" || was_empty) break;
      }
      iterators[shard] = at;
    }
    Tree shown = Tree::array();
    for (Tree& record : records) shown.push_back(std::move(record));
    Outcome outcome{.text = json::print({{"records", std::move(shown)}, {"next", std::move(iterators)}}),
                    .is_object = true};
    if (more) outcome.more = "There are more records; call again with 'next'.";
    return outcome;
  }

 private:
  // Returns false on failure; `failed_` then has the error.
  bool ask(std::string_view operation, const Tree& request, Tree& answer) {
    Outcome outcome = outcome_of(operate(call_, *find_operation(operation), request));
    auto tree = outcome.failed ? std::nullopt : json::parse_tree(outcome.text, json::Decimals::as_written);
    if (!tree) {
      failed_ = outcome.failed ? std::move(outcome) : failure("The server's response is not JSON.");
      return false;
    }
    answer = *std::move(tree);
    return true;
  }

  bool find_stream(const std::string& table) {
    Tree answer;
    if (!ask("DescribeTable", {{"TableName", table}}, answer)) return false;
    const Tree* description = json::member(answer, "Table");
    const auto arn =
        description != nullptr ? json::string_member(*description, "LatestStreamArn") : std::nullopt;
    if (!arn) {
      failed_ = failure("Table '" + table +
                        "' has no stream; enable one with update_table and StreamSpecification.");
      return false;
    }
    arn_ = *arn;
    return true;
  }

  bool find_shards() {
    Tree request{{"StreamArn", arn_}};
    outbound::PageKeys keys;
    while (static_cast<int>(shards_.size()) < shards_max) {
      Tree answer;
      if (!ask("DescribeStream", request, answer)) return false;
      const Tree* description = json::member(answer, "StreamDescription");
      const Tree* shards = description != nullptr ? json::member(*description, "Shards") : nullptr;
      if (shards == nullptr || !shards->is_array()) return true;
      for (const Tree& shard : *shards)
        if (const auto id = json::string_member(shard, "ShardId")) shards_.emplace_back(*id);
      const auto last = json::string_member(*description, "LastEvaluatedShardId");
      if (!last) return true;
      if (!keys.advance(*last)) {
        failed_ = failure("DescribeStream: " + std::string(outbound::PageKeys::repeated) + ".");
        return false;
      }
      request["ExclusiveStartShardId"] = std::string(*last);
    }
    return true;
  }

  bool first_iterator(const std::string& shard, std::string& iterator) {
    Tree answer;
    if (!ask("GetShardIterator",
             {{"StreamArn", arn_}, {"ShardId", shard}, {"ShardIteratorType", "TRIM_HORIZON"}}, answer))
      return false;
    iterator = json::string_member(answer, "ShardIterator").value_or("closed");
    return true;
  }

  bool read_page(const std::string& iterator, std::int64_t limit, ShardPage& page) {
    Tree answer;
    if (!ask("GetRecords", {{"ShardIterator", iterator}, {"Limit", limit}}, answer)) return false;
    if (const auto found = answer.find("Records"); found != answer.end() && found->is_array())
      page.records = std::move(*found);
    if (const auto next = json::string_member(answer, "NextShardIterator")) page.next = std::string(*next);
    return true;
  }

  ToolCall& call_;
  std::string arn_;
  std::vector<std::string> shards_;
  int pages_ = 0;
  std::optional<Outcome> failed_;
};

}  // namespace

Outcome any_operation(ToolCall& call) {
  auto name = take_text(call.arguments, "operation");
  if (!name) return failure(name.error());
  const Operation* operation = *name ? find_operation(**name) : nullptr;
  if (operation == nullptr) {
    return failure((*name ? "Unknown operation '" + **name + "'" : std::string("'operation' is required")) +
                   "; the operations are " + engine::joined(all_operations(), ", ", &Operation::name));
  }
  if (call.read_only && !reads_only(*operation))
    return failure(std::string(operation->name) + " is not available in read-only mode.");
  const json::Tree* request = json::member(call.arguments, "request");
  if (request != nullptr && !request->is_object()) return failure("'request' must be an object.");
  call.arguments = request != nullptr ? json::Tree(*request) : json::Tree::object();
  return outcome_of(operate(call, *operation, call.arguments));
}

Outcome show_metrics(ToolCall& call) {
  auto contains = take_text(call.arguments, "contains");
  if (!contains) return failure(contains.error());
  Outcome outcome = outcome_of(call.world.call(call.scope, "GET", "/_mayfly/metrics", "", call.stop));
  if (outcome.failed || !*contains) return outcome;
  std::string kept;
  for (std::string_view left = outcome.text; !left.empty();) {
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(left.size(), line.size() + 1));
    if (line.find(**contains) != std::string_view::npos) kept.append(line) += '\n';
  }
  outcome.text = std::move(kept);
  outcome.is_object = false;
  return outcome;
}

Outcome read_stream(ToolCall& call) {
  const auto name = take_text(call.arguments, "TableName");
  if (!name) return failure(name.error());
  if (!*name) return failure("'TableName' is required and must be a string.");
  const json::Tree* next = json::member(call.arguments, "next");
  if (next != nullptr && !next->is_object()) return failure("'next' must be an object.");
  const auto limit = json::integer_member(call.arguments, "limit").value_or(records_default);
  if (limit < 1 || limit > records_max)
    return failure("'limit' must be between 1 and " + std::to_string(records_max) + ".");
  return StreamReader(call).read(**name, next, limit,
                                 json::boolean_member(call.arguments, "last").value_or(false));
}

Outcome explain(ToolCall& call) {
  const auto error = take_text(call.arguments, "error");
  if (!error) return failure(error.error());
  const json::Tree known = explain_error(error->value_or(""));
  if (!known.is_null()) return {.text = json::print(known), .is_object = true};
  return failure(
      "Unknown error. The known errors are " +
      engine::joined(known_errors(), ", ", [](const KnownError& one) { return error_name(one.kind); }));
}

}  // namespace mayfly::compat::mcp
