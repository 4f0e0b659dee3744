// Mayfly in your own process, for C and every language that can call C: DynamoDB for tests, with items that
// disappear at the instant their TTL passes.
//
//   mayfly_handle *mayfly = NULL;
//   char *answer = NULL;
//   if (mayfly_open(NULL, 0, &mayfly, &answer, NULL) != MAYFLY_DONE) return puts(answer);
//   int status = mayfly_execute(mayfly, NULL, NULL, "ListTables", "{}", 2, &answer, NULL);
//   printf("%d %s\n", status, answer);                     // 200 {"TableNames":[]}
//   mayfly_free(answer);
//   mayfly_close(mayfly);
//
// Link with -lmayfly (`pkg-config --cflags --libs mayfly`), or load libmayfly.so.0: its interface consists of
// functions, numbers and pointers. This file is valid C11 and C++. docs/c.md has longer examples. These rules
// hold for all functions:
//
// - Threads. Any thread can call any function at any time, including while other threads use the same handle.
//   A call with a handle that is closed, is being closed or never existed returns MAYFLY_CLOSED and does no
//   harm. Mayfly calls your code only through mayfly_set_check_handler. The threads that mayfly_open and
//   mayfly_serve start receive no signals. No function changes how the process handles signals. If the
//   process has a file size limit (RLIMIT_FSIZE) and a data directory, ignore SIGXFSZ; otherwise a write
//   beyond the limit ends the process.
// - Input. `account`, `region`, `operation`, `method` and `path` end with a NUL and have at most 65,535
//   bytes. Bodies and options are JSON in UTF-8 and have a length. NULL with length 0 means that there is no
//   text. No function keeps or changes its input.
// - Output. `*answer` is UTF-8 and ends with a NUL, which `*answer_bytes` does not count. You own it: free it
//   with mayfly_free. Either pointer can be NULL if you do not need the value. Every function sets both
//   values, to NULL and 0 if it has nothing to return.
// - Results. A result of 0 or more means that the call was made: it is MAYFLY_DONE or an HTTP status. A
//   negative result is one of the errors below, and `*answer` is a message that explains it.
// - Exceptions. No function throws. A call that fails for lack of memory or storage returns an error.
//   A bug in Mayfly aborts the process: see mayfly_set_check_handler.
// - Accounts and regions. `account` has twelve digits; NULL means 000000000000. `region` has at most 64
//   letters, digits, '-', '_' and '.'; NULL means the handle's region. Each account has separate tables in
//   each region, and one clock.
//
// Functions and numbers are stable as docs/contract.md describes: a program that was compiled for one
// libmayfly.so.0 runs with every later libmayfly.so.0.
#ifndef MAYFLY_MAYFLY_C_H
#define MAYFLY_MAYFLY_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// A store with its clocks and endpoints. A handle is a number, not an address: do not dereference it. The
// handle of a closed store is never reused.
typedef struct mayfly_handle mayfly_handle;

enum {
  MAYFLY_DONE = 0,
  MAYFLY_INVALID = -1,    // an invalid argument, such as a required pointer that is NULL or an unknown option
  MAYFLY_CLOSED = -2,     // the handle is not open
  MAYFLY_FAILED = -3,     // the system refused, for example to open a directory or a port
  MAYFLY_NO_MEMORY = -4,  // not enough memory for the call or for its answer; `*answer` is NULL
  MAYFLY_FORKED = -5,     // this process was forked after its parent opened a handle: see mayfly_open
  MAYFLY_NO_ANSWER = -6   // a connection_closed fault dropped the answer
};

// Returns the version, such as "0.1.0", in static memory: do not free it. Thread-safe; cannot fail.
const char* mayfly_version(void);

// Opens a store and sets `*handle`. If this fails, `*handle` is NULL.
//
// `options` is a JSON object. Its members have the names of options of `mayfly serve`, without the leading
// dashes: data, fsync, region, shared-regions, clock, now, ttl-mode, ttl-delay-seconds, ttl-seed,
// ttl-window-seconds, ttl-cooldown-seconds, exact-recovery, stream-shards, table-delay-ms,
// collection-bytes-max, function, kinesis-endpoint, destination-dir, bucket, s3-endpoint, accounts-max,
// tables-max, snapshots-max, backups-max, functions-max, mappings-max, mapping-filters-max, memory-max,
// history-max and log-level. log-level applies to the whole process; its default is "warning". Numbers are
// JSON numbers. An option that takes no value on the command line is a boolean. A repeatable option is a
// string or an array of strings. The MAYFLY_… environment variables are ignored. NULL means {}.
//
//   {"clock":"frozen","now":"2031-01-01T00:00:00Z","function":["reminder=http://127.0.0.1:9000/"]}
//
// Returns MAYFLY_DONE; MAYFLY_INVALID if `handle` is NULL, or `options` is not a JSON object, has an unknown
// member or a member of the wrong type; MAYFLY_FAILED if the data directory cannot be opened or is in use;
// MAYFLY_NO_MEMORY; MAYFLY_FORKED.
//
// A process can open any number of stores. Each has its own threads and memory. Data in memory is lost when
// the store's handle is closed. When the process exits, open handles are closed. The library cannot be
// unloaded.
//
// A process that was forked after its parent's first mayfly_open has none of the parent's threads, so it
// cannot use the parent's handles or open its own: all functions except mayfly_version and mayfly_free return
// MAYFLY_FORKED. It can call the parent's endpoints, or exec. Thread-safe.
int mayfly_open(const char* options, size_t options_bytes, mayfly_handle** handle, char** answer,
                size_t* answer_bytes);

// Executes an operation of DynamoDB or DynamoDB Streams, such as "PutItem" or "GetRecords". `body` is the
// request's JSON, as in the AWS API.
//
// Returns the HTTP status that DynamoDB would return: 200, 400 or 500. `*answer` is the response's JSON,
// which can be an error. A body that is not valid JSON in UTF-8 gets 400; a body of more than 16 MB gets 413
// and an empty answer. Otherwise returns MAYFLY_INVALID, MAYFLY_CLOSED, MAYFLY_FORKED, MAYFLY_NO_ANSWER or
// MAYFLY_NO_MEMORY. If there is no memory for the answer, a write may have been made.
//
// Does not wait, except for the latency that a fault adds. Thread-safe; calls run in parallel.
int mayfly_execute(mayfly_handle* handle, const char* account, const char* region, const char* operation,
                   const char* body, size_t body_bytes, char** answer, size_t* answer_bytes);

// Makes a call to the control API (docs/control.md), such as "POST", "/_mayfly/clock/advance",
// {"seconds":60}. `path` can have a query: "/_mayfly/ttl/carts/upcoming?limit=1".
//
// Returns the HTTP status. `*answer` is the response's JSON, which can be an error. GET /_mayfly/events,
// which never ends, is available only over HTTP; here it gets 406. Otherwise returns the errors of
// mayfly_execute.
//
// A call can wait, for example an await for a change. mayfly_close ends such calls. Thread-safe; calls run in
// parallel, except that calls that move or restore the same account's clock run one after another.
int mayfly_control(mayfly_handle* handle, const char* account, const char* region, const char* method,
                   const char* path, const char* body, size_t body_bytes, char** answer,
                   size_t* answer_bytes);

// Moves an account's clock forward, as POST /_mayfly/clock/advance does. When it returns, every item that
// expired in between is deleted, indexes no longer contain it, and its stream record can be read.
//
// Returns the results of mayfly_control. With 200, the answer is
//
//   {"now":"2031-01-01T01:00:00Z","expired":1,"tables":{"carts":1},"next_expiry":null}
//
// Waits while an expiry waits at an armed failpoint. Thread-safe, as mayfly_control is.
int mayfly_advance(mayfly_handle* handle, const char* account, const char* region, int64_t milliseconds,
                   char** answer, size_t* answer_bytes);

// Serves the store over HTTP for any AWS SDK until the handle is closed. Each call creates another endpoint;
// a handle can have 64.
//
// `options` has the same format as in mayfly_open, but can have only these options of `mayfly serve`: host,
// port, threads, no-control, mcp-read-only, allowed-host, cors-origin, require-signature, keys, tls-cert,
// tls-key, connections-max, request-seconds-max, request-bytes-max, unread-bytes-max and waiting-max. By
// default, the endpoint listens on any free port of 127.0.0.1 and ::1. Before you use another host, read
// SECURITY.md.
//
// Returns MAYFLY_DONE when the endpoint accepts requests. The answer is
// {"url":"http://127.0.0.1:41234","port":41234}. Otherwise returns MAYFLY_INVALID for invalid options or keys
// that cannot be read; MAYFLY_CLOSED; MAYFLY_FAILED if the port is in use, a certificate cannot be read or
// there are already 64 endpoints; MAYFLY_NO_MEMORY; MAYFLY_FORKED. Thread-safe.
int mayfly_serve(mayfly_handle* handle, const char* options, size_t options_bytes, char** answer,
                 size_t* answer_bytes);

// Closes the endpoints, releases memory and the data directory, and invalidates the handle.
//
// Waits for calls that other threads are making with the handle. Calls that wait for something, such as an
// await, end early with their usual response (503 for an await); other calls finish. Calls that begin later
// return MAYFLY_CLOSED. Endpoints finish the requests that they have begun and then stop listening.
//
// Returns MAYFLY_DONE when everything is closed; MAYFLY_CLOSED if the handle is not open (NULL is never open)
// or another thread is already closing it, without waiting for that thread; MAYFLY_FORKED. Thread-safe.
int mayfly_close(mayfly_handle* handle);

// Frees an answer. Does nothing if `answer` is NULL. Thread-safe.
void mayfly_free(char* answer);

// A function that is called when one of Mayfly's internal checks fails, on the thread where it fails. The
// arguments are the checked expression ("gates_held == 0"), its location in Mayfly's source
// ("engine/items/transaction.cc", 169) and the context of mayfly_set_check_handler. A failed check is always
// a bug in Mayfly: no call can cause one.
typedef void (*mayfly_check_handler)(const char* expression, const char* file, int line, void* context);

// Sets the handler of the whole process. Without a handler (NULL), Mayfly writes a line to standard error.
// When the handler returns, the process aborts, because nothing that Mayfly does after a failed check is
// reliable. The handler receives `context`. It must not call this function.
//
// Returns MAYFLY_DONE; after that, the previous handler is not called again. If memory runs out, returns
// MAYFLY_NO_MEMORY and keeps the previous handler. Thread-safe.
int mayfly_set_check_handler(mayfly_check_handler handler, void* context);

#ifdef __cplusplus
}
#endif

#endif
