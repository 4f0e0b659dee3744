#include "compat/mcp/known_errors.h"

#include <nlohmann/json.hpp>

namespace mayfly::compat::mcp {
namespace {

using Kind = Error::Kind;

constexpr KnownError errors[] = {
    {Kind::access_denied, false,
     "The caller is not allowed to do this. An ARN that names another account also causes this error.",
     "Use the account and region that the ARN names."},
    {Kind::backup_in_use, true, "Another operation on the same backup is in progress.",
     "Retry when it has finished."},
    {Kind::backup_not_found, false, "No backup has this ARN.", "ListBackups lists the backups."},
    {Kind::conditional_check_failed, false, "The item does not satisfy ConditionExpression (or Expected).",
     "Read the item, or set ReturnValuesOnConditionCheckFailure=ALL_OLD. An expired item counts as absent."},
    {Kind::duplicate_item, false, "A PartiQL INSERT names a primary key that already exists.",
     "Use UPDATE, or write the item with PutItem."},
    {Kind::expired_iterator, false, "The shard iterator is older than 15 minutes of the stream's time.",
     "Get a new iterator with AFTER_SEQUENCE_NUMBER and the number of the last record that was read."},
    {Kind::export_conflict, true, "An export with the same token but different parameters is in progress.",
     "Use another ClientToken."},
    {Kind::export_not_found, false, "No export has this ARN.", "ListExports lists the exports."},
    {Kind::global_table_not_found, false, "There is no global table with this name.",
     "ListGlobalTables lists the global tables."},
    {Kind::idempotent_parameter_mismatch, false,
     "A ClientRequestToken was reused with a different request within ten minutes, by the account's clock.",
     "Use each token for one request only."},
    {Kind::import_conflict, true, "An import with the same token but different parameters is in progress.",
     "Use another ClientToken."},
    {Kind::import_not_found, false, "No import has this ARN.", "ListImports lists the imports."},
    {Kind::incomplete_signature, false, "The Authorization header lacks a part of the signature.",
     "Let an AWS SDK sign the request. Any credentials work unless the server checks signatures."},
    {Kind::internal_server_error, true,
     "The server failed because of a fault rule (set_faults), a storage error or a lack of memory.",
     "Check show_faults and health. AWS SDKs retry automatically."},
    {Kind::invalid_export_time, false, "ExportTime is outside the recovery period.",
     "DescribeContinuousBackups returns EarliestRestorableDateTime."},
    {Kind::invalid_restore_time, false, "RestoreDateTime is outside the recovery period.",
     "DescribeContinuousBackups returns the earliest and the latest time, by the account's clock."},
    {Kind::invalid_signature, false, "The signature does not match the request and the key, or is too old.",
     "Check the secret key and the clock of the client's machine. The account's clock does not matter."},
    {Kind::item_collection_size_limit_exceeded, false,
     "The items of one partition of a table with local indexes exceed 10 GB (or --collection-bytes-max).",
     "Spread them over several partitions, or delete some."},
    {Kind::limit_exceeded, false, "A limit on the number of resources or running jobs is reached.",
     "The message names the limit. Delete some resources, or wait until a job ends."},
    {Kind::missing_authentication_token, false, "The request is not signed.",
     "Give the client credentials. Any credentials work unless the server checks signatures."},
    {Kind::point_in_time_recovery_unavailable, false, "Point-in-time recovery is not enabled on the table.",
     "Enable it with UpdateContinuousBackups."},
    {Kind::policy_not_found, false, "The resource has no policy, or the policy has a different revision.",
     "Call PutResourcePolicy first. On AWS, a new policy can take a moment to take effect."},
    {Kind::provisioned_throughput_exceeded, true,
     "The throughput of the table or partition is used up. Mayfly returns this only because of a fault rule.",
     "Back off and retry, as AWS SDKs do. show_faults shows which rule struck."},
    {Kind::replicated_write_conflict, true,
     "Another region is writing to the same item of a global table with strong consistency.", "Retry."},
    {Kind::request_limit_exceeded, true,
     "The account's throughput is used up. Mayfly returns this only because of a fault rule.",
     "Back off and retry. show_faults shows which rule struck."},
    {Kind::resource_in_use, false, "The table already exists, or is CREATING, UPDATING or DELETING.",
     "Wait until DescribeTable returns ACTIVE, or until the table is gone."},
    {Kind::resource_not_found, false,
     "The table, index, stream or shard does not exist in this account and region, or the table is not "
     "ACTIVE yet.",
     "Call list_tables. Compare the account (an access key id of twelve digits selects one) and region with "
     "those that the writer used."},
    {Kind::serialization, false, "The body is not JSON, or a member has the wrong type.",
     "Values of an item need types, such as {\"S\":\"a\"}. Numbers are strings, {\"N\":\"1\"}."},
    {Kind::table_already_exists, false, "The target table of a restore already exists.",
     "Choose another name, or delete the table first."},
    {Kind::table_in_use, true, "The target table is being created or deleted.", "Retry when it is ACTIVE."},
    {Kind::table_not_found, false, "The source table of a backup does not exist.",
     "list_tables lists the tables."},
    {Kind::throttling, true,
     "Too many operations on tables. Mayfly returns this only because of a fault rule.",
     "Back off and retry. show_faults shows which rule struck."},
    {Kind::transaction_canceled, false,
     "One of the actions failed, so none was applied. CancellationReasons has one entry per action, in "
     "order: ConditionalCheckFailed, TransactionConflict, ItemCollectionSizeLimitExceeded, ValidationError "
     "or None.",
     "Find the entries that are not None. A TransactionConflict can be retried."},
    {Kind::transaction_conflict, true, "Another transaction is using the item.", "Retry."},
    {Kind::trimmed_data_access, false,
     "The records no longer exist: they are older than 24 hours of the stream's time, or a snapshot restore "
     "undid them.",
     "Get a TRIM_HORIZON iterator."},
    {Kind::unknown_operation, false, "X-Amz-Target does not name an operation of this API.",
     "Check the spelling of the operation."},
    {Kind::unrecognized_client, false, "The server does not know the access key (--require-signature).",
     "Use a key from --keys or from the server's environment."},
    {Kind::validation, false, "The request breaks a rule of the API. The message names the rule.",
     "Change the request. Retrying does not help."},
    {Kind::bad_request, false, "Mayfly error: the HTTP request is malformed.", "The message says how."},
    {Kind::conflict, false,
     "Mayfly error: the current state does not allow this, for example moving a clock back while the account "
     "has tables.",
     "The message names the obstacle."},
    {Kind::forbidden, false,
     "Mayfly error: the request comes from a web page of another origin, has a Host that is not allowed, or "
     "lacks a signature.",
     "Allow the origin with --cors-origin or the host with --allowed-host."},
    {Kind::method_not_allowed, false, "Mayfly error: the path does not support this method.",
     "The message lists the methods that it supports."},
    {Kind::not_acceptable, false, "Mayfly error: the client does not accept the response's type.",
     "Accept application/json."},
    {Kind::not_found, false, "Mayfly error: the path, table, snapshot or function does not exist.",
     "Compare the account and region with those that the writer used."},
    {Kind::stopped, true,
     "Mayfly error: the call was canceled while it waited because its client disconnected or the server is "
     "shutting down.",
     "Call again."},
    {Kind::timed_out, true,
     "Mayfly error: the change that await waits for did not happen within timeout_seconds.",
     "'records' has the changes that did happen. With a frozen clock, items expire only when you call "
     "advance_clock."},
    {Kind::too_many_waiting, true, "Mayfly error: too many calls are already waiting.",
     "Wait until some have finished, or raise --waiting-max."},
    {Kind::unsupported_media_type, false,
     "Mayfly error: requests that change something must have Content-Type: application/json.",
     "Send that header."},
};

constexpr KnownMessage messages[] = {
    {"The provided key element does not match the schema",
     "Key does not have exactly the attributes of the table's primary key, or a key attribute has the wrong "
     "type.",
     "describe_table shows KeySchema and AttributeDefinitions."},
    {"Missing the key", "The item lacks an attribute of the primary key.",
     "Every item needs the partition key and, if the table has one, the sort key."},
    {"Type mismatch for key", "A key attribute has a type other than the one in AttributeDefinitions.",
     "A number is {\"N\":\"7\"}, a string {\"S\":\"7\"}."},
    {"Requested resource not found", "There is no such table in this account and region.",
     "Call list_tables. Compare the account and region with those that the writer used."},
    {"reserved keyword", "An expression uses one of DynamoDB's reserved words as an attribute name.",
     "Write #name and define it in ExpressionAttributeNames. ttl, name, status, date and data are reserved."},
    {"unused in expressions", "A name or value is defined, but no expression uses it.", "Remove it."},
    {"An expression attribute value used in expression is not defined",
     "An expression uses :value, but ExpressionAttributeValues does not define it.",
     "Define it, including the colon."},
    {"An expression attribute name used in the document path is not defined",
     "An expression uses #name, but ExpressionAttributeNames does not define it.",
     "Define it, including the number sign."},
    {"Query condition missed key schema element",
     "KeyConditionExpression has no equality condition for the partition key.",
     "A query needs `partition = :value`. Otherwise scan, or query another index."},
    {"Query key condition not supported", "The partition key is compared with an operator other than =.",
     "Only the sort key can use <, BETWEEN and begins_with."},
    {"The table does not have the specified index", "IndexName does not name an index of the table.",
     "describe_table lists the indexes."},
    {"Filter Expression can only contain non-primary key attributes",
     "FilterExpression uses a key attribute.", "Move it to KeyConditionExpression."},
    {"Cannot update attribute", "UpdateExpression changes an attribute of the primary key.",
     "A key cannot change: delete the item and put it with the new key."},
    {"The document path provided in the update expression is invalid for update",
     "A part of the path does not exist, or is not a map or list.",
     "SET the outer map first, with if_not_exists."},
    {"Item size has exceeded the maximum allowed size",
     "The item is larger than 400 KB, including attribute names.",
     "Split it, or store the large part elsewhere."},
    {"Item size to update has exceeded the maximum allowed size",
     "The update would make the item larger than 400 KB.", "Split it, or store the large part elsewhere."},
    {"Provided list of item keys contains duplicates", "A batch names an item twice.",
     "Name each item once."},
    {"Transaction request cannot include multiple operations on one item",
     "A transaction names an item twice.", "Combine the condition and the change in one action."},
    {"TimeToLive is already", "UpdateTimeToLive requests the state that the table already has.",
     "show_ttl shows the state."},
};

}  // namespace

std::span<const KnownError> known_errors() { return errors; }
std::span<const KnownMessage> known_messages() { return messages; }

json::Tree explain_error(std::string_view text) {
  json::Tree by_name = json::Tree::array(), by_message = json::Tree::array();
  for (const KnownError& known : errors) {
    const std::string_view name = error_name(known.kind);
    const auto at = text.find(name);
    if (at == std::string_view::npos) continue;
    // "NotFound" does not match within "BackupNotFoundException".
    const auto is_letter = [&](std::size_t place) {
      return place < text.size() && ((text[place] | 0x20) >= 'a' && (text[place] | 0x20) <= 'z');
    };
    if ((at > 0 && is_letter(at - 1)) || is_letter(at + name.size())) continue;
    by_name.push_back({{"name", name},
                       {"status", error_status(known.kind)},
                       {"when", known.when},
                       {"then", known.then},
                       {"retry", known.retry}});
  }
  for (const KnownMessage& known : messages) {
    if (text.find(known.part) == std::string_view::npos) continue;
    json::Tree one{{"message", known.part}, {"when", known.when}, {"then", known.then}};
    by_message.push_back(std::move(one));
  }
  if (by_name.empty() && by_message.empty()) return nullptr;
  return {{"errors", std::move(by_name)}, {"messages", std::move(by_message)}};
}

}  // namespace mayfly::compat::mcp
