// What Mayfly does get to of the files that sources.cmake leaves out.
#include "options/options_parser.h"
#include "trace_replay/trace_replay.h"

namespace ROCKSDB_NAMESPACE {

// DB::Open calls this, and goes on: OPTIONS files are not written.
Status PersistRocksDBOptions(const DBOptions&, const std::vector<std::string>&,
                             const std::vector<ColumnFamilyOptions>&, const std::string&, FileSystem*) {
  return Status::NotSupported("OPTIONS files are not written");
}

// What files of other kinds end with, so that they are told from damaged ones
// (table/plain/plain_table_builder.cc).
extern const std::uint64_t kPlainTableMagicNumber = 0x8242229663bf9564;
extern const std::uint64_t kLegacyPlainTableMagicNumber = 0x4f3418eb7a8f13b8;

// Of traces, which there are none of.
const std::string kTraceMagic;

}  // namespace ROCKSDB_NAMESPACE
