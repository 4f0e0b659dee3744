// Tests a server with one io thread whose writes wait for the disk (--fsync).
#include <catch2/catch.hpp>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <string>
#include <thread>
#include <vector>

#include "compat/server_metrics.h"
#include "tests/support/engine_world.h"
#include "tests/support/http_client.h"
#include "tests/support/running.h"

namespace mayfly::testing {

using compat::Meter;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

namespace {

// A disk on which the test can make a sync of the log wait.
class SlowDisk final : public rocksdb::FileSystemWrapper {
 public:
  SlowDisk() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "SlowDisk"; }

  void stop_syncing() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  void go_on() {
    const std::lock_guard lock(mutex_);
    stopped_ = false;
    changed_.notify_all();
  }
  void wait_until_one_waits() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ > 0; });
  }
  [[nodiscard]] int syncs() const {
    const std::lock_guard lock(mutex_);
    return syncs_;
  }

  IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file, IODebugContext* debug) override {
    IOStatus made = FileSystemWrapper::NewWritableFile(name, options, file, debug);
    if (made.ok() && name.ends_with(".log")) *file = std::make_unique<Log>(std::move(*file), *this);
    return made;
  }

 private:
  class Log final : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    Log(std::unique_ptr<rocksdb::FSWritableFile> file, SlowDisk& disk)
        : FSWritableFileOwnerWrapper(std::move(file)), disk_(disk) {}
    IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
      disk_.sync();
      return FSWritableFileOwnerWrapper::Sync(options, debug);
    }

   private:
    SlowDisk& disk_;
  };

  void sync() {
    std::unique_lock lock(mutex_);
    ++syncs_;
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !stopped_; });
    --waiting_;
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  int waiting_ = 0, syncs_ = 0;
};

struct Durable {
  Durable() {
    compat::EmulatorOptions options;
    options.database.directory = directory.path();
    options.database.fsync = true;
    options.database.env = env.get();
    running = std::make_unique<Running>(http::ServerSettings{}, std::move(options));
    running->create_table("carts", true);
  }
  [[nodiscard]] std::int64_t waiting() const {
    return running->emulator->server_metrics().of(Meter::waiting_locks);
  }
  [[nodiscard]] static std::string put(int id) {
    return operation_request("PutItem",
                             R"({"TableName":"carts","Item":{"id":{"S":")" + std::to_string(id) + "\"}}}");
  }
  [[nodiscard]] nlohmann::json get(int id) const {
    return nlohmann::json::parse(
        running
            ->ask(operation_request(
                "GetItem", R"({"TableName":"carts","Key":{"id":{"S":")" + std::to_string(id) + "\"}}}"))
            .body);
  }

  TemporaryDirectory directory;
  std::shared_ptr<SlowDisk> disk = std::make_shared<SlowDisk>();
  std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(disk);
  std::unique_ptr<Running> running;
};

}  // namespace

TEST_CASE("reads and health checks are served while writes wait for fsync", "[fsync]") {
  Durable world;
  CHECK(world.running->ask(Durable::put(0)).status == 200);
  world.disk->stop_syncing();
  HttpClient first(world.running->port());
  first.send(Durable::put(1));
  world.disk->wait_until_one_waits();

  CHECK(world.get(0).contains("Item"));
  CHECK_FALSE(world.get(1).contains("Item"));  // a power failure could still undo the write
  CHECK(world.running->ask(http_request("GET", "/_mayfly/health")).status == 200);
  CHECK(world.running->ask(operation_request("ListTables", "{}")).status == 200);
  while (world.waiting() != 1) std::this_thread::yield();  // ListTables may still be in the queue

  world.disk->go_on();
  CHECK(first.receive().status == 200);
  CHECK(world.get(1).contains("Item"));
}

TEST_CASE("concurrent writes share an fsync even with one io thread", "[fsync]") {
  Durable world;
  world.disk->stop_syncing();
  constexpr int writers = 20;
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int id = 0; id < writers; ++id) {
    clients.push_back(std::make_unique<HttpClient>(world.running->port()));
    clients.back()->send(Durable::put(id));
  }
  while (world.waiting() < writers) std::this_thread::yield();
  const int before = world.disk->syncs();
  world.disk->go_on();
  for (const auto& client : clients) CHECK(client->receive().status == 200);
  CHECK(world.disk->syncs() - before < writers - 1);
  for (int id = 0; id < writers; ++id) CHECK(world.get(id).contains("Item"));
}

TEST_CASE("pipelined requests on one connection are answered in order even if writes wait for fsync",
          "[fsync]") {
  Durable world;
  HttpClient client(world.running->port());
  std::string requests;
  for (int id = 0; id < 5; ++id) {
    requests += Durable::put(id);
    requests += operation_request(
        "GetItem", R"({"TableName":"carts","Key":{"id":{"S":")" + std::to_string(id) + "\"}}}");
  }
  client.send(requests);
  for (int id = 0; id < 5; ++id) {
    CHECK(client.receive().body == "{}");
    CHECK(nlohmann::json::parse(client.receive().body)["Item"]["id"]["S"] == std::to_string(id));
  }
}

}  // namespace mayfly::testing
