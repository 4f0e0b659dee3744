#include "compat/streams/told_change.h"

#include "engine/base/check.h"

namespace mayfly::compat {

ToldChange told(const engine::Change& change) {
  MAYFLY_CHECK(!engine::ChangeFeed::telling());
  const engine::Table& table = *change.table;
  ToldChange told{.table_name = table.name, .stream = {}, .record = {}};
  if (table.stream) {
    told.stream = *table.stream;
  } else {
    told.stream.table = table.id;
    told.stream.account = table.account;
    told.stream.region = table.region;
    told.stream.table_name = table.name;
  }
  // The change is encoded and decoded as in the change log, so that the record equals the one in the log.
  std::string bytes =
      engine::encode_record(change.cause, told.stream.view, change.keys(), change.old_item, change.new_item);
  engine::set_record_created(bytes, change.at);
  told.record = engine::decode_record(change.sequence.value_or(0), bytes);
  return told;
}

}  // namespace mayfly::compat
