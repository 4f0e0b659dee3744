// Tests mayfly/mayfly_c.h from C11, as a user who knows only the header would.
//
//   c_tests                   runs all tests, each in its own process
//   c_tests "closing a …"     runs one test
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <mayfly/mayfly_c.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void fail(int line, const char* what) {
  fprintf(stderr, "%s:%d: %s\n", __FILE__, line, what);
  _exit(1);
}
#define CHECK(condition) ((condition) ? (void)0 : fail(__LINE__, #condition))

// Checks a call's result and response. The next EXPECT on the same thread reuses the response's variable.
#define EXPECT(call, result, text) expect(__LINE__, (call), (result), (text))

static _Thread_local char* answer;
static _Thread_local size_t answer_bytes;

// `text` is the complete expected response; NULL accepts any response.
static void expect(int line, int got, int result, const char* text) {
  if (got != result || (text != NULL && (answer == NULL || strcmp(answer, text) != 0))) {
    fprintf(stderr, "%s:%d: %d %s\n  instead of %d %s\n", __FILE__, line, got,
            answer == NULL ? "(null)" : answer, result, text == NULL ? "and any answer" : text);
    _exit(1);
  }
  if (answer != NULL && strlen(answer) != answer_bytes) fail(line, "the answer's length");
  mayfly_free(answer);
  answer = NULL;
}

static int execute_as(mayfly_handle* mayfly, const char* account, const char* region, const char* operation,
                      const char* body) {
  return mayfly_execute(mayfly, account, region, operation, body, strlen(body), &answer, &answer_bytes);
}
static int execute(mayfly_handle* mayfly, const char* operation, const char* body) {
  return execute_as(mayfly, NULL, NULL, operation, body);
}
static int control(mayfly_handle* mayfly, const char* method, const char* path, const char* body) {
  return mayfly_control(mayfly, NULL, NULL, method, path, body, strlen(body), &answer, &answer_bytes);
}
static int advance(mayfly_handle* mayfly, int64_t milliseconds) {
  return mayfly_advance(mayfly, NULL, NULL, milliseconds, &answer, &answer_bytes);
}
static int serve(mayfly_handle* mayfly, const char* options) {
  return mayfly_serve(mayfly, options, strlen(options), &answer, &answer_bytes);
}
static int open_with(const char* options, mayfly_handle** mayfly) {
  return mayfly_open(options, strlen(options), mayfly, &answer, &answer_bytes);
}

#define FROZEN "{\"clock\":\"frozen\",\"now\":\"2031-01-01T00:00:00Z\"}"
#define LIST "ListTables", "{}"

static mayfly_handle* opened(const char* options) {
  mayfly_handle* mayfly = NULL;
  EXPECT(open_with(options, &mayfly), MAYFLY_DONE, NULL);
  CHECK(mayfly != NULL);
  return mayfly;
}

static void create_carts(mayfly_handle* mayfly) {
  EXPECT(execute(mayfly, "CreateTable",
                 "{\"TableName\":\"carts\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":"
                 "[{\"AttributeName\":\"id\",\"AttributeType\":\"S\"}],"
                 "\"KeySchema\":[{\"AttributeName\":\"id\",\"KeyType\":\"HASH\"}]}"),
         200, NULL);
}

// Stores an endpoint's response to an HTTP/1.0 request, from the status line on.
static void ask(unsigned port, const char* request, char* into, size_t bytes_max) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int socket_ = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(connect(socket_, (const struct sockaddr*)&address, sizeof address) == 0);
  CHECK(write(socket_, request, strlen(request)) == (ssize_t)strlen(request));
  size_t bytes = 0;
  for (ssize_t more;
       bytes < bytes_max - 1 && (more = read(socket_, into + bytes, bytes_max - 1 - bytes)) > 0;)
    bytes += (size_t)more;
  into[bytes] = '\0';
  close(socket_);
}

// Starts an endpoint and returns its port.
static unsigned port_of(mayfly_handle* mayfly, const char* options) {
  unsigned in_url = 0, port = 0;
  CHECK(serve(mayfly, options) == MAYFLY_DONE);
  CHECK(sscanf(answer, "{\"url\":\"http://127.0.0.1:%u\",\"port\":%u}", &in_url, &port) == 2);
  CHECK(port != 0 && in_url == port);
  mayfly_free(answer);
  answer = NULL;
  return port;
}

static int status_of_child(pid_t child) {
  int status = -1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  return status;
}

// Creates a directory and returns its name, which the caller frees.
static char* directory(void) {
  char* name = strdup("/tmp/mayfly_c_XXXXXX");
  CHECK(mkdtemp(name) != NULL);
  return name;
}
static void remove_directory(char* name) {
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", name);
  CHECK(system(command) == 0);
  free(name);
}
static mayfly_handle* opened_at(const char* name) {
  char options[64];
  snprintf(options, sizeof options, "{\"data\":\"%s\"}", name);
  return opened(options);
}

// --- the tests

static void an_item_is_gone_at_its_instant(void) {
  mayfly_handle* mayfly = opened(FROZEN);
  create_carts(mayfly);
  EXPECT(execute(mayfly, "UpdateTimeToLive",
                 "{\"TableName\":\"carts\",\"TimeToLiveSpecification\":"
                 "{\"Enabled\":true,\"AttributeName\":\"ttl\"}}"),
         200, "{\"TimeToLiveSpecification\":{\"AttributeName\":\"ttl\",\"Enabled\":true}}");
  EXPECT(execute(mayfly, "PutItem",
                 "{\"TableName\":\"carts\",\"Item\":{\"id\":{\"S\":\"1\"},\"ttl\":{\"N\":\"1924992060\"}}}"),
         200, "{}");
  EXPECT(advance(mayfly, 60000), 200,
         "{\"now\":\"2031-01-01T00:01:00Z\",\"expired\":0,\"tables\":{},"
         "\"next_expiry\":\"2031-01-01T00:01:00.001Z\"}");
  const char* get = "{\"TableName\":\"carts\",\"Key\":{\"id\":{\"S\":\"1\"}}}";
  EXPECT(execute(mayfly, "GetItem", get), 200,
         "{\"Item\":{\"id\":{\"S\":\"1\"},\"ttl\":{\"N\":\"1924992060\"}}}");
  EXPECT(
      advance(mayfly, 1), 200,
      "{\"now\":\"2031-01-01T00:01:00.001Z\",\"expired\":1,\"tables\":{\"carts\":1},\"next_expiry\":null}");
  EXPECT(execute(mayfly, "GetItem", get), 200, "{}");
  EXPECT(control(mayfly, "GET", "/_mayfly/clock", ""), 200,
         "{\"mode\":\"frozen\",\"now\":\"2031-01-01T00:01:00.001Z\"}");
  CHECK(mayfly_close(mayfly) == MAYFLY_DONE);
}

static void the_version_is_the_releases(void) { CHECK(strcmp(mayfly_version(), MAYFLY_VERSION) == 0); }

static void wrong_requests_are_answered(void) {
  mayfly_handle* mayfly = opened("{}");
  EXPECT(execute(mayfly, "PutCart", "{}"), 400,
         "{\"__type\":\"com.amazon.coral.service#UnknownOperationException\"}");
  const char* no_json = "{\"__type\":\"com.amazon.coral.service#SerializationException\"}";
  EXPECT(execute(mayfly, "ListTables", "{\"Limit\":"), 400, no_json);
  EXPECT(execute(mayfly, "ListTables", "{\"ExclusiveStartTableName\":\"\xff\xfe\"}"), 400, no_json);
  EXPECT(mayfly_execute(mayfly, NULL, NULL, "ListTables", "{}\0{}", 5, &answer, &answer_bytes), 400, no_json);
  EXPECT(execute(mayfly, "ListTables\xff", "{}"), 400, NULL);
  EXPECT(control(mayfly, "GET", "/_mayfly/nothing", ""), 404,
         "{\"__type\":\"mayfly#NotFound\",\"message\":\"Unknown path /_mayfly/nothing.\"}");
  EXPECT(control(mayfly, "PATCH", "/_mayfly/clock", ""), 405, NULL);
  EXPECT(control(mayfly, "GET", "/_mayfly/events", ""), 406,
         "{\"__type\":\"mayfly#NotAcceptable\",\"message\":\"Event streams are available only over HTTP.\"}");
  EXPECT(control(mayfly, "PUT", "/_mayfly/clock", "{\"mode\":"), 400, NULL);
  EXPECT(control(mayfly, "PUT", "/_mayfly/clock", "{\"mode\":\"\xc3\"}"), 400, NULL);
  EXPECT(advance(mayfly, -1), 400, NULL);
  EXPECT(advance(mayfly, INT64_MIN), 400, NULL);
  EXPECT(advance(mayfly, INT64_MAX), 400, NULL);
  EXPECT(execute(mayfly, LIST), 200, "{\"TableNames\":[]}");
  CHECK(mayfly_close(mayfly) == MAYFLY_DONE);
}

static void null_is_refused_or_is_nothing(void) {
  mayfly_handle* mayfly = (mayfly_handle*)&answer;
  EXPECT(mayfly_open(NULL, 0, NULL, &answer, &answer_bytes), MAYFLY_INVALID,
         "handle must not be NULL");
  EXPECT(mayfly_open(NULL, 2, &mayfly, &answer, &answer_bytes), MAYFLY_INVALID,
         "options is NULL, but options_bytes is not 0");
  CHECK(mayfly == NULL);
  CHECK(mayfly_open(NULL, 0, &mayfly, NULL, NULL) == MAYFLY_DONE);

  EXPECT(mayfly_execute(mayfly, NULL, NULL, NULL, "{}", 2, &answer, &answer_bytes), MAYFLY_INVALID,
         "operation and body are required");
  EXPECT(mayfly_execute(mayfly, NULL, NULL, "ListTables", NULL, 2, &answer, &answer_bytes), MAYFLY_INVALID,
         "operation and body are required");
  EXPECT(mayfly_control(mayfly, NULL, NULL, NULL, "/_mayfly/clock", NULL, 0, &answer, &answer_bytes),
         MAYFLY_INVALID, "method, path and body are required");
  EXPECT(mayfly_control(mayfly, NULL, NULL, "GET", NULL, NULL, 0, &answer, &answer_bytes), MAYFLY_INVALID,
         "method, path and body are required");
  EXPECT(mayfly_control(mayfly, NULL, NULL, "GET", "/_mayfly/clock", NULL, 0, &answer, &answer_bytes), 200,
         NULL);
  EXPECT(mayfly_serve(mayfly, NULL, 2, &answer, &answer_bytes), MAYFLY_INVALID,
         "options is NULL, but options_bytes is not 0");

  EXPECT(execute(NULL, LIST), MAYFLY_CLOSED, "this handle is not open");
  EXPECT(control(NULL, "GET", "/_mayfly/clock", ""), MAYFLY_CLOSED, "this handle is not open");
  EXPECT(advance(NULL, 1), MAYFLY_CLOSED, "this handle is not open");
  EXPECT(serve(NULL, ""), MAYFLY_CLOSED, "this handle is not open");
  CHECK(mayfly_close(NULL) == MAYFLY_CLOSED);
  EXPECT(execute((mayfly_handle*)"somewhere", LIST), MAYFLY_CLOSED, "this handle is not open");
  mayfly_free(NULL);

  // A caller that passes NULL for the answer or its length gets only the result.
  CHECK(mayfly_execute(mayfly, NULL, NULL, LIST, 2, NULL, NULL) == 200);
  size_t bytes = 0;
  CHECK(mayfly_execute(mayfly, NULL, NULL, LIST, 2, NULL, &bytes) == 200);
  CHECK(bytes == strlen("{\"TableNames\":[]}"));
  char* text = NULL;
  CHECK(mayfly_execute(mayfly, NULL, NULL, LIST, 2, &text, NULL) == 200);
  CHECK(strcmp(text, "{\"TableNames\":[]}") == 0);
  mayfly_free(text);
  CHECK(mayfly_serve(mayfly, NULL, 0, NULL, NULL) == MAYFLY_DONE);
  CHECK(mayfly_close(mayfly) == MAYFLY_DONE);
}

static void options_are_refused_by_name(void) {
  static const struct {
    const char *options, *sentence;
  } wrong[] = {
      {"[]", "the options must be a JSON object"},
      {"{\"clock\":", "the options must be a JSON object"},
      {"{\"region\":\"\xff\"}", "the options must be a JSON object"},
      {"{\"clokc\":\"frozen\"}", "unknown option 'clokc'"},
      {"{\"port\":8000}", "unknown option 'port'"},
      {"{\"clock\":\"stopped\"}", "the option clock must be real, frozen, offset or rate=60"},
      {"{\"clock\":1}", "the option clock must be real, frozen, offset or rate=60"},
      {"{\"now\":\"tomorrow\"}", "the option now must be a time, for example 2031-01-01T00:00:00Z"},
      {"{\"fsync\":1}", "the option fsync must be true or false"},
      {"{\"region\":\"\"}", "the option region must be up to 64 letters, digits, '-', '_' and '.'"},
      {"{\"data\":\"a\\u0000b\"}", "the option data must not contain a NUL character"},
      {"{\"data\":null}", "the option data must be a string"},
      {"{\"stream-shards\":0}", "the option stream-shards must be a whole number between 1 and 1000"},
      {"{\"stream-shards\":\"4\"}", "the option stream-shards must be a whole number between 1 and 1000"},
      {"{\"ttl-mode\":\"never\"}", "the option ttl-mode must be one of exact, aws, manual"},
      {"{\"ttl-delay-seconds\":[5,1]}",
       "the option ttl-delay-seconds must be a minimum and a maximum in seconds, for example [600,1680], "
       "up to 30 days"},
      {"{\"bucket\":[1]}", "the option bucket must be a string or an array of strings"},
      {"{\"bucket\":\"here\"}", "the option bucket must be NAME=VALUE, got 'here'"},
      {"{\"log-level\":\"loud\"}", "the option log-level must be one of debug, info, warning, error, off"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    mayfly_handle* mayfly = NULL;
    EXPECT(open_with(wrong[i].options, &mayfly), MAYFLY_INVALID, wrong[i].sentence);
    CHECK(mayfly == NULL);
  }
  const size_t long_bytes = 2 << 20;
  char* long_options = malloc(long_bytes);
  memset(long_options, ' ', long_bytes);
  mayfly_handle* mayfly = NULL;
  EXPECT(mayfly_open(long_options, long_bytes, &mayfly, &answer, &answer_bytes), MAYFLY_INVALID,
         "the options are longer than 1 MB");
  free(long_options);

  mayfly = opened("{}");
  EXPECT(serve(mayfly, "{\"port\":70000}"), MAYFLY_INVALID,
         "the option port must be a whole number between 0 and 65535");
  EXPECT(serve(mayfly, "{\"data\":\"/tmp\"}"), MAYFLY_INVALID, "unknown option 'data'");
  EXPECT(serve(mayfly, "{\"require-signature\":true,\"keys\":\"/nowhere\"}"), MAYFLY_INVALID, NULL);
  EXPECT(serve(mayfly, "{\"host\":\"example.org\"}"), MAYFLY_FAILED,
         "host 'example.org' is neither an IP address nor localhost");
  EXPECT(serve(mayfly, "{\"tls-cert\":\"/nowhere\",\"tls-key\":\"/nowhere\"}"), MAYFLY_FAILED, NULL);
  CHECK(mayfly_close(mayfly) == MAYFLY_DONE);
  EXPECT(open_with("{\"data\":\"/proc/nowhere\"}", &mayfly), MAYFLY_FAILED, NULL);
  CHECK(mayfly == NULL);
}

static void options_are_those_of_the_program(void) {
  mayfly_handle* mayfly = opened(
      "{\"region\":\"eu-west-1\",\"shared-regions\":true,\"clock\":\"frozen\","
      "\"now\":\"2031-01-01T00:00:00Z\",\"tables-max\":1}");
  create_carts(mayfly);
  EXPECT(execute_as(mayfly, NULL, "mars-north-1", LIST), 200, "{\"TableNames\":[\"carts\"]}");
  EXPECT(control(mayfly, "GET", "/_mayfly/clock", ""), 200,
         "{\"mode\":\"frozen\",\"now\":\"2031-01-01T00:00:00Z\"}");
  CHECK(execute(mayfly, "CreateTable",
                "{\"TableName\":\"more\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":"
                "[{\"AttributeName\":\"id\",\"AttributeType\":\"S\"}],"
                "\"KeySchema\":[{\"AttributeName\":\"id\",\"KeyType\":\"HASH\"}]}") == 400);
  CHECK(strstr(answer, "LimitExceededException") != NULL);
  mayfly_free(answer);
  CHECK(mayfly_close(mayfly) == MAYFLY_DONE);
}

static void identities_see_their_own(void) {
  mayfly_handle* mayfly = opened("{}");
  create_carts(mayfly);
  EXPECT(execute_as(mayfly, "000000000000", "us-east-1", LIST), 200, "{\"TableNames\":[\"carts\"]}");
  EXPECT(execute_as(mayfly, "000000000042", NULL, LIST), 200, "{\"TableNames\":[]}");
  EXPECT(execute_as(mayfly, NULL, "eu-west-1", LIST), 200, "{\"TableNames\":[]}");
  const char* accounts[] = {"", "42", "00000000004x", "0000000000042", "00000000004\xff"};
  for (size_t i = 0; i < sizeof accounts / sizeof *accounts; ++i)
    EXPECT(execute_as(mayfly, accounts[i], NULL, LIST), MAYFLY_INVALID,
           "account must be NULL or twelve digits");
  const char* regions[] = {"", "us east", "eu-west-1\n", "\xc3\xa4",
                           "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggggg"};
  for (size_t i = 0; i < sizeof regions / sizeof *regions; ++i)
    EXPECT(execute_as(mayfly, NULL, regions[i], LIST), MAYFLY_INVALID,
           "region must be NULL or up to 64 letters, digits, '-', '_' and '.'");
  CHECK(mayfly_close(mayfly) == MAYFLY_DONE);
}

static void two_handles_are_two_stores(void) {
  mayfly_handle *one = opened(FROZEN), *other = opened("{}");
  CHECK(one != other);
  create_carts(one);
  EXPECT(execute(other, LIST), 200, "{\"TableNames\":[]}");
  EXPECT(advance(one, 3600000), 200, NULL);
  CHECK(mayfly_close(one) == MAYFLY_DONE);
  EXPECT(execute(one, LIST), MAYFLY_CLOSED, "this handle is not open");
  EXPECT(execute(other, LIST), 200, "{\"TableNames\":[]}");
  mayfly_handle* third = opened("{}");
  CHECK(third != one && third != other);
  CHECK(mayfly_close(one) == MAYFLY_CLOSED);
  CHECK(mayfly_close(third) == MAYFLY_DONE);
  CHECK(mayfly_close(other) == MAYFLY_DONE);
}

static void bodies_have_a_bound(void) {
  mayfly_handle* mayfly = opened("{}");
  const size_t most = 16 << 20;
  char* body = malloc(most + 1);
  memset(body, ' ', most + 1);
  body[0] = '{';
  body[most - 1] = '}';
  EXPECT(mayfly_execute(mayfly, NULL, NULL, "ListTables", body, most, &answer, &answer_bytes), 200,
         "{\"TableNames\":[]}");
  EXPECT(mayfly_execute(mayfly, NULL, NULL, "ListTables", body, most + 1, &answer, &answer_bytes), 413, "");
  EXPECT(mayfly_control(mayfly, NULL, NULL, "PUT", "/_mayfly/clock", body, SIZE_MAX, &answer, &answer_bytes),
         413, "");
  memset(body, 'a', most);
  body[most] = '\0';
  EXPECT(mayfly_control(mayfly, NULL, NULL, "GET", body, NULL, 0, &answer, &answer_bytes), MAYFLY_INVALID,
         "method, path and body are required");
  EXPECT(mayfly_execute(mayfly, NULL, NULL, body, "{}", 2, &answer, &answer_bytes), MAYFLY_INVALID,
         "operation and body are required");
  EXPECT(execute_as(mayfly, body, NULL, LIST), MAYFLY_INVALID, "account must be NULL or twelve digits");
  free(body);
  CHECK(mayfly_close(mayfly) == MAYFLY_DONE);
}

static void endpoints_answer_over_http(void) {
  mayfly_handle* mayfly = opened(FROZEN);
  create_carts(mayfly);
  const unsigned port = port_of(mayfly, ""), second = port_of(mayfly, "{\"no-control\":true}");
  CHECK(port != second);
  char reply[4096];
  const char* list =
      "POST / HTTP/1.0\r\nHost: localhost\r\nX-Amz-Target: DynamoDB_20120810.ListTables\r\n"
      "Content-Type: application/x-amz-json-1.0\r\nAuthorization: AWS4-HMAC-SHA256 "
      "Credential=x/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, "
      "Signature=0000000000000000000000000000000000000000000000000000000000000000\r\n"
      "X-Amz-Date: 20260101T000000Z\r\nContent-Length: 2\r\n\r\n{}";
  const char* clock = "GET /_mayfly/clock HTTP/1.0\r\nHost: localhost\r\n\r\n";
  ask(port, list, reply, sizeof reply);
  CHECK(strstr(reply, "\r\n\r\n{\"TableNames\":[\"carts\"]}") != NULL);
  ask(second, list, reply, sizeof reply);
  CHECK(strstr(reply, "\r\n\r\n{\"TableNames\":[\"carts\"]}") != NULL);
  ask(port, clock, reply, sizeof reply);
  CHECK(strstr(reply, "2031-01-01T00:00:00Z") != NULL);
  ask(second, clock, reply, sizeof reply);
  CHECK(strstr(reply, "404") != NULL);

  char taken[32], sentence[64];
  snprintf(taken, sizeof taken, "{\"port\":%u}", port);
  snprintf(sentence, sizeof sentence, "cannot listen on 127.0.0.1:%u: the port is taken", port);
  EXPECT(serve(mayfly, taken), MAYFLY_FAILED, sentence);
  CHECK(mayfly_close(mayfly) == MAYFLY_DONE);

  // Once the handle is closed, nothing listens on the port, and another handle can use the port.
  mayfly = opened("{}");
  CHECK(port_of(mayfly, taken) == port);
  for (int i = 1; i < 64; ++i) EXPECT(serve(mayfly, "{}"), MAYFLY_DONE, NULL);
  EXPECT(serve(mayfly, "{}"), MAYFLY_FAILED,
         "this handle already has 64 endpoints, the maximum");
  EXPECT(execute(mayfly, LIST), 200, "{\"TableNames\":[]}");
  CHECK(mayfly_close(mayfly) == MAYFLY_DONE);
}

enum { threads_count = 8, puts_each = 100 };

static mayfly_handle* shared;

static void* puts_many(void* number) {
  char body[128];
  for (int i = 0; i < puts_each; ++i) {
    snprintf(body, sizeof body, "{\"TableName\":\"carts\",\"Item\":{\"id\":{\"S\":\"%d-%d\"}}}",
             *(const int*)number, i);
    EXPECT(execute(shared, "PutItem", body), 200, "{}");
    if (i % 10 == 0) EXPECT(advance(shared, 1), 200, NULL);
  }
  return NULL;
}

static void threads_use_one_handle_at_once(void) {
  shared = opened(FROZEN);
  create_carts(shared);
  pthread_t threads[threads_count];
  int numbers[threads_count];
  for (int i = 0; i < threads_count; ++i) {
    numbers[i] = i;
    CHECK(pthread_create(&threads[i], NULL, puts_many, &numbers[i]) == 0);
  }
  for (int i = 0; i < threads_count; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  EXPECT(execute(shared, "Scan", "{\"TableName\":\"carts\",\"Select\":\"COUNT\"}"), 200,
         "{\"Count\":800,\"ScannedCount\":800}");
  EXPECT(control(shared, "GET", "/_mayfly/clock", ""), 200,
         "{\"mode\":\"frozen\",\"now\":\"2031-01-01T00:00:00.080Z\"}");
  CHECK(mayfly_close(shared) == MAYFLY_DONE);
}

static void* awaits(void* waited) {
  const int result = control(shared, "POST", "/_mayfly/await",
                             "{\"table\":\"carts\",\"key\":{\"id\":{\"S\":\"1\"}},\"timeout_seconds\":600}");
  const bool in_time = result != MAYFLY_CLOSED;
  EXPECT(result, in_time ? 503 : MAYFLY_CLOSED,
         in_time ? "{\"__type\":\"mayfly#Stopped\",\"message\":"
                   "\"Canceled: the server is shutting down or the client disconnected.\"}"
                 : "this handle is not open");
  *(bool*)waited = in_time;
  EXPECT(execute(shared, LIST), MAYFLY_CLOSED, "this handle is not open");
  return NULL;
}
static void* advances_to_a_failpoint(void* unused) {
  (void)unused;
  const int result = advance(shared, 120000);
  CHECK(result >= 200);
  mayfly_free(answer);
  EXPECT(execute(shared, LIST), MAYFLY_CLOSED, "this handle is not open");
  return NULL;
}

static void wait_until_the_failpoint_is_reached(void) {
  for (;;) {
    CHECK(control(shared, "GET", "/_mayfly/failpoints", "") == 200);
    const bool reached = strstr(answer, "\"state\":\"waiting\"") != NULL;
    mayfly_free(answer);
    answer = NULL;
    if (reached) return;
    usleep(1000);
  }
}

// Returns false if the handle was closed before the waiting thread made its call, which only the call's
// result shows.
static bool closing_ends_who_asked_within(useconds_t microseconds) {
  shared = opened(FROZEN);
  create_carts(shared);
  EXPECT(execute(shared, "UpdateTimeToLive",
                 "{\"TableName\":\"carts\",\"TimeToLiveSpecification\":"
                 "{\"Enabled\":true,\"AttributeName\":\"ttl\"}}"),
         200, NULL);
  EXPECT(execute(shared, "PutItem",
                 "{\"TableName\":\"carts\",\"Item\":{\"id\":{\"S\":\"2\"},\"ttl\":{\"N\":\"1924992060\"}}}"),
         200, "{}");
  EXPECT(
      control(shared, "PUT", "/_mayfly/failpoints", "{\"table\":\"carts\",\"key\":{\"id\":{\"S\":\"2\"}}}"),
      200, NULL);
  port_of(shared, "");
  bool waited = false;
  pthread_t waiting[2];
  CHECK(pthread_create(&waiting[0], NULL, awaits, &waited) == 0);
  CHECK(pthread_create(&waiting[1], NULL, advances_to_a_failpoint, NULL) == 0);
  wait_until_the_failpoint_is_reached();
  usleep(microseconds);
  CHECK(mayfly_close(shared) == MAYFLY_DONE);
  CHECK(mayfly_close(shared) == MAYFLY_CLOSED);
  for (int i = 0; i < 2; ++i) CHECK(pthread_join(waiting[i], NULL) == 0);
  return waited;
}

static void closing_ends_what_waits(void) {
  useconds_t microseconds = 500;
  while (!closing_ends_who_asked_within(microseconds)) {
    CHECK(microseconds < 1000000);
    microseconds *= 2;
  }
}

static void* executes_until_closed(void* unused) {
  (void)unused;
  for (;;) {
    const int result = execute(shared, LIST);
    CHECK(result == 200 || result == MAYFLY_CLOSED);
    mayfly_free(answer);
    answer = NULL;
    if (result == MAYFLY_CLOSED) return NULL;
  }
}
static void* closes(void* done) {
  const int result = mayfly_close(shared);
  CHECK(result == MAYFLY_DONE || result == MAYFLY_CLOSED);
  *(int*)done = result == MAYFLY_DONE;
  return NULL;
}

static void closing_races_with_calls_and_with_itself(void) {
  for (int round = 0; round < 20; ++round) {
    shared = opened("{}");
    pthread_t callers[4], closers[2];
    int done[2] = {0, 0};
    for (int i = 0; i < 4; ++i) CHECK(pthread_create(&callers[i], NULL, executes_until_closed, NULL) == 0);
    for (int i = 0; i < 2; ++i) CHECK(pthread_create(&closers[i], NULL, closes, &done[i]) == 0);
    for (int i = 0; i < 4; ++i) CHECK(pthread_join(callers[i], NULL) == 0);
    for (int i = 0; i < 2; ++i) CHECK(pthread_join(closers[i], NULL) == 0);
    CHECK(done[0] + done[1] == 1);
  }
}

static void a_forked_process_is_told_so(void) {
  mayfly_handle* mayfly = opened("{}");
  const unsigned port = port_of(mayfly, "");
  const pid_t child = fork();
  if (child == 0) {
    const char* sentence =
        "Mayfly was opened before fork(), and its threads exist only in the parent process; use the parent's "
        "endpoint or call exec()";
    mayfly_handle* own = NULL;
    EXPECT(execute(mayfly, LIST), MAYFLY_FORKED, sentence);
    EXPECT(control(mayfly, "GET", "/_mayfly/clock", ""), MAYFLY_FORKED, sentence);
    EXPECT(advance(mayfly, 1), MAYFLY_FORKED, sentence);
    EXPECT(serve(mayfly, ""), MAYFLY_FORKED, sentence);
    EXPECT(open_with("{}", &own), MAYFLY_FORKED, sentence);
    CHECK(own == NULL);
    CHECK(mayfly_close(mayfly) == MAYFLY_FORKED);
    CHECK(strcmp(mayfly_version(), MAYFLY_VERSION) == 0);
    char reply[4096];
    ask(port, "GET /_mayfly/health HTTP/1.0\r\nHost: localhost\r\n\r\n", reply, sizeof reply);
    CHECK(strstr(reply, "\"status\":\"ok\"") != NULL);
#ifdef MAYFLY_SHARED
    exit(0);  // run the exit handlers
#else
    _exit(0);  // exit handlers of a statically linked RocksDB would wait for its threads
#endif
  }
  CHECK(status_of_child(child) == 0);
  EXPECT(execute(mayfly, LIST), 200, "{\"TableNames\":[]}");
  CHECK(mayfly_close(mayfly) == MAYFLY_DONE);
}

static void* awaits_for_ever(void* unused) {
  (void)unused;
  control(shared, "POST", "/_mayfly/await",
          "{\"table\":\"carts\",\"key\":{\"id\":{\"S\":\"1\"}},\"timeout_seconds\":600}");
  mayfly_free(answer);
  answer = NULL;
  return NULL;
}

static void the_exit_closes_what_is_open(void) {
  char* name = directory();
  const pid_t child = fork();
  if (child == 0) {
    shared = opened_at(name);
    create_carts(shared);
    port_of(shared, "");
    pthread_t waiting;
    CHECK(pthread_create(&waiting, NULL, awaits_for_ever, NULL) == 0);
    CHECK(pthread_detach(waiting) == 0);
    opened("{}");
    exit(0);
  }
  CHECK(status_of_child(child) == 0);
  mayfly_handle* mayfly = opened_at(name);
  EXPECT(execute(mayfly, LIST), 200, "{\"TableNames\":[\"carts\"]}");

  // Only one handle can open a directory at a time.
  char options[64];
  snprintf(options, sizeof options, "{\"data\":\"%s\"}", name);
  mayfly_handle* second = NULL;
  EXPECT(open_with(options, &second), MAYFLY_FAILED, NULL);
  CHECK(mayfly_close(mayfly) == MAYFLY_DONE);
  mayfly = opened_at(name);
  CHECK(mayfly_close(mayfly) == MAYFLY_DONE);
  remove_directory(name);
}

static void storage_that_fails_is_an_answer(void) {
  char* name = directory();
  char options[96];
  snprintf(options, sizeof options, "{\"data\":\"%s\",\"log-level\":\"off\"}", name);
  mayfly_handle* mayfly = opened(options);
  create_carts(mayfly);
  signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small = {.rlim_cur = 4096, .rlim_max = RLIM_INFINITY};
  const struct rlimit unlimited = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
  CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
  char body[9000] = "{\"TableName\":\"carts\",\"Item\":{\"id\":{\"S\":\"1\"},\"text\":{\"S\":\"";
  const size_t begin = strlen(body);
  memset(body + begin, 'a', 8000);
  strcpy(body + begin + 8000, "\"}}}");
  EXPECT(execute(mayfly, "PutItem", body), 500, NULL);
  CHECK(setrlimit(RLIMIT_FSIZE, &unlimited) == 0);
  int result = 500;
  for (int tries = 0; tries < 3000 && result != 200; ++tries) {
    if (tries > 0) usleep(10000);
    result = execute(mayfly, "PutItem", body);
    mayfly_free(answer);
    answer = NULL;
  }
  CHECK(result == 200);
  CHECK(mayfly_close(mayfly) == MAYFLY_DONE);
  remove_directory(name);
}

#ifndef MAYFLY_SANITIZED  // Sanitizers need more memory than the limit allows and end the process.
static void memory_that_runs_out_is_told(void) {
  mayfly_handle* mayfly = opened("{\"log-level\":\"off\"}");
  create_carts(mayfly);
  const size_t bytes = 15 << 20;
  char* body = malloc(bytes);
  memset(body, 'a', bytes);
  const char* begin = "{\"TableName\":\"";
  memcpy(body, begin, strlen(begin));
  memcpy(body + bytes - 2, "\"}", 2);
  char statm[64] = "";
  FILE* file = fopen("/proc/self/statm", "r");
  CHECK(file != NULL && fgets(statm, sizeof statm, file) != NULL);
  fclose(file);
  const rlim_t used = strtoul(statm, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE);
  const struct rlimit small = {.rlim_cur = used + (1 << 20), .rlim_max = RLIM_INFINITY};
  const struct rlimit unlimited = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
  CHECK(setrlimit(RLIMIT_AS, &small) == 0);
  const int result = mayfly_execute(mayfly, NULL, NULL, "DescribeTable", body, bytes, &answer, &answer_bytes);
  mayfly_handle* more = NULL;
  const int opening = mayfly_open(NULL, 0, &more, NULL, NULL);
  CHECK(setrlimit(RLIMIT_AS, &unlimited) == 0);
  CHECK(result == 500 || result == MAYFLY_NO_MEMORY);
  CHECK(opening == MAYFLY_NO_MEMORY || opening == MAYFLY_FAILED || opening == MAYFLY_DONE);
  mayfly_free(answer);
  answer = NULL;
  EXPECT(execute(mayfly, LIST), 200, "{\"TableNames\":[\"carts\"]}");
  free(body);
  CHECK(mayfly_close(mayfly) == MAYFLY_DONE);
}

// Not run with sanitizers, because they start their own threads.
static void its_threads_take_no_signals(void) {
  mayfly_handle* mayfly = opened("{}");
  port_of(mayfly, "{\"threads\":2}");
  int threads = 0;
  DIR* tasks = opendir("/proc/self/task");
  CHECK(tasks != NULL);
  for (const struct dirent* task; (task = readdir(tasks)) != NULL;) {
    const long id = strtol(task->d_name, NULL, 10);
    if (id == 0 || id == (long)getpid()) continue;
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/self/task/%ld/status", id);
    FILE* file = fopen(path, "r");
    unsigned long long blocked = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) sscanf(line, "SigBlk: %llx", &blocked);
    CHECK(file != NULL && fclose(file) == 0);
    CHECK((blocked >> (SIGTERM - 1) & 1) == 1 && (blocked >> (SIGINT - 1) & 1) == 1);
    ++threads;
  }
  closedir(tasks);
  CHECK(threads >= 2);
  sigset_t own;
  CHECK(pthread_sigmask(SIG_BLOCK, NULL, &own) == 0 && sigismember(&own, SIGTERM) == 0);
  CHECK(mayfly_close(mayfly) == MAYFLY_DONE);
}
#endif

static const struct {
  const char* name;
  void (*run)(void);
} tests[] = {
    {"an item disappears at the instant its TTL passes", an_item_is_gone_at_its_instant},
    {"the version matches the release", the_version_is_the_releases},
    {"invalid requests get DynamoDB's errors", wrong_requests_are_answered},
    {"NULL is rejected or means nothing", null_is_refused_or_is_nothing},
    {"invalid options are rejected by name", options_are_refused_by_name},
    {"options match those of the program", options_are_those_of_the_program},
    {"each account and region sees only its own tables", identities_see_their_own},
    {"two handles are separate stores and a closed one is invalid", two_handles_are_two_stores},
    {"a body of 16 MB is accepted and a longer one rejected", bodies_have_a_bound},
    {"an HTTP endpoint sees in-process changes", endpoints_answer_over_http},
    {"several threads can use one handle concurrently", threads_use_one_handle_at_once},
    {"closing a handle ends its waiting calls", closing_ends_what_waits},
    {"closing can race with calls and with another close", closing_races_with_calls_and_with_itself},
    {"calls in a forked process fail with MAYFLY_FORKED", a_forked_process_is_told_so},
    {"exiting the process closes open handles", the_exit_closes_what_is_open},
    {"a storage failure is returned as a response", storage_that_fails_is_an_answer},
#ifndef MAYFLY_SANITIZED
    {"running out of memory is reported", memory_that_runs_out_is_told},
    {"Mayfly's threads block signals", its_threads_take_no_signals},
#endif
};

int main(int argc, char** argv) {
  int failed = 0, ran = 0;
  for (size_t i = 0; i < sizeof tests / sizeof *tests; ++i) {
    if (argc > 1 && strcmp(argv[1], tests[i].name) != 0) continue;
    ++ran;
    // Each test runs in its own process, because limits and forks affect the whole process.
    const pid_t child = fork();
    if (child == 0) {
      tests[i].run();
      exit(0);
    }
    if (status_of_child(child) == 0) continue;
    ++failed;
    fprintf(stderr, "failed: %s\n", tests[i].name);
  }
  printf("%d of %d passed\n", ran - failed, ran);
  return failed != 0 || ran == 0;
}
