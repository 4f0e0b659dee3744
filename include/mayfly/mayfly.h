// Mayfly inside your own process: DynamoDB for tests, whose items disappear at the instant their TTL passes.
//
//   mayfly::Emulator emulator;                                   // in memory, no sockets
//   auto answer = emulator.execute("PutItem", R"({"TableName":"carts","Item":{"id":{"S":"1"}}})");
//   assert(answer.status == 200);
//
//   mayfly::Server server;                                       // an endpoint for any AWS SDK
//   use_sdk_with(server.url());                                  // "http://127.0.0.1:41234"
//
// This header promises; everything behind it may change. It includes only the standard library.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace mayfly {

// Thrown when an Emulator or a Server cannot be made: what() is a sentence for people.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using TimePoint = std::chrono::sys_time<std::chrono::milliseconds>;

struct Options {
  std::string data_directory;           // empty: everything in memory
  std::string region = "us-east-1";     // of requests that name none
  // Set: time stands still there until advance() moves it. Not set: the host's time.
  std::optional<TimePoint> frozen_at;
};

struct Answer {
  int status = 200;   // HTTP's: 200, 400, 500
  std::string body;   // JSON, as DynamoDB's
};

// Whose tables: an account of twelve digits and a region. Empty: 000000000000, and the emulator's region.
struct Identity {
  std::string account;
  std::string region;
};

// Thread-safe.
class Emulator {
 public:
  explicit Emulator(Options options = {});
  ~Emulator();
  Emulator(Emulator&&) noexcept;
  Emulator& operator=(Emulator&&) noexcept;

  // Executes an operation by name ("PutItem", "GetRecords") with a JSON body, as the AWS API has it.
  Answer execute(std::string_view operation, std::string_view body, const Identity& identity = {});

  [[nodiscard]] TimePoint now() const;
  // Moves time; returns when everything that fell due on the way is deleted, is gone from indexes and can be read
  // in streams. Frozen time stays frozen, the host's goes on from there. Returns how many items expired.
  std::int64_t advance(std::chrono::milliseconds by);

 private:
  friend class Server;
  struct State;
  std::shared_ptr<State> state_;
};

struct ServerOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;    // 0: a free one
  unsigned threads = 1;
};

// An HTTP endpoint on an emulator; serves from construction to destruction.
class Server {
 public:
  explicit Server(Options options = {}, ServerOptions server_options = {});  // with an emulator of its own
  explicit Server(Emulator& emulator, ServerOptions server_options = {});    // the emulator must outlive it
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] std::string url() const;
  [[nodiscard]] Emulator& emulator();

 private:
  struct State;
  void start(ServerOptions server_options);
  std::unique_ptr<State> state_;
};

}  // namespace mayfly
