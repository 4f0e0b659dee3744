// Mayfly in your own process: DynamoDB for tests, with items that disappear at the instant their TTL passes.
//
//   mayfly::Emulator emulator;                                   // in memory, no sockets
//   auto answer = emulator.execute("PutItem", R"({"TableName":"carts","Item":{"id":{"S":"1"}}})");
//   assert(answer.status == 200);
//
//   mayfly::Server server;                                       // an endpoint for any AWS SDK
//   use_sdk_with(server.url());                                  // "http://127.0.0.1:41234"
//
// This header is stable as docs/contract.md describes. Everything behind it may change. It includes only the
// standard library.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly {

// Thrown when an Emulator or a Server cannot be constructed. what() is a human-readable message.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A failed internal check. It is always a bug in Mayfly: no request can cause one.
struct FailedCheck {
  std::string_view expression;  // "gates_held == 0"
  std::string_view file;        // in Mayfly's source: "engine/items/transaction.cc"
  int line = 0;
};

// Sets the function that is called when an internal check fails anywhere in the process. It is called on the
// thread where the check fails. When the handler returns or throws, the process aborts, because nothing that
// Mayfly does after a failed check is reliable. Without a handler, or with an empty one, Mayfly writes a line
// to standard error and aborts. Thread-safe. A handler must not call this function.
void set_check_handler(std::function<void(const FailedCheck&)> handler);

using TimePoint = std::chrono::sys_time<std::chrono::milliseconds>;

// Limits on what clients can create. SECURITY.md lists the error for each limit.
struct Limits {
  std::size_t accounts = 10'000;
  std::size_t tables = 2'500;      // per account and region
  std::size_t snapshots = 1'000;   // per account
  std::size_t backups = 1'000;     // per account
  std::size_t functions = 1'000;   // registered by all accounts
  std::size_t mappings = 1'000;    // event source mappings of all accounts
  std::uint64_t memory_bytes = 0;  // data in memory; 0: half of the memory that the process can use
  std::uint64_t history_bytes = std::uint64_t{1} << 30;  // old versions of items, for backups and recovery
};

struct Options {
  // If empty, all data is in memory. Mayfly does not change how the process handles signals. If the process
  // has a file size limit (RLIMIT_FSIZE), ignore SIGXFSZ; otherwise a write beyond the limit ends the
  // process.
  std::string data_directory;
  std::string region = "us-east-1";   // used for requests without a region
  std::string destination_directory;  // where triggers can write failed batches; empty: disabled
  // The directories that are used as S3 buckets for exports and imports, by bucket name.
  std::map<std::string, std::string> buckets{};
  // The http:// URL of a server with all other buckets. If empty, no other buckets exist. Requests are signed
  // with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN if these variables are set.
  std::string s3_endpoint{};
  // The time at which each account's clock starts; the clock is frozen. If not set, clocks follow the host's.
  std::optional<TimePoint> frozen_at;
  // Tables with point-in-time recovery can be restored to any time up to now. Without this option, as on AWS,
  // the latest time to which a table can be restored is five minutes ago.
  bool exact_recovery = false;
  Limits limits;
};

struct Answer {
  int status = 200;  // HTTP status: 200, 400 or 500; 0 if a connection_closed fault dropped the response
  std::string body;  // JSON, in DynamoDB's format
};

// An account id of twelve digits, and a region. Empty members mean account 000000000000 and the emulator's
// region.
struct Identity {
  std::string account;
  std::string region;
};

// An account's clock.
struct Clock {
  enum class Mode {
    real,    // follows the host's clock
    frozen,  // changes only when it is moved
    offset,  // runs at the speed of the host's clock, with a constant offset
    rate,    // runs `rate` times as fast as the host's clock
  };
  Mode mode = Mode::real;
  double rate = 1;
  TimePoint now;
};

// The result of moving a clock.
struct Advanced {
  TimePoint now;
  std::int64_t expired = 0;                    // items that expired and were deleted
  std::map<std::string, std::int64_t> tables;  // expired items per table
  std::optional<TimePoint> next_expiry;        // nullopt if no item will expire automatically
  // Items whose TTL can never expire them, per table and reason: "milliseconds", "string", "wrong_type" or
  // "too_old".
  std::map<std::string, std::map<std::string, std::int64_t>> never;
  // Per table, the number of items that were written since the last advance and deleted immediately, because
  // their TTL had already passed.
  std::map<std::string, std::int64_t> born_expired;
};

// How writes to global tables travel from one region of an account to another.
struct Route {
  std::string from, to;
  bool paused = false;
  std::chrono::milliseconds lag{0};  // measured by the account's clock
};

// Why an item has or has not expired. docs/control.md lists the reasons.
struct Explanation {
  std::string reason;                   // for example "not_due" or "milliseconds"
  std::string message;                  // a human-readable sentence
  std::optional<TimePoint> expires_at;  // nullopt if the item never expires
};

// A store with DynamoDB's API. Thread-safe.
class Emulator {
 public:
  explicit Emulator(Options options = {});
  ~Emulator();
  Emulator(Emulator&&) noexcept;
  Emulator& operator=(Emulator&&) noexcept;

  // Executes an operation of DynamoDB or DynamoDB Streams ("PutItem", "GetRecords"). `body` is the request's
  // JSON, as in the AWS API.
  Answer execute(std::string_view operation, std::string_view body, const Identity& identity = {});

  // Makes a call to the control API (docs/control.md), such as "POST", "/_mayfly/clock/advance",
  // R"({"seconds":60})". The functions below make such calls by name. They throw std::logic_error with the
  // error's message if the status is not 200.
  Answer control(std::string_view method, std::string_view path, std::string_view body = {},
                 const Identity& identity = {});

  // --- the account's clock
  [[nodiscard]] TimePoint now(const Identity& identity = {}) const;
  [[nodiscard]] Clock clock(const Identity& identity = {});
  // Freezes the clock at its current time or at `at`. If the account has tables, `at` must not be earlier
  // than the current time.
  Advanced freeze(std::optional<TimePoint> at = {}, const Identity& identity = {});
  // Continues from the current time, `rate` times as fast as the host's clock.
  Advanced run_at(double rate, const Identity& identity = {});
  // Makes the clock follow the host's clock again. If the account has tables, the host's time must not be
  // earlier than the account's time.
  Advanced run_real(const Identity& identity = {});
  // Moves the clock forward. When this returns, every item that expired in between is deleted, indexes no
  // longer contain it, and its stream record can be read. A frozen clock stays frozen; other clocks continue.
  Advanced advance(std::chrono::milliseconds by, const Identity& identity = {});
  Advanced advance_to(TimePoint instant, const Identity& identity = {});
  // Moves the clock to the time at which the next item expires. Does nothing if no item will
  // expire automatically.
  Advanced advance_to_next_expiry(const Identity& identity = {});

  // --- time to live
  // Deletes the expired items of a table, in any TTL mode. Returns the number of items deleted.
  std::int64_t sweep(std::string_view table, const Identity& identity = {});
  // Explains why the item with a key such as R"({"id":{"S":"1"}})" has or has not expired.
  Explanation explain(std::string_view table, std::string_view key_json, const Identity& identity = {});

  // --- global tables
  // Sets whether, and how fast, an account's writes travel from `route.from` to `route.to`.
  void set_replication(const Route& route, const Identity& identity = {});
  // Waits until every write whose lag has passed has arrived. Returns the number of writes that are still in
  // flight, because their route is paused or their lag has not passed.
  std::int64_t settle_replication(const Identity& identity = {});

  // --- all of an account: tables, items, expiries, streams and clock
  std::string take_snapshot(const Identity& identity = {});  // returns its id
  void restore_snapshot(std::string_view id, const Identity& identity = {});
  void delete_snapshot(std::string_view id, const Identity& identity = {});
  // Removes tables, streams, snapshots, mappings and faults, and restarts the clock.
  void reset(const Identity& identity = {});

 private:
  friend class Server;
  struct State;
  std::shared_ptr<State> state_;
};

struct ServerOptions {
  std::string host = "localhost";  // an address, or "localhost" for 127.0.0.1 and, if available, ::1
  std::uint16_t port = 0;          // 0: any free port
  unsigned threads = 1;
  bool control = true;  // false: /_mayfly/ serves only health checks; event source mappings cannot be changed
  std::vector<std::string> allowed_hosts{};  // names with a dot that Host headers can contain
  std::vector<std::string> cors_origins{};   // origins whose web pages can call the server; "*": all
  // Rejects requests that are not signed with a known key. The keys are in `keys_file`, in the format of
  // AWS's credentials files. If `keys_file` is empty, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY contain the
  // key. The health check needs no signature.
  bool require_signature = false;
  std::string keys_file{};
  std::string tls_cert_file{}, tls_key_file{};  // PEM files; with both, the server speaks HTTPS
  // Limits on connections, memory and waiting requests. SECURITY.md describes the options of the same names.
  std::size_t connections_max = 10'000;
  std::chrono::milliseconds request_time_max{300'000};  // to receive a request, and to send its response
  std::size_t request_bytes_max = 256 * 1024 * 1024;    // all in-flight requests; at least 32 MB
  std::size_t unread_bytes_max = 256 * 1024 * 1024;     // all unread responses; at least 32 MB
  std::size_t waiting_max = 128;                        // waiting requests of each kind
};

// An HTTP endpoint for an emulator. It serves requests until it is destroyed.
class Server {
 public:
  explicit Server(Options options = {}, ServerOptions server_options = {});  // with its own emulator
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
