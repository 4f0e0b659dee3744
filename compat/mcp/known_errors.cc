#include "compat/mcp/known_errors.h"

#include <nlohmann/json.hpp>

namespace mayfly::compat::mcp {
namespace {

using Kind = Error::Kind;

constexpr KnownError errors[] = {
    {Kind::access_denied, false,
     "The caller may not do this; here also of an ARN that names another account.",
     "Use the account and the region that the ARN names."},
    {Kind::backup_in_use, true, "Another operation on the same backup is under way.",
     "Try again when it is over."},
    {Kind::backup_not_found, false, "No backup has this ARN.", "ListBackups says which there are."},
    {Kind::conditional_check_failed, false, "The item is not as ConditionExpression (or Expected) wants it.",
     "Read the item, or ask for ReturnValuesOnConditionCheckFailure=ALL_OLD; an item that has expired is "
     "absent."},
    {Kind::duplicate_item, false, "PartiQL's INSERT of a primary key that there is already.",
     "UPDATE it, or write it with PutItem."},
    {Kind::expired_iterator, false, "A shard iterator is older than 15 minutes of the stream's time.",
     "Take a new one, AFTER_SEQUENCE_NUMBER of the last record that was read."},
    {Kind::export_conflict, true, "An export with the same token and other parameters is under way.",
     "Use another ClientToken."},
    {Kind::export_not_found, false, "No export has this ARN.", "ListExports says which there are."},
    {Kind::global_table_not_found, false, "There is no global table of this name.",
     "ListGlobalTables says which there are."},
    {Kind::idempotent_parameter_mismatch, false,
     "A ClientRequestToken comes again within ten minutes of the account's clock, with another request.",
     "Use a token for one request alone."},
    {Kind::import_conflict, true, "An import with the same token and other parameters is under way.",
     "Use another ClientToken."},
    {Kind::import_not_found, false, "No import has this ARN.", "ListImports says which there are."},
    {Kind::incomplete_signature, false, "The Authorization header lacks a part of a signature.",
     "Let an AWS SDK sign; any credentials will do where signatures are not checked."},
    {Kind::internal_server_error, true,
     "The server failed: a fault that set_faults ordered, storage, or memory.",
     "Look at show_faults and health; AWS's SDKs try again by themselves."},
    {Kind::invalid_export_time, false, "ExportTime lies outside of the recovery period.",
     "DescribeContinuousBackups has EarliestRestorableDateTime."},
    {Kind::invalid_restore_time, false, "RestoreDateTime lies outside of the recovery period.",
     "DescribeContinuousBackups has the earliest and the latest; by the account's clock."},
    {Kind::invalid_signature, false, "The signature is not that of this request and key, or is too old.",
     "Check secret and clock of the client's machine; the account's clock plays no part."},
    {Kind::item_collection_size_limit_exceeded, false,
     "The items of one partition of a table with local indexes outgrow 10 GB (or --collection-bytes-max).",
     "Spread them over partitions, or delete some."},
    {Kind::limit_exceeded, false, "As many of something exist, or are under way, as may.",
     "The message says of what; delete some, or wait."},
    {Kind::missing_authentication_token, false, "The request is not signed.",
     "Give the client credentials; any will do where signatures are not checked."},
    {Kind::point_in_time_recovery_unavailable, false, "Point-in-time recovery is not enabled on the table.",
     "UpdateContinuousBackups enables it."},
    {Kind::policy_not_found, false, "The resource has no policy, or not this revision of it.",
     "PutResourcePolicy first; it may take a moment on AWS."},
    {Kind::provisioned_throughput_exceeded, true,
     "The table's or the partition's throughput is used up. Here a fault alone raises it.",
     "Back off and try again, as AWS's SDKs do; show_faults says which rule struck."},
    {Kind::replicated_write_conflict, true, "Another region is writing to the item, with strong consistency.",
     "Try again."},
    {Kind::request_limit_exceeded, true, "The account's throughput is used up. Here a fault alone raises it.",
     "Back off and try again; show_faults says which rule struck."},
    {Kind::resource_in_use, false, "The table exists already, or is CREATING, UPDATING or DELETING.",
     "Wait until DescribeTable says ACTIVE, or until the table is gone."},
    {Kind::resource_not_found, false,
     "There is no such table, index, stream or shard, in this account and region; or the table is not ACTIVE "
     "yet.",
     "list_tables; compare account (an access key id of twelve digits is one) and region with the writer's."},
    {Kind::serialization, false, "The body is not JSON, or a member has another type than the API's.",
     "An item's values need types, {\"S\":\"a\"}; numbers are strings, {\"N\":\"1\"}."},
    {Kind::table_already_exists, false, "A restore's target table exists.",
     "Choose another name, or delete it first."},
    {Kind::table_in_use, true, "The target table is being created or deleted.",
     "Try again when it is ACTIVE."},
    {Kind::table_not_found, false, "A backup's source table does not exist.",
     "list_tables says which there are."},
    {Kind::throttling, true, "Too many operations on tables. Here a fault alone raises it.",
     "Back off and try again; show_faults says which rule struck."},
    {Kind::transaction_canceled, false,
     "One of the actions could not be done, so none was. CancellationReasons has one entry for each action, "
     "in "
     "order: ConditionalCheckFailed, TransactionConflict, ItemCollectionSizeLimitExceeded, ValidationError, "
     "None.",
     "Find the entry that is not None; a TransactionConflict may be tried again."},
    {Kind::transaction_conflict, true, "A transaction that is under way has the item.", "Try again."},
    {Kind::trimmed_data_access, false,
     "The records are gone: older than 24 hours of the stream's time, or undone by a snapshot's restore.",
     "Take an iterator of TRIM_HORIZON."},
    {Kind::unknown_operation, false, "X-Amz-Target names no operation of this API.", "Check its spelling."},
    {Kind::unrecognized_client, false, "The access key is none that the server knows (--require-signature).",
     "Use a key of --keys, or of the server's environment."},
    {Kind::validation, false, "The request breaks a rule of the API. The message says which.",
     "Change the request; trying it again does not help."},
    {Kind::bad_request, false, "Mayfly's: the HTTP request is malformed.", "The message says how."},
    {Kind::conflict, false,
     "Mayfly's: what there is does not allow it, as moving a clock back while the account has tables.",
     "The message says what is in the way."},
    {Kind::forbidden, false,
     "Mayfly's: a web page of another origin or a foreign Host asks, or a signature is missing.",
     "--cors-origin and --allowed-host allow them."},
    {Kind::method_not_allowed, false, "Mayfly's: the path does not have this method.",
     "The message says which it has."},
    {Kind::not_acceptable, false, "Mayfly's: the client takes no kind of answer that there is.",
     "Accept application/json."},
    {Kind::not_found, false, "Mayfly's: there is no such path, table, snapshot or function.",
     "Compare account and region with the writer's."},
    {Kind::stopped, true,
     "Mayfly's: the call waited, and was told to stop: its caller left, or the server ends.", "Call again."},
    {Kind::timed_out, true, "Mayfly's: what await waits for did not happen in timeout_seconds.",
     "records has what did happen. A frozen clock deletes nothing by itself: advance_clock."},
    {Kind::too_many_waiting, true, "Mayfly's: as many calls as may are waiting already.",
     "Let some end, or raise --waiting-max."},
    {Kind::unsupported_media_type, false,
     "Mayfly's: what changes something needs Content-Type: application/json.", "Send that header."},
};

constexpr KnownMessage messages[] = {
    {"The provided key element does not match the schema",
     "Key has too many, too few or other attributes than the table's primary key, or one of another type.",
     "describe_table has KeySchema and AttributeDefinitions."},
    {"Missing the key", "The item lacks an attribute of the primary key.",
     "Every item has the partition key and, if the table has one, the sort key."},
    {"Type mismatch for key", "A key's attribute has another type than AttributeDefinitions says.",
     "A number is {\"N\":\"7\"}, a string {\"S\":\"7\"}."},
    {"Requested resource not found", "There is no such table in this account and region.",
     "list_tables; compare account and region with the writer's."},
    {"reserved keyword", "An expression uses one of DynamoDB's reserved words as an attribute's name.",
     "Write #name and put it into ExpressionAttributeNames: ttl, name, status, date and data are such "
     "words."},
    {"unused in expressions", "A name or a value was given that no expression uses.", "Leave it out."},
    {"An expression attribute value used in expression is not defined",
     "An expression uses :value, and ExpressionAttributeValues has none of that name.",
     "Add it, with its colon."},
    {"An expression attribute name used in the document path is not defined",
     "An expression uses #name, and ExpressionAttributeNames has none of that name.",
     "Add it, with its number sign."},
    {"Query condition missed key schema element",
     "KeyConditionExpression lacks the partition key's equality.",
     "A query needs `partition = :value`; without one, scan, or query another index."},
    {"Query key condition not supported", "The partition key is compared by something else than =.",
     "Only the sort key takes <, BETWEEN and begins_with."},
    {"The table does not have the specified index", "IndexName is none of the table's.",
     "describe_table lists them."},
    {"Filter Expression can only contain non-primary key attributes",
     "FilterExpression names a key attribute.", "Put it into KeyConditionExpression."},
    {"Cannot update attribute", "UpdateExpression changes an attribute of the primary key.",
     "Keys do not change: delete the item and put it with the other key."},
    {"The document path provided in the update expression is invalid for update",
     "A step of the path does not exist, or is no map or list.",
     "SET the outer map first, with if_not_exists."},
    {"Item size has exceeded the maximum allowed size", "The item is larger than 400 KB, names included.",
     "Split it, or keep the large part elsewhere."},
    {"Item size to update has exceeded the maximum allowed size", "The item would become larger than 400 KB.",
     "Split it, or keep the large part elsewhere."},
    {"Provided list of item keys contains duplicates", "A batch names one item twice.", "Name each once."},
    {"Transaction request cannot include multiple operations on one item",
     "A transaction names one item twice.", "Put condition and change into one action."},
    {"TimeToLive is already", "UpdateTimeToLive wants what is so already.", "show_ttl says how it is."},
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
