// The ceiling for the in-process measurements: RocksDB alone, in memory, with the same bytes.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/table.h>
#include <string>

namespace mayfly::bench {

class RawStore {
 public:
  RawStore() : memory_(rocksdb::NewMemEnv(rocksdb::Env::Default())) {
    // The options that engine/storage/storage.cc uses in memory.
    rocksdb::Options options;
    options.env = memory_.get();
    options.create_if_missing = true;
    options.compression = rocksdb::kNoCompression;
    options.write_buffer_size = 32 << 20;
    options.allow_concurrent_memtable_write = false;
    options.enable_write_thread_adaptive_yield = false;
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = rocksdb::NewLRUCache(8 << 20, 0);
    table.checksum = rocksdb::kNoChecksum;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    rocksdb::DB* db = nullptr;
    check(rocksdb::DB::Open(options, "/raw", &db));
    db_.reset(db);
    write_.disableWAL = true;
  }

  static void check(const rocksdb::Status& status) {
    if (status.ok()) return;
    std::fprintf(stderr, "RocksDB: %s\n", status.ToString().c_str());
    std::exit(1);
  }

  void put(const std::string& key, const std::string& value) { check(db_->Put(write_, key, value)); }
  void get(const std::string& key, std::string& value) { check(db_->Get({}, key, &value)); }
  void write(rocksdb::WriteBatch& batch) { check(db_->Write(write_, &batch)); }
  std::unique_ptr<rocksdb::Iterator> iterator() {
    return std::unique_ptr<rocksdb::Iterator>(db_->NewIterator({}));
  }

 private:
  std::unique_ptr<rocksdb::Env> memory_;  // declared first, because it must outlive the database
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::WriteOptions write_;
};

}  // namespace mayfly::bench
