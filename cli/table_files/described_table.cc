#include "cli/table_files/described_table.h"

#include <string_view>

#include "cli/schemas/description.h"

namespace mayfly::transfer {
namespace {

using json::Tree;
using schemas::SchemaRequest;

const Tree* table_of(const Tree& description) { return json::member(description, "Table"); }

SchemaRequest update_table(const std::string& table, const char* member, Tree value) {
  Tree body = {{"TableName", table}};
  body[member] = std::move(value);
  return {"UpdateTable", std::move(body)};
}

}  // namespace

std::vector<std::string> DescribedTable::keys() const {
  std::vector<std::string> names;
  const Tree* const table = table_of(description);
  const Tree* const schema = table != nullptr ? json::member(*table, "KeySchema") : nullptr;
  if (schema == nullptr || !schema->is_array()) return names;
  for (const Tree& one : *schema)
    if (const auto name = json::string_member(one, "AttributeName")) names.emplace_back(*name);
  return names;
}

std::string DescribedTable::ttl() const {
  const Tree* const ttl = json::member(description, "TimeToLiveDescription");
  if (ttl == nullptr || !json::string_member(*ttl, "TimeToLiveStatus").value_or("").starts_with("ENABL"))
    return {};
  return std::string(json::string_member(*ttl, "AttributeName").value_or(""));
}

std::int64_t DescribedTable::item_count() const {
  const Tree* const table = table_of(description);
  return table != nullptr ? json::integer_member(*table, "ItemCount").value_or(0) : 0;
}

void DescribedTable::rename(std::string to) {
  if (is_described() && description.contains("Table")) description["Table"]["TableName"] = to;
  name = std::move(to);
}

Expected<Making, std::string> making_of(const DescribedTable& table, const std::string& region,
                                        bool with_ttl) {
  TRY(auto schemas, schemas::read_descriptions(table.description, table.name, region));
  if (schemas.size() != 1)
    return Unexpected{table.name + ": its description must describe exactly one table"};
  Making making;
  std::vector<SchemaRequest> switches;  // sent last, after TTL and recovery
  for (SchemaRequest& request : schemas[0].requests) {
    if (request.operation == "CreateTable") {
      for (const char* member : {"StreamSpecification", "DeletionProtectionEnabled"}) {
        if (!request.body.contains(member)) continue;
        Tree value = request.body[member];
        request.body.erase(member);
        const bool is_on = value.is_boolean() ? value.get<bool>()
                                              : json::boolean_member(value, "StreamEnabled").value_or(false);
        if (is_on) switches.push_back(update_table(table.name, member, std::move(value)));
      }
      making.before.push_back(std::move(request));
    } else if (request.body.contains("ReplicaUpdates")) {
      making.left_out.push_back(table.name + ": its replicas are not created");
    } else if (request.operation == "UpdateTimeToLive" && !with_ttl) {
      making.left_out.push_back(table.name + ": TTL is not enabled");
    } else {
      making.after.push_back(std::move(request));
    }
  }
  making.after.insert(making.after.end(), switches.begin(), switches.end());
  return making;
}

}  // namespace mayfly::transfer
