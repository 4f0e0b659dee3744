// What transactions have in common, whichever operation asks for them: TransactWriteItems, TransactGetItems,
// ExecuteTransaction.
//
// All writes are one commit, and a reader sees all of them or none. A transaction is refused as a whole with
// a TransactionCanceledException that says of each of its actions why: the condition failed, a rule is
// broken, or nothing. No TransactionConflict is among the reasons and nobody gets a
// TransactionConflictException, which AWS gives to one of two requests that meet at an item: here the second
// waits for the first one's locks.
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
#include "compat/expression/ast.h"
#include "compat/items/write_item.h"
#include "compat/wire/error.h"
#include "compat/wire/json.h"

namespace mayfly::compat {

inline constexpr std::size_t transaction_items_max = 100;
inline constexpr std::size_t transaction_bytes_max = 4 * 1024 * 1024;

// Why a transaction is refused: one reason for each of its actions, in their order.
class CancellationReasons {
 public:
  explicit CancellationReasons(std::size_t actions) : reasons_(actions) {}
  void set(std::size_t action, Error error) { reasons_[action] = std::move(error); }
  [[nodiscard]] bool any() const;
  // "Transaction cancelled, please refer cancellation reasons for specific reasons [ConditionalCheckFailed,
  // None]"
  [[nodiscard]] Unexpected<Error> canceled() const;

 private:
  std::vector<std::optional<Error>> reasons_;
};
// The refusal of a transaction of so many actions of which one alone is to blame.
Unexpected<Error> canceled_by(std::size_t action, std::size_t actions, Error error);

// "Transaction payload size cannot exceed 4 MB"
Unexpected<Error> transaction_too_large();

// The item or the key of an action, as read_item reads it, in the words of transactions: they say only "Empty
// attribute name" of one that has no name.
template <class T>
Result<T> in_transaction(Result<T> read) {
  if (read || read.error().about != Error::About::name) return read;
  return error::validation("Empty attribute name", Error::About::name);
}

// An idempotent request: within ten minutes, one with the same token and digest succeeds without writing; one
// with another digest gets an IdempotentParameterMismatchException.
struct RequestToken {
  std::string_view token;
  std::string digest;
};
// Sixteen bytes that two requests have in common if they mean the same: the order of an object's members is
// nothing to it, nor are members that are null.
std::string request_digest(const json::Value& value);

// Writes all or nothing; and prints into `out`, within the answer's object, ConsumedCapacity and
// ItemCollectionMetrics. Requires: each write has its table and its key.
Result<void> write_transaction(std::vector<ItemWrite> writes, std::optional<RequestToken> token,
                               const WantedAnswer& wanted, Context& context, json::Writer& out);

// One item to read.
struct ItemRead {
  std::shared_ptr<engine::LiveTable> table;
  engine::Item key_item;
  std::string key;  // as key_codec encodes it
  std::optional<expression::Projection> projection;
  bool flat_projection = false;  // PageRequest's
};

// Prints the item as an object, or those parts that the read projects.
void write_item_read(json::Writer& out, const ItemRead& read, const engine::StoredItem& item);

// Reads all at one instant; and prints, within the answer's object, Responses and ConsumedCapacity. Several
// reads of one item are refused. Requires: each read has its key.
Result<void> read_transaction(const std::vector<ItemRead>& reads, ReturnCapacity mode, const Context& context,
                              json::Writer& out);

// ConsumedCapacity's list: one entry for each table, in the order in which they are first named.
class TransactionCapacity {
 public:
  explicit TransactionCapacity(ConsumedCapacity::Of of) : of_(of) {}
  ConsumedCapacity& of_table(std::string_view table_name);
  void write(json::Writer& out, ReturnCapacity mode) const;  // the member; nothing if `mode` is none

 private:
  ConsumedCapacity::Of of_;
  std::vector<ConsumedCapacity> tables_;
};

}  // namespace mayfly::compat
