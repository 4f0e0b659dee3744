// Tests the client with which commands call DynamoDB endpoints: credentials, endpoint and retries.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/aws/client.h"
#include "compat/outbound/page_keys.h"
#include "tests/support/certificate.h"
#include "tests/support/one_answer.h"
#include "tests/support/running.h"
#include "tests/support/temporary_directory.h"

namespace mayfly::testing {

using namespace std::chrono_literals;

namespace {

using Variables = std::map<std::string, std::string>;

aws::Environment environment(Variables variables) {
  return [variables = std::move(variables)](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  };
}

std::shared_ptr<aws::Credentials> any_key() {
  return std::make_shared<aws::Credentials>(*aws::Settings::read(
      {}, environment({{"AWS_ACCESS_KEY_ID", "000000000000"}, {"AWS_SECRET_ACCESS_KEY", "secret"}})));
}

std::string key_of(const Variables& variables, const aws::Given& given = {}) {
  const auto settings = aws::Settings::read(given, environment(variables));
  if (!settings) return settings.error();
  const auto key = aws::Credentials(*settings).key();
  return key ? key->id + " " + key->secret + (key->session_token.empty() ? "" : " " + key->session_token)
             : key.error();
}

struct AwsFiles {
  const TemporaryDirectory temporary;
  const std::filesystem::path directory = temporary.path();
  AwsFiles() { std::filesystem::create_directory(directory / ".aws"); }
  void write(const char* name, const std::string& text) const { std::ofstream(directory / name) << text; }
  [[nodiscard]] Variables variables(Variables more = {}) const {
    more.emplace("HOME", directory.string());
    return more;
  }
};

// Calls a server, and records the pauses before retries.
struct Asking {
  explicit Asking(const std::string& endpoint, std::chrono::milliseconds time_max = 10s,
                  const std::string& ca_file = {})
      : client(*aws::Client::open({.endpoint = endpoint,
                                   .region = "us-east-1",
                                   .credentials = any_key(),
                                   .ca_file = ca_file,
                                   .attempt_time_max = time_max,
                                   .wait =
                                       [this](std::chrono::milliseconds pause) {
                                         pauses.push_back(pause);
                                         return !gives_up;
                                       },
                                   .random = std::make_shared<engine::SeededRandom>(1)})) {}
  std::string told(const char* operation, const std::string& body = "{}") {
    const auto answer = client->call(operation, body);
    return answer ? json::print(*answer) : answer.error().sentence();
  }
  std::vector<std::chrono::milliseconds> pauses;
  bool gives_up = false;
  std::unique_ptr<aws::Client> client;
};

std::string url_of(const Running& server) { return "http://127.0.0.1:" + std::to_string(server.port()); }

}  // namespace

TEST_CASE("the client calls operations as an SDK does and reuses one connection") {
  Running server;
  Asking asking(url_of(server));
  CHECK(asking.told("ListTables") == R"({"TableNames":[]})");
  server.create_table("carts", false);
  for (int n = 0; n < 20; ++n)
    CHECK(asking.told("PutItem", R"({"TableName":"carts","Item":{"id":{"S":"1"},"n":{"N":"1.50"}}})") ==
          "{}");
  CHECK(asking.told("GetItem", R"({"TableName":"carts","Key":{"id":{"S":"1"}}})") ==
        R"({"Item":{"id":{"S":"1"},"n":{"N":"1.5"}}})");
  CHECK(asking.client->attempts() == 22);
  // Wait until only two connections remain: the client's connection and the connection of the metrics call.
  // The server soon closes the connections of earlier metrics calls.
  while (server.call("GET", "/_mayfly/metrics").body.find("mayfly_connections 2\n") == std::string::npos) {}
}

TEST_CASE("a client with a configured account uses that account in operations and in control calls") {
  Running server;
  server.account = "000000000042";
  server.create_table("carts", false);
  server.ok("PUT", "/_mayfly/clock", R"({"mode":"frozen","now":"2031-01-01T00:00:00Z"})");
  aws::ClientOptions options{
      .endpoint = url_of(server), .region = "us-east-1", .credentials = any_key(), .account = "000000000042"};
  const auto client = *aws::Client::open(std::move(options));
  CHECK(json::print(*client->call("ListTables", std::string("{}"))) == R"({"TableNames":["carts"]})");
  CHECK(*json::string_member(*client->call_control("GET", "/_mayfly/clock"), "now") ==
        "2031-01-01T00:00:00Z");
}

TEST_CASE("an error contains AWS's error type and status and the whole response body") {
  Running server;
  server.create_table("carts", false);
  server.put("carts", "1");
  Asking asking(url_of(server));
  const auto answer = asking.client->call(
      "DeleteItem",
      std::string(
          R"x({"TableName":"carts","Key":{"id":{"S":"1"}},"ConditionExpression":"attribute_exists(x)",)x"
          R"("ReturnValuesOnConditionCheckFailure":"ALL_OLD"})"));
  REQUIRE_FALSE(answer);
  CHECK(answer.error().sentence() == "ConditionalCheckFailedException: The conditional request failed");
  CHECK(answer.error().status == 400);
  CHECK_FALSE(answer.error().retryable);
  CHECK(json::print(*json::member(*answer.error().body, "Item")) == R"({"id":{"S":"1"}})");
  CHECK(asking.pauses.empty());
}

TEST_CASE("a throttled request is retried after a pause until three attempts have failed") {
  Running server;
  server.create_table("carts", false);
  Asking asking(url_of(server));
  const auto throttle = [&](int count) {
    server.ok(
        "PUT", "/_mayfly/faults",
        R"({"rules":[{"fault":"throttle","operation":"GetItem","count":)" + std::to_string(count) + "}]}");
  };
  throttle(2);
  CHECK(asking.told("GetItem", R"({"TableName":"carts","Key":{"id":{"S":"1"}}})") == "{}");
  REQUIRE(asking.pauses.size() == 2);
  CHECK(asking.pauses[0] <= 50ms);
  CHECK(asking.pauses[1] <= 100ms);
  throttle(3);
  const auto refused =
      asking.client->call("GetItem", std::string(R"({"TableName":"carts","Key":{"id":{"S":"1"}}})"));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().throttled);
  CHECK(refused.error().retryable);
  CHECK(asking.client->attempts() == 6);
  throttle(2);
  asking.gives_up = true;
  CHECK_FALSE(asking.client->call("GetItem", std::string(R"({"TableName":"carts","Key":{"id":{"S":"1"}}})")));
  CHECK(asking.client->attempts() == 7);
}

TEST_CASE("the pause before a retry is random and its upper bound doubles with each retry up to 20 s") {
  engine::SeededRandom random(7);
  std::chrono::milliseconds longest{0};
  for (int n = 0; n < 1000; ++n) {
    CHECK(aws::pause_before(2, random) <= 50ms);
    CHECK(aws::pause_before(4, random) <= 200ms);
    longest = std::max(longest, aws::pause_before(40, random));
  }
  CHECK(longest > 15s);
  CHECK(longest <= 20s);
}

TEST_CASE("a client of an unreachable server stops retrying when its retry quota is used up") {
  Asking asking("http://127.0.0.1:1");
  CHECK(asking.told("ListTables") == "Unreachable: cannot connect to 127.0.0.1:1: Connection refused");
  CHECK(asking.client->attempts() == 3);
  for (int n = 0; n < 60; ++n) asking.told("ListTables");
  CHECK(asking.pauses.size() == 100);  // the quota is 500, and each retry costs 5
  CHECK(asking.client->attempts() == 61 + 100);
}

TEST_CASE("a request is retried after each kind of transient failure") {
  SECTION("no response arrives") {
    OneAnswer server("");
    Asking asking(server.url(), 50ms);
    const std::string told = asking.told("ListTables");
    CHECK_THAT(told, Catch::StartsWith("TimedOut: ") || Catch::StartsWith("Unreachable: "));
    CHECK(asking.pauses.size() == 2);
  }
  SECTION("the checksum does not match") {
    OneAnswer server("HTTP/1.1 200 OK\r\nx-amz-crc32: 1\r\nContent-Length: 2\r\n\r\n{}");
    Asking asking(server.url());
    asking.gives_up = true;
    CHECK(asking.told("ListTables") == "CutShort: the response does not match its checksum (x-amz-crc32)");
    CHECK(asking.pauses.size() == 1);
  }
  SECTION("the client's clock is wrong") {
    OneAnswer server(
        "HTTP/1.1 400 Bad\r\nDate: Tue, 01 Jan 2030 00:00:00 GMT\r\nContent-Length: 83\r\n\r\n"
        R"({"__type":"com.amazon.coral.service#InvalidSignatureException","message":"expired"})");
    Asking asking(server.url());
    asking.gives_up = true;
    CHECK(asking.told("ListTables") == "InvalidSignatureException: expired");
    CHECK(asking.pauses.size() == 1);
  }
}

TEST_CASE("a TLS server's certificate is accepted only if its issuer is in the CA file") {
  const Certificate certificate;
  http::ServerSettings settings;
  settings.tls_cert_file = certificate.cert;
  settings.tls_key_file = certificate.key;
  Running server(settings);
  const std::string url = "https://127.0.0.1:" + std::to_string(server.port());
  Asking asking(url, 10s, certificate.cert);
  for (int n = 0; n < 3; ++n) CHECK(asking.told("ListTables") == R"({"TableNames":[]})");
  Asking stranger(url);
  CHECK_THAT(stranger.told("ListTables"),
             Catch::StartsWith("Unreachable: the TLS handshake with 127.0.0.1:"));
  Asking nowhere(url, 10s, "/nowhere.pem");
  CHECK_THAT(nowhere.told("ListTables"),
             Catch::StartsWith("Unusable: cannot use the certificates in /nowhere.pem"));
  CHECK(nowhere.pauses.empty());
}

TEST_CASE("options override the environment and the environment overrides the profile") {
  const AwsFiles files;
  files.write(
      ".aws/config",
      "[default]\nregion = eu-west-1\n\n[profile shop]\nregion=ap-south-1 # Mumbai\nmax_attempts = 7\n"
      "s3 =\n  max_concurrent_requests = 20\nendpoint_url = http://shop.test:8000\n");
  const auto told = [&](const aws::Given& given, Variables variables) {
    const auto settings = aws::Settings::read(given, environment(files.variables(std::move(variables))));
    if (!settings) return settings.error();
    const auto region = settings->region(), endpoint = settings->endpoint();
    return (region ? *region : region.error()) + " " + (endpoint ? *endpoint : endpoint.error()) + " " +
           std::to_string(settings->attempts_max());
  };
  CHECK(told({}, {}) == "eu-west-1 https://dynamodb.eu-west-1.amazonaws.com 3");
  CHECK(told({.region = "cn-north-1"}, {}) == "cn-north-1 https://dynamodb.cn-north-1.amazonaws.com.cn 3");
  CHECK(told({}, {{"AWS_DEFAULT_REGION", "us-west-2"}, {"AWS_MAX_ATTEMPTS", "5"}}) ==
        "us-west-2 https://dynamodb.us-west-2.amazonaws.com 5");
  CHECK(told({}, {{"AWS_PROFILE", "shop"}}) == "ap-south-1 http://shop.test:8000 7");
  CHECK(told({.profile = "shop"},
             {{"AWS_ENDPOINT_URL", "http://a:1"}, {"AWS_ENDPOINT_URL_DYNAMODB", "http://b:2"}}) ==
        "ap-south-1 http://b:2 7");
  CHECK(told({.endpoint = "http://c:3", .profile = "shop"}, {{"AWS_ENDPOINT_URL", "http://a:1"}}) ==
        "ap-south-1 http://c:3 7");
  CHECK(told({.profile = "shop"}, {{"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true"}}) ==
        "ap-south-1 https://dynamodb.ap-south-1.amazonaws.com 7");
  CHECK_THAT(told({.profile = "shpo"}, {}), Catch::StartsWith("there is no profile 'shpo' in "));
  CHECK(told({.region = "evil.test/"}, {}) ==
        "the region must be a name such as eu-west-1, got 'evil.test/' "
        "the region must be a name such as eu-west-1, got 'evil.test/' 3");
  const Variables elsewhere = {{"HOME", "/nowhere"}};
  CHECK(told({.endpoint = "http://127.0.0.1:8000"}, elsewhere) == "us-east-1 http://127.0.0.1:8000 3");
  CHECK_THAT(told({}, elsewhere), Catch::StartsWith("no region is set"));
}

TEST_CASE("credentials come from the environment or the profile or the profile's credential_process") {
  const AwsFiles files;
  files.write(
      ".aws/credentials",
      "# ours\n[default]\naws_access_key_id = A\naws_secret_access_key = a\r\n[shop]\n"
      "aws_access_key_id=B\naws_secret_access_key=b\naws_session_token=t\n[half]\naws_access_key_id=C\n");
  files.write(
      ".aws/config",
      "[profile program]\ncredential_process = echo '{\"Version\":1,\"AccessKeyId\":\"D\",'"
      "'\"SecretAccessKey\":\"d\",\"SessionToken\":\"u\",\"Expiration\":\"2099-01-01T00:00:00Z\"}'\n"
      "[profile broken]\ncredential_process = false\n[profile role]\nrole_arn = arn:aws:iam::1:role/r\n");
  const Variables home = files.variables();
  CHECK(key_of(home) == "A a");
  CHECK(key_of(files.variables({{"AWS_PROFILE", "shop"}})) == "B b t");
  CHECK(key_of(files.variables({{"AWS_ACCESS_KEY_ID", "E"}, {"AWS_SECRET_ACCESS_KEY", "e"}})) == "E e");
  CHECK(key_of(files.variables({{"AWS_ACCESS_KEY_ID", "E"}, {"AWS_SECRET_ACCESS_KEY", "e"}}),
               {.profile = "shop"}) == "B b t");
  CHECK(key_of(home, {.profile = "program"}) == "D d u");
  CHECK(key_of(home, {.profile = "broken"}) == "the credential_process of profile broken failed");
  CHECK_THAT(key_of(home, {.profile = "role"}), Catch::StartsWith("profile role has role_arn, which is not"));
  CHECK_THAT(key_of(home, {.profile = "half"}), Catch::StartsWith("no AWS credentials"));
  files.write("elsewhere", "[default]\naws_access_key_id = F\naws_secret_access_key = f\n");
  CHECK(key_of({{"AWS_SHARED_CREDENTIALS_FILE", (files.directory / "elsewhere").string()}}) == "F f");
}

TEST_CASE("a container's credentials are requested with its token and only from allowed addresses") {
  const std::string key =
      R"({"AccessKeyId":"G","SecretAccessKey":"g","Token":"v","Expiration":"2099-01-01T00:00:00Z"})";
  const std::string answer =
      "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(key.size()) + "\r\n\r\n" + key;
  OneAnswer agent(answer);
  CHECK(key_of({{"AWS_CONTAINER_CREDENTIALS_FULL_URI", agent.url("/v1/credentials?x=1")},
                {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "let me in"}}) == "G g v");
  const std::string request = agent.take_request();
  CHECK_THAT(request, Catch::StartsWith("GET /v1/credentials?x=1 HTTP/1.1\r\n"));
  CHECK_THAT(request, Catch::Contains("\r\nAuthorization: let me in\r\n"));

  const AwsFiles files;
  files.write("token", "of a file\n");
  OneAnswer second(answer);
  CHECK(key_of({{"AWS_CONTAINER_CREDENTIALS_FULL_URI", second.url()},
                {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", (files.directory / "token").string()}}) ==
        "G g v");
  CHECK_THAT(second.take_request(), Catch::Contains("\r\nAuthorization: of a file\r\n"));

  for (const char* allowed :
       {"http://127.0.0.1/", "http://[::1]:5/", "http://localhost/x", "http://169.254.170.2/x",
        "http://169.254.170.23/v1", "http://[fd00:ec2::23]/v1", "https://keys.test/"})
    CHECK(aws::may_have_credentials(allowed));
  for (const char* refused :
       {"http://keys.test/", "http://169.254.169.254/", "http://127.evil.test/", "ftp://x", ""})
    CHECK_FALSE(aws::may_have_credentials(refused));
  CHECK_THAT(key_of({{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://keys.test/"}}),
             Catch::Contains("must use https:// or an address of this machine"));
  CHECK(key_of({{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:1/"},
                {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "a\r\nHost: b"}}) ==
        "AWS_CONTAINER_AUTHORIZATION_TOKEN must be one line");
}

TEST_CASE("a Date header is parsed as an instant") {
  CHECK(aws::parse_http_date("Tue, 15 Nov 1994 08:12:31 GMT") == 784'887'151'000);
  for (const char* text : {"", "Tue, 15 Nov 1994 08:12:31", "1994-11-15", "Tue, 15 Nov 1994 08:12:31 GMT "})
    CHECK_FALSE(aws::parse_http_date(text));
}

TEST_CASE("distinct page keys are accepted and a cycle is detected within three pages per distinct key") {
  compat::outbound::PageKeys endless;
  for (int page = 0; page < 10'000; ++page) CHECK(endless.advance(std::to_string(page)));
  for (int before = 0; before < 20; ++before) {
    for (int circle = 1; circle < 20; ++circle) {
      CAPTURE(before, circle);
      compat::outbound::PageKeys keys;
      int page = 0;
      while (keys.advance(std::to_string(page < before ? page : before + (page - before) % circle))) ++page;
      CHECK(page >= before + circle);
      CHECK(page <= 3 * (before + circle));
    }
  }
}

}  // namespace mayfly::testing
