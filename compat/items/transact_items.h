// Code shared by all operations with transactions: TransactWriteItems, TransactGetItems, ExecuteTransaction.
//
// All writes of a transaction form one commit, so a reader sees either all of them or none. A transaction
// succeeds or fails as a whole. On failure, TransactionCanceledException gives a reason for each action: a
// failed condition, a broken rule, or "None".
//
// TransactionConflict is never among the reasons, and no client receives a TransactionConflictException. AWS
// returns these to one of two requests that use the same item at the same time; here the second request waits
// for the locks of the first one.
//
//   … the operation's own rules: which table, which key …
//   return write_transaction(std::move(writes), RequestToken{token, request_digest(items)}, wanted,
//                            context, out);
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/context.h"
#include "compat/items/write_item.h"
#include "compat/json/json.h"
#include "compat/syntax/ast.h"
#include "compat/wire/error.h"

namespace mayfly::compat {

inline constexpr std::size_t transaction_items_max = 100;
inline constexpr std::size_t transaction_bytes_max = 4 * 1024 * 1024;

// The cancellation reasons of a transaction: one per action, in order.
class CancellationReasons {
 public:
  explicit CancellationReasons(std::size_t actions) : reasons_(actions) {}
  void set(std::size_t action, Error error) { reasons_[action] = std::move(error); }
  [[nodiscard]] bool any() const;
  // Returns the error "Transaction cancelled, please refer cancellation reasons for specific reasons
  // [ConditionalCheckFailed, None]".
  [[nodiscard]] Unexpected<Error> canceled() const;

 private:
  std::vector<std::optional<Error>> reasons_;
};
// Returns the error of a transaction that has `actions` actions and is canceled because only `action` failed.
Unexpected<Error> canceled_by(std::size_t action, std::size_t actions, Error error);

// Returns the error "Transaction payload size cannot exceed 4 MB".
Unexpected<Error> transaction_too_large();

// Returns the result of read_item for an action's item or key. Errors are worded as in transactions, which
// report an empty attribute name only as "Empty attribute name".
template <class T>
Result<T> in_transaction(Result<T> read) {
  if (read || read.error().about != Error::About::name) return read;
  return error::validation("Empty attribute name", Error::About::name);
}

// Makes a request idempotent. Within ten minutes, a request with the same token and digest succeeds without
// writing; a request with the same token and another digest fails with IdempotentParameterMismatchException.
struct RequestToken {
  std::string_view token;
  std::string digest;
};
// Returns sixteen bytes that are equal for requests with the same meaning. The order of an object's members
// does not matter, and null members are ignored.
std::string request_digest(const json::Value& value);

// Performs all writes or none. Writes ConsumedCapacity and ItemCollectionMetrics into the open response
// object `out`. Requires: each write has its table and its key.
Result<void> write_transaction(std::vector<ItemWrite> writes, std::optional<RequestToken> token,
                               const WantedAnswer& wanted, const Context& context, json::Writer& out);

// One item to read.
struct ItemRead {
  std::shared_ptr<engine::LiveTable> table;
  engine::Item key_item;
  std::string key;  // as key_codec encodes it
  std::optional<expression::Projection> projection;
  bool flat_projection = false;  // as in PageRequest
};

// Writes the item as an object, reduced to the read's projection if it has one.
void write_item_read(json::Writer& out, const ItemRead& read, const engine::StoredItem& item);

// Performs all reads at one instant. Writes Responses and ConsumedCapacity into the open response object
// `out`. Rejects two reads of the same item. Requires: each read has its key.
Result<void> read_transaction(const std::vector<ItemRead>& reads, ReturnCapacity mode, const Context& context,
                              json::Writer& out);

// ConsumedCapacity as a list: one entry per table, in the order in which the tables first occur.
class TransactionCapacity {
 public:
  explicit TransactionCapacity(ConsumedCapacity::Of of) : of_(of) {}
  ConsumedCapacity& of_table(std::string_view table_name);
  void write(json::Writer& out, ReturnCapacity mode) const;  // writes the member if the request asks for it

 private:
  ConsumedCapacity::Of of_;
  std::vector<ConsumedCapacity> tables_;
};

}  // namespace mayfly::compat
