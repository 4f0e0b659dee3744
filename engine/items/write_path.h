// The parts of the engine that a transaction works with. Every write to an item uses these parts, and no
// other code writes items.
#pragma once

#include <cstddef>
#include <functional>

#include "engine/schema/table.h"
#include "engine/time/expiry_index.h"
#include "engine/values/attribute_value.h"

namespace mayfly::engine {

class Account;
class BeforeImages;
class Catalog;
class Committer;
class Failpoints;
class LockTable;
class RegionClaims;
class RequestTokens;
class Storage;

// Requires: all referenced parts outlive this object.
struct WritePath {
  const Storage& storage;
  const Catalog& catalog;
  Committer& committer;
  BeforeImages& before_images;
  const ExpiryIndex& expiry;
  RequestTokens& tokens;
  LockTable& locks;
  Failpoints& failpoints;
  RegionClaims& region_claims;

  // The next two functions are called after a commit, on the thread that committed. Requires: both functions
  // are set before the first transaction.
  std::function<void(std::size_t bytes)> versions_written;  // old versions of items were stored
  std::function<void(Account& account)> sent_to_replicas;   // writes were queued for replicas
  // Called once per table and reason, for the first item that never expires (DatabaseOptions); may be empty.
  std::function<void(const Table& table, const Item& key, NeverReason reason, const AttributeValue& ttl)>
      never_expires;
};

}  // namespace mayfly::engine
