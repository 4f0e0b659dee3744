#include "compat/streams/told_change.h"

#include "engine/base/check.h"
#include "engine/values/item_codec.h"
#include "engine/values/item_size.h"

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
  const auto wants = [&](engine::StreamView one) {
    return told.stream.view == one || told.stream.view == engine::StreamView::new_and_old_images;
  };
  engine::ChangeRecord& record = told.record;
  record.sequence = change.sequence.value_or(0);
  record.created = change.at;
  record.kind = change.kind;
  record.cause = change.cause;
  record.keys = change.keys();
  record.size_bytes = engine::item_size(record.keys);
  if (!change.old_item.empty() && wants(engine::StreamView::old_image)) {
    record.old_image = engine::decode_item(change.old_item);
    record.size_bytes += engine::stored_item_size(change.old_item);
  }
  if (!change.new_item.empty() && wants(engine::StreamView::new_image)) {
    record.new_image = engine::decode_item(change.new_item);
    record.size_bytes += engine::stored_item_size(change.new_item);
  }
  return told;
}

}  // namespace mayfly::compat
