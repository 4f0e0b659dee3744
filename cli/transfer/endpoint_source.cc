#include "cli/transfer/endpoint_source.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "cli/sweep/state.h"
#include "compat/json/json.h"
#include "compat/outbound/page_keys.h"
#include "compat/wire/attribute_value_json.h"

namespace mayfly::transfer {
namespace {

using compat::outbound::PageKeys;
using json::Tree;

constexpr std::size_t pages_max = 100;  // pages of tags; a table has at most 50 tags, and a page has 10

std::string sentence(const std::string& where, const char* operation, const aws::Failure& failure) {
  return where + ": " + operation + ": " + failure.sentence();
}

class ScanPages final : public Pages {
 public:
  struct Segment {
    std::string table;
    std::size_t index, number, count;
    bool consistent, is_bounded;
  };
  ScanPages(Endpoint& endpoint, Allowance& allowance, Segment segment, std::string cursor)
      : endpoint_(endpoint),
        allowance_(allowance),
        segment_(std::move(segment)),
        cursor_(std::move(cursor)) {}

  Expected<Page, std::string> next() override {
    auto answer = endpoint_.call("Scan", request());
    if (!answer) return Unexpected{sentence(segment_.table, "Scan", answer.error())};
    const std::string text = *std::move(answer);
    const auto document = json::parse(text);
    const json::Value* const items = document ? document->root().member("Items") : nullptr;
    if (items == nullptr) return Unexpected{segment_.table + ": Scan: the response has no Items"};
    Page page{.table = segment_.index};
    for (const json::Value& one : items->items()) {
      auto item = compat::read_item(one);
      if (!item) return Unexpected{segment_.table + ": Scan: " + item.error().message};
      page.items.push_back(*std::move(item));
    }
    cursor_.clear();
    if (const json::Value* const last = document->root().member("LastEvaluatedKey")) {
      json::Writer out(cursor_);
      out.value(*last);
    }
    if (!cursor_.empty() && !keys_.advance(cursor_))
      return Unexpected{segment_.table + ": Scan: " + std::string(PageKeys::repeated)};
    page.cursor = cursor_;
    page.last = cursor_.empty();
    if (segment_.is_bounded) allowance_.use(units_of(document->root()), endpoint_.interruption());
    return page;
  }

 private:
  [[nodiscard]] std::string request() const {
    std::string text;
    json::Writer out(text);
    out.begin_object();
    out.key("TableName");
    out.string(segment_.table);
    if (segment_.count > 1) {
      out.key("Segment");
      out.integer(static_cast<std::int64_t>(segment_.number));
      out.key("TotalSegments");
      out.integer(static_cast<std::int64_t>(segment_.count));
    }
    if (segment_.consistent) {
      out.key("ConsistentRead");
      out.boolean(true);
    }
    if (segment_.is_bounded) {
      out.key("ReturnConsumedCapacity");
      out.string("TOTAL");
    }
    if (!cursor_.empty()) {
      out.key("ExclusiveStartKey");
      out.raw(cursor_);
    }
    out.end_object();
    return text;
  }
  static double units_of(const json::Value& answer) {
    const json::Value* const consumed = answer.member("ConsumedCapacity");
    const json::Value* const units = consumed != nullptr ? consumed->member("CapacityUnits") : nullptr;
    return units != nullptr ? std::strtod(std::string(units->number_text()).c_str(), nullptr) : 0;
  }

  Endpoint& endpoint_;
  Allowance& allowance_;
  const Segment segment_;
  std::string cursor_;
  PageKeys keys_;
};

}  // namespace

Expected<std::unique_ptr<Source>, std::string> EndpointSource::open(std::unique_ptr<Endpoint> endpoint,
                                                                    const Selection& selection,
                                                                    EndpointSourceOptions options) {
  auto source = std::make_unique<EndpointSource>(std::move(endpoint), options);
  CHECK_OK(source->find_tables(selection));
  for (DescribedTable& table : source->tables_) CHECK_OK(source->describe(table));
  return std::unique_ptr<Source>(std::move(source));
}

Expected<void, std::string> EndpointSource::find_tables(const Selection& selection) {
  const std::string where = endpoint_->where();
  Tree request = Tree::object();
  for (PageKeys keys;;) {
    const auto answer = endpoint_->call("ListTables", json::print(request));
    if (!answer) return Unexpected{sentence(where, "ListTables", answer.error())};
    const auto tree = json::parse_tree(*answer);
    const Tree* const names = tree ? json::member(*tree, "TableNames") : nullptr;
    if (names == nullptr || !names->is_array())
      return Unexpected{where + ": ListTables: the response has no TableNames"};
    for (const Tree& name : *names) {
      if (!name.is_string() || !selection.has(name.get<std::string>())) continue;
      if (selection.is_all() && name == sweep::state_table_default)
        notices_.push_back(
            std::string(sweep::state_table_default) +
            ": skipped, because it holds the state of 'mayfly sweep'; to copy this table, name it");
      else
        tables_.push_back({.name = name.get<std::string>()});
      if (tables_.size() > tables_max)
        return Unexpected{where + " has more than " + std::to_string(tables_max) +
                          " tables. Name the tables to copy"};
    }
    const auto last = json::string_member(*tree, "LastEvaluatedTableName");
    if (!last) break;
    if (!keys.advance(*last)) return Unexpected{where + ": ListTables: " + std::string(PageKeys::repeated)};
    request["ExclusiveStartTableName"] = *last;
  }
  if (std::string unmet = selection.unmet(tables_, where); !unmet.empty())
    return Unexpected{std::move(unmet)};
  return {};
}

Tree EndpointSource::ask_if_known(const char* operation, const Tree& body, const std::string& table,
                                  std::initializer_list<std::string_view> means_none) {
  const auto answer = endpoint_->call(operation, json::print(body));
  if (auto tree = answer ? json::parse_tree(*answer) : std::nullopt) return *std::move(tree);
  const auto is_none = [&](std::string_view name) {
    return name == "UnknownOperationException" ||
           std::find(means_none.begin(), means_none.end(), name) != means_none.end();
  };
  if (!answer && is_none(answer.error().name)) return {};
  notices_.push_back(table + ": " + operation + " failed (" +
                     (answer ? "the response is not JSON" : answer.error().sentence()) +
                     "), so its settings are not copied");
  return {};
}

Tree EndpointSource::ask_for_all(const char* operation, Tree request, const char* list,
                                 const std::string& table) {
  Tree all = Tree::array();
  PageKeys keys;
  for (std::size_t pages = 0; pages < pages_max; ++pages) {
    const Tree page = ask_if_known(operation, request, table);
    if (const Tree* const some = json::member(page, list); some != nullptr && some->is_array())
      all.insert(all.end(), some->begin(), some->end());
    const auto next = json::string_member(page, "NextToken");
    if (!next || !keys.advance(*next)) break;
    request["NextToken"] = *next;
  }
  return all;
}

Expected<void, std::string> EndpointSource::describe(DescribedTable& table) {
  const Tree by_name = {{"TableName", table.name}};
  const auto answer = endpoint_->call("DescribeTable", json::print(by_name));
  if (!answer) return Unexpected{sentence(table.name, "DescribeTable", answer.error())};
  auto described = json::parse_tree(*answer, json::Decimals::as_written);
  if (!described || !described->is_object() || json::member(*described, "Table") == nullptr)
    return Unexpected{table.name + ": DescribeTable: the response has no Table"};
  table.description = *std::move(described);
  if (options_.items_only) return {};
  for (const auto& [operation, member] :
       {std::pair("DescribeTimeToLive", "TimeToLiveDescription"),
        std::pair("DescribeContinuousBackups", "ContinuousBackupsDescription")}) {
    const Tree more = ask_if_known(operation, by_name, table.name);
    if (const Tree* const found = json::member(more, member)) table.description[member] = *found;
  }
  const char* const insights = "ContributorInsightsSummaries";
  if (Tree found = ask_for_all("ListContributorInsights", by_name, insights, table.name); !found.empty())
    table.description[insights] = std::move(found);
  if (const auto arn = json::string_member(table.description["Table"], "TableArn")) {
    Tree tags = ask_for_all("ListTagsOfResource", {{"ResourceArn", *arn}}, "Tags", table.name);
    if (!tags.empty()) table.description["Table"]["Tags"] = std::move(tags);
  }
  name_what_stays(table);
  return {};
}

void EndpointSource::name_what_stays(const DescribedTable& table) {
  const Tree& described = table.description["Table"];
  const Tree by_name = {{"TableName", table.name}};
  bool has_policy = false;
  for (const char* const resource : {"TableArn", "LatestStreamArn"}) {
    const auto arn = json::string_member(described, resource);
    if (!arn || has_policy) continue;
    const Tree policy = ask_if_known("GetResourcePolicy", {{"ResourceArn", *arn}}, table.name,
                                     {"PolicyNotFoundException", "ResourceNotFoundException"});
    has_policy = json::member(policy, "Policy") != nullptr;
  }
  if (has_policy)
    notices_.push_back(table.name +
                       ": its resource policy is not copied, because it names accounts and ARNs");

  const Tree answer = ask_if_known("DescribeKinesisStreamingDestination", by_name, table.name);
  const Tree* const streams = json::member(answer, "KinesisDataStreamDestinations");
  if (streams != nullptr && std::any_of(streams->begin(), streams->end(), [](const Tree& stream) {
        const auto status = json::string_member(stream, "DestinationStatus").value_or("");
        return status == "ACTIVE" || status == "ENABLING" || status == "UPDATING";
      }))
    notices_.push_back(table.name +
                       ": its Kinesis destinations are not copied, because the copy would send changes to "
                       "them");

  // For a table without replicas, only a separate service, Application Auto Scaling, knows whether and how
  // the table is scaled.
  const Tree* const billing = json::member(described, "BillingModeSummary");
  if (billing != nullptr && json::string_member(*billing, "BillingMode") == "PAY_PER_REQUEST") return;
  const Tree scaling = ask_if_known("DescribeTableReplicaAutoScaling", by_name, table.name,
                                    {"ResourceNotFoundException", "ValidationException"});
  if (json::print(scaling).find(R"("AutoScalingDisabled":false)") != std::string::npos)
    notices_.push_back(table.name + ": its auto scaling is not copied; the copy has the current capacity");
}

Expected<std::unique_ptr<Pages>, std::string> EndpointSource::open(std::size_t part,
                                                                   const std::string& cursor) {
  const std::size_t table = part / options_.segments;
  return std::unique_ptr<Pages>(
      std::make_unique<ScanPages>(*endpoint_, allowance_,
                                  ScanPages::Segment{.table = tables_[table].name,
                                                     .index = table,
                                                     .number = part % options_.segments,
                                                     .count = options_.segments,
                                                     .consistent = options_.consistent,
                                                     .is_bounded = options_.read_units_max > 0},
                                  cursor));
}

}  // namespace mayfly::transfer
