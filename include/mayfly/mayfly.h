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

// Thrown when an Emulator or a Server cannot be made: what() is a sentence for people.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A check of Mayfly's own that failed. It is a mistake in Mayfly, whatever was asked of it.
struct FailedCheck {
  std::string_view expression;  // "gates_held == 0"
  std::string_view file;        // of Mayfly's source: "engine/items/transaction.cc"
  int line = 0;
};

// Sets what is called on the thread on which a check fails, for the whole process. When the handler returns
// or throws, the process aborts: what Mayfly does after a failed check could not be relied upon. Without a
// handler, or with an empty one, a line on standard error says the same. Thread-safe, but not to be called by
// a handler.
void set_check_handler(std::function<void(const FailedCheck&)> handler);

using TimePoint = std::chrono::sys_time<std::chrono::milliseconds>;

// How much of what clients can make there may be: SECURITY.md says what who asks for more is told.
struct Limits {
  std::size_t accounts = 10'000;
  std::size_t tables = 2'500;      // of an account in a region
  std::size_t snapshots = 1'000;   // of an account
  std::size_t backups = 1'000;     // of an account
  std::size_t functions = 1'000;   // that all accounts register
  std::size_t mappings = 1'000;    // of all accounts, to functions
  std::uint64_t memory_bytes = 0;  // of what is kept in memory; 0: half of what the process may have
  std::uint64_t history_bytes = std::uint64_t{1} << 30;  // of old versions of items, for backups and recovery
};

struct Options {
  // Empty: everything in memory. Mayfly does not change how the process handles signals: if
  // the process has a file size limit (RLIMIT_FSIZE), ignore SIGXFSZ, or a write beyond it ends the process.
  std::string data_directory;
  std::string region = "us-east-1";   // of requests that name none
  std::string destination_directory;  // triggers write failed batches to files below it alone; empty: to none
  std::map<std::string, std::string> buckets{};  // S3's, of exports and imports: names to directories
  // Where buckets of all other names are, an http:// URL; empty: there are none. Requests are signed with the
  // key that AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN say, if they do.
  std::string s3_endpoint{};
  // Set: every account's time begins there, and stands still until it is moved. Not set: the host's time.
  std::optional<TimePoint> frozen_at;
  // Tables that have point-in-time recovery can be restored to any instant up to now; on AWS, and without
  // this, up to five minutes ago.
  bool exact_recovery = false;
  Limits limits;
};

struct Answer {
  int status = 200;  // HTTP's: 200, 400, 500; 0: a fault of the kind connection_closed took the answer
  std::string body;  // JSON, as DynamoDB's
};

// Whose tables: an account of twelve digits and a region. Empty: 000000000000, and the emulator's region.
struct Identity {
  std::string account;
  std::string region;
};

// An account's time.
struct Clock {
  enum class Mode {
    real,    // the host's
    frozen,  // stands still until it is moved
    offset,  // as fast as the host's, but elsewhere
    rate,    // `rate` times as fast
  };
  Mode mode = Mode::real;
  double rate = 1;
  TimePoint now;
};

// What moving a clock brought about.
struct Advanced {
  TimePoint now;
  std::int64_t expired = 0;                    // items that fell due on the way, and are deleted
  std::map<std::string, std::int64_t> tables;  // of them, by table
  std::optional<TimePoint> next_expiry;        // nothing: nothing is going to expire by itself
  // By table and reason, the items whose TTL can never expire them: "milliseconds", "string", "wrong_type",
  // "too_old".
  std::map<std::string, std::map<std::string, std::int64_t>> never;
  // By table, the items deleted at once since the last advance, because their TTL had passed when they were
  // written.
  std::map<std::string, std::int64_t> born_expired;
};

// From one region of an account to another: how writes to a global table get to its replica there.
struct Way {
  std::string from, to;
  bool paused = false;
  std::chrono::milliseconds lag{0};  // by the account's clock
};

// Why an item is still there, or is not: docs/control.md has the reasons.
struct Explanation {
  std::string reason;                   // "not_due", "milliseconds", …
  std::string message;                  // a sentence for people
  std::optional<TimePoint> expires_at;  // nothing: never
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

  // A call of the control API (docs/control.md): "POST", "/_mayfly/clock/advance", R"({"seconds":60})". What
  // follows are such calls by name; they throw std::logic_error, with the refusal's message, where the answer
  // is no 200.
  Answer control(std::string_view method, std::string_view path, std::string_view body = {},
                 const Identity& identity = {});

  // --- the account's clock
  [[nodiscard]] TimePoint now(const Identity& identity = {}) const;
  [[nodiscard]] Clock clock(const Identity& identity = {});
  // Now, or at an instant: later than now, unless the account has no tables.
  Advanced freeze(std::optional<TimePoint> at = {}, const Identity& identity = {});
  // From its present time on, so many times as fast as the host's.
  Advanced run_at(double rate, const Identity& identity = {});
  // The host's time: later than now, unless the account has no tables.
  Advanced run_real(const Identity& identity = {});
  // Moves time; returns when everything that fell due on the way is deleted, is gone from indexes and can be
  // read in streams. Frozen time stays frozen, the host's goes on from there.
  Advanced advance(std::chrono::milliseconds by, const Identity& identity = {});
  Advanced advance_to(TimePoint instant, const Identity& identity = {});
  // If nothing is going to expire, nothing changes.
  Advanced advance_to_next_expiry(const Identity& identity = {});

  // --- time to live
  // Deletes what is due, whatever the table's mode; returns how many items that were.
  std::int64_t sweep(std::string_view table, const Identity& identity = {});
  // Why an item of this key is still there: R"({"id":{"S":"1"}})".
  Explanation explain(std::string_view table, std::string_view key_json, const Identity& identity = {});

  // --- global tables
  // How an account's writes get from `way.from` to `way.to` from now on.
  void set_replication(const Way& way, const Identity& identity = {});
  // Returns when every write that may have arrived by now has; those on a paused way, or whose lag is not
  // over, are left. How many those are.
  std::int64_t settle_replication(const Identity& identity = {});

  // --- all of an account: tables, items, expiries, streams and clock
  std::string take_snapshot(const Identity& identity = {});  // its id
  void restore_snapshot(std::string_view id, const Identity& identity = {});
  void delete_snapshot(std::string_view id, const Identity& identity = {});
  void reset(const Identity& identity = {});  // tables, streams, snapshots, mappings, faults, clock

 private:
  friend class Server;
  struct State;
  std::shared_ptr<State> state_;
};

struct ServerOptions {
  std::string host = "localhost";  // an address, or "localhost": 127.0.0.1 and, if there is one, ::1
  std::uint16_t port = 0;          // 0: a free one
  unsigned threads = 1;
  bool control = true;  // /_mayfly/… by HTTP beyond health, and changes of event source mappings
  std::vector<std::string> allowed_hosts{};  // names with a dot that requests may have in Host
  std::vector<std::string> cors_origins{};   // whose pages may use it from a browser; "*": all
  // Answer only who signs with a key of the file (as AWS's credentials files are), or, if none is named, with
  // that of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. Of /_mayfly/… health alone needs no signature.
  bool require_signature = false;
  std::string keys_file{};
  std::string tls_cert_file{}, tls_key_file{};  // PEM; with both it speaks https://
  // Bounds of what clients can make it hold or wait for, as the options of the same names (SECURITY.md).
  std::size_t connections_max = 10'000;
  std::chrono::milliseconds request_time_max{300'000};  // of a request's way in, and of its answer's way out
  std::size_t request_bytes_max = 256 * 1024 * 1024;    // of all requests under way; at least 32 MB
  std::size_t unread_bytes_max = 256 * 1024 * 1024;     // of all answers nobody reads; at least 32 MB
  std::size_t waiting_max = 128;                        // requests of each kind that wait for something
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
