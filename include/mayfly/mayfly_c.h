// Mayfly in your own process, for C and for what can call C: DynamoDB for tests, whose items disappear at
// the instant their TTL passes.
//
//   mayfly_handle *mayfly = NULL;
//   char *answer = NULL;
//   if (mayfly_open(NULL, 0, &mayfly, &answer, NULL) != MAYFLY_DONE) return puts(answer);
//   int status = mayfly_execute(mayfly, NULL, NULL, "ListTables", "{}", 2, &answer, NULL);
//   printf("%d %s\n", status, answer);                     // 200 {"TableNames":[]}
//   mayfly_free(answer);
//   mayfly_close(mayfly);
//
// Link with -lmayfly (`pkg-config --cflags --libs mayfly`), or load libmayfly.so.0: here are functions,
// numbers and pointers alone. This file is C11, and C++. docs/c.md of Mayfly has more to paste. What holds
// for every function:
//
// - Threads. Each may be called from any thread, at any time, also while others are in a call on the same
//   handle. A call on a handle that is being closed, or was, or never was one, is answered MAYFLY_CLOSED
//   and does no harm. None calls you back, except a handler of mayfly_set_check_handler. The threads that
//   mayfly_open and mayfly_serve start take no signals. No function changes how the process handles signals:
//   if it has a file size limit (RLIMIT_FSIZE) and a data directory, ignore SIGXFSZ, or a write beyond the
//   limit ends the process.
// - Text in. `account`, `region`, `operation`, `method` and `path` end with a NUL, and have at most 65,535
//   bytes. Bodies and options are JSON in UTF-8 and have a length; NULL with the length 0 is none at all.
//   Nothing is kept, nothing is written to.
// - Text out. `*answer` is UTF-8, ends with a NUL that `*answer_bytes` does not count, and is yours: give
//   it to mayfly_free. Either pointer, or both, may be NULL, for who does not want to know. If it is not,
//   it is always set: to NULL and 0 where there is nothing to say.
// - Results. Not negative: it was done, or asked for and answered. Negative: one of the numbers below, and
//   `*answer` is a sentence for people that says why.
// - Exceptions. None leaves a function. What fails by lack of memory or of storage is a result. A mistake
//   of Mayfly's own aborts the process: see mayfly_set_check_handler.
// - Identity. `account` is twelve digits, or NULL for 000000000000; `region` is letters, digits and
//   hyphens, at most 64, or NULL for the one that the handle was opened with. Each account has in each
//   region tables of its own, and it has one clock.
//
// Functions and numbers stay as docs/contract.md says: what was compiled for a libmayfly.so.0 runs with
// every later libmayfly.so.0.
#ifndef MAYFLY_MAYFLY_C_H
#define MAYFLY_MAYFLY_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// A store with its clocks and endpoints. It is a name, not an address: there is nothing behind it to be
// read, and the name of one that is closed is never given again.
typedef struct mayfly_handle mayfly_handle;

enum {
  MAYFLY_DONE = 0,
  MAYFLY_INVALID = -1,    // an argument means nothing: NULL that must not be, an option that there is not
  MAYFLY_CLOSED = -2,     // the handle is not open
  MAYFLY_FAILED = -3,     // it could not be done: a directory cannot be opened, a port is taken
  MAYFLY_NO_MEMORY = -4,  // for what was asked, or for its answer: then `*answer` is NULL
  MAYFLY_FORKED = -5,     // this process was forked from one that had opened a handle: see mayfly_open
  MAYFLY_NO_ANSWER = -6   // a fault of the kind connection_closed took the answer
};

// "0.1.0". It is there as long as the library is, and not to be freed. Thread-safe; cannot fail.
const char* mayfly_version(void);

// Opens a store and sets `*handle`; to NULL, if it cannot.
//
// `options` is a JSON object whose members are named as the options of `mayfly serve`, without the dashes
// before them: data, fsync, region, shared-regions, clock, now, ttl-mode, ttl-delay-seconds, ttl-seed,
// ttl-window-seconds, ttl-cooldown-seconds, exact-recovery, stream-shards, table-delay-ms,
// collection-bytes-max, function, kinesis-endpoint, destination-dir, bucket, s3-endpoint, accounts-max,
// tables-max, snapshots-max, backups-max, functions-max, mappings-max, mapping-filters-max, memory-max,
// history-max, and log-level, which holds for all of the process and is "warning" at first. Numbers are
// numbers; an option that takes no value on the command line is true or false; one that may be repeated is
// an array of strings, or one string. The environment's MAYFLY_… variables are ignored. NULL is {}.
//
//   {"clock":"frozen","now":"2031-01-01T00:00:00Z","function":["reminder=http://127.0.0.1:9000/"]}
//
// Returns MAYFLY_DONE; MAYFLY_INVALID (no place for the handle; options that are no JSON object, one that
// there is not or that has another type); MAYFLY_FAILED (a directory that cannot be opened, or is open
// already); MAYFLY_NO_MEMORY; MAYFLY_FORKED.
//
// As many may be open as there is room for; each has threads and memory of its own. What is kept in memory
// goes with the handle. Those that are open when the process exits are closed then. Once it is loaded, the
// library stays.
//
// A process that was forked after its parent's first mayfly_open has none of the threads that answer, and
// so can use no handle, its parent's or a new one: every function but mayfly_version and mayfly_free says
// MAYFLY_FORKED there. It can use its parent's endpoints, or exec. Thread-safe.
int mayfly_open(const char* options, size_t options_bytes, mayfly_handle** handle, char** answer,
                size_t* answer_bytes);

// Executes an operation of DynamoDB or of DynamoDB Streams by its name, "PutItem" or "GetRecords", with the
// body that the AWS API has.
//
// Returns the HTTP status that DynamoDB answers with (200, 400, 500; 413 and an empty answer to a body of
// more than 16 MB), and `*answer` is its JSON, also of an error. It answers 400 to a body that is not
// valid JSON in UTF-8. Or it returns MAYFLY_INVALID, MAYFLY_CLOSED, MAYFLY_FORKED, MAYFLY_NO_ANSWER or
// MAYFLY_NO_MEMORY; for want of memory for the answer, when a write may have been done.
//
// Waits for nothing but the latency that a fault has. Thread-safe; calls run at the same time.
int mayfly_execute(mayfly_handle* handle, const char* account, const char* region, const char* operation,
                   const char* body, size_t body_bytes, char** answer, size_t* answer_bytes);

// Makes a call of the control API (docs/control.md): "POST", "/_mayfly/clock/advance", {"seconds":60}. A
// query stands in the path: "/_mayfly/ttl/carts/upcoming?limit=1".
//
// Returns the HTTP status, and `*answer` is the call's JSON, also of a refusal. What goes on for ever, GET
// /_mayfly/events, is for HTTP alone: 406. Or it returns what mayfly_execute may.
//
// Waits as long as the call asks for, an await until the change has come; who closes the handle ends that.
// Thread-safe; calls run at the same time, but for those that move one account's clock, or restore it: each
// of them waits for the other.
int mayfly_control(mayfly_handle* handle, const char* account, const char* region, const char* method,
                   const char* path, const char* body, size_t body_bytes, char** answer,
                   size_t* answer_bytes);

// Moves an account's clock on, and returns when all that fell due on the way is deleted, is gone from
// indexes, and can be read in streams: POST /_mayfly/clock/advance with so many milliseconds.
//
// Returns what mayfly_control does; with 200 the answer is
//
//   {"now":"2031-01-01T01:00:00Z","expired":1,"tables":{"carts":1},"next_expiry":null}
//
// Waits where a failpoint is armed on the way. Thread-safe, as mayfly_control is.
int mayfly_advance(mayfly_handle* handle, const char* account, const char* region, int64_t milliseconds,
                   char** answer, size_t* answer_bytes);

// Serves the store over HTTP, for any AWS SDK, until the handle is closed. A second call makes a second
// endpoint; a handle may have 64.
//
// `options` is as mayfly_open has it, with those of `mayfly serve` that are about this: host, port,
// threads, no-control, mcp-read-only, allowed-host, cors-origin, require-signature, keys, tls-cert, tls-key,
// connections-max, request-seconds-max, request-bytes-max, unread-bytes-max, waiting-max. Without `port` a
// free one is taken, without `host` 127.0.0.1 and ::1. What opens it to others: SECURITY.md.
//
// Returns MAYFLY_DONE, and requests are answered from then on; the answer is
// {"url":"http://127.0.0.1:41234","port":41234}. Or MAYFLY_INVALID (as of mayfly_open; keys that cannot be
// read), MAYFLY_CLOSED, MAYFLY_FAILED (the port is taken, a certificate cannot be read, there are 64),
// MAYFLY_NO_MEMORY, MAYFLY_FORKED. Thread-safe.
int mayfly_serve(mayfly_handle* handle, const char* options, size_t options_bytes, char** answer,
                 size_t* answer_bytes);

// Ends the endpoints, gives memory and directory back, and forgets the handle.
//
// Calls on the handle that other threads are in are waited for: what waits there is told to end, and
// answers as it would if nobody waited for it any more (an await: 503); the rest is finished. Calls that
// begin meanwhile, or later, are answered MAYFLY_CLOSED. Requests that endpoints have begun with are
// answered; then nobody listens.
//
// Returns MAYFLY_DONE when all of it is over; MAYFLY_CLOSED, if the handle is not open (NULL never is), or
// if another thread is closing it, for whom this does not wait; MAYFLY_FORKED. Thread-safe.
int mayfly_close(mayfly_handle* handle);

// Frees an answer. NULL does nothing. Thread-safe.
void mayfly_free(char* answer);

// Called on the thread on which a check of Mayfly's own fails, with the expression ("gates_held == 0") and
// its place in Mayfly's source ("engine/items/transaction.cc", 169). That is a mistake in Mayfly, whatever
// was asked of it.
typedef void (*mayfly_check_handler)(const char* expression, const char* file, int line, void* context);

// Sets the handler of the whole process; NULL for the line on standard error that is written without one.
// When the handler returns, the process aborts: what Mayfly does after a failed check could not be relied
// upon. `context` is passed on. A handler does not call this function.
//
// Returns MAYFLY_DONE, or MAYFLY_NO_MEMORY: then the last handler stays. After it has
// returned, the last handler is no longer called. Thread-safe.
int mayfly_set_check_handler(mayfly_check_handler handler, void* context);

#ifdef __cplusplus
}
#endif

#endif
