// DynamoDB Local's command lines, as compose files and Testcontainers modules have them.
#include "cli/dynamodb_local.h"

#include <catch2/catch.hpp>

namespace mayfly::testing {

using http::DynamoDbLocal;
using http::read_dynamodb_local;
using Words = std::vector<std::string>;

namespace {

Words serve(const Words& arguments, const std::string& program = "/mayfly") {
  const auto read = read_dynamodb_local(program, arguments);
  REQUIRE(read);
  CHECK(read->problem.empty());
  return read->serve;
}

std::string problem(const Words& arguments) {
  return read_dynamodb_local("/mayfly", arguments).value().problem;
}

}  // namespace

TEST_CASE("what the image runs unless told otherwise keeps everything in memory") {
  CHECK(serve({"-jar", "DynamoDBLocal.jar", "-inMemory"}) == Words{"serve", "--port", "8000"});
}

TEST_CASE("each option of DynamoDB Local has its like") {
  CHECK(serve({"-jar", "DynamoDBLocal.jar", "-sharedDb", "-dbPath", "./data", "-port", "9000", "-cors",
               "http://localhost:3000", "-delayTransientStatuses"}) ==
        Words{"serve", "--port", "9000", "--shared-regions", "--data", "./data/mayfly", "--table-delay-ms",
              "1000", "--cors-origin", "http://localhost:3000"});
}

TEST_CASE("without -inMemory and -dbPath it is the current directory that keeps everything") {
  CHECK(serve({"-jar", "DynamoDBLocal.jar", "-sharedDb"}) ==
        Words{"serve", "--port", "8000", "--shared-regions", "--data", "./mayfly"});
}

TEST_CASE("a command line that names java, its options and a main class is read, too") {
  CHECK(serve({"-Djava.library.path=./DynamoDBLocal_lib", "-Xmx256m", "-jar", "/opt/DynamoDBLocal.jar",
               "-inMemory", "-sharedDb"},
              "/usr/bin/java") == Words{"serve", "--port", "8000", "--shared-regions"});
  CHECK(
      serve({"-cp", "a.jar:b.jar", "software.amazon.dynamodb.services.local.main.ServerRunner", "-inMemory"},
            "java") == Words{"serve", "--port", "8000"});
}

TEST_CASE("what has no like is ignored, and said") {
  const auto read = read_dynamodb_local("java", {"-Xmx256m", "-jar", "DynamoDBLocal.jar", "-inMemory",
                                                 "-optimizeDbBeforeStartup", "-disableTelemetry"});
  CHECK(read->notes ==
        Words{"Unlike DynamoDB Local, web pages of other origins are rejected; -cors ORIGIN allows one",
              "Unlike DynamoDB Local without -sharedDb, all access keys share the same tables, except keys "
              "of twelve "
              "digits",
              "Ignored: -Xmx256m", "Ignored: -optimizeDbBeforeStartup", "Ignored: -disableTelemetry"});
  CHECK(read_dynamodb_local("/mayfly", {"-jar", "DynamoDBLocal.jar", "-sharedDb", "-cors", "*"})
            ->notes.empty());
}

TEST_CASE("the banner that some wait for comes first") {
  CHECK(read_dynamodb_local("/mayfly", {"-jar", "DynamoDBLocal.jar", "-inMemory", "-sharedDb"})->banner ==
        "Initializing DynamoDB Local with the following configuration:\n"
        "Port:\t8000\nInMemory:\ttrue\nVersion:\tMayfly " MAYFLY_VERSION
        "\nDbPath:\tnull\nSharedDb:\ttrue\nshouldDelayTransientStatuses:\tfalse\nCorsParams:\tnull\n\n");
}

TEST_CASE("what DynamoDB Local does not take is not taken") {
  CHECK(problem({"-jar", "DynamoDBLocal.jar", "-port"}) == "DynamoDB Local's -port needs a value");
  CHECK(problem({"-jar", "DynamoDBLocal.jar", "-inMemory", "-dbPath", "."}) ==
        "-dbPath and -inMemory cannot be combined");
  CHECK(problem({"-jar", "DynamoDBLocal.jar", "inMemory"}) == "DynamoDB Local has no option 'inMemory'");
}

TEST_CASE("Mayfly's own command lines are not DynamoDB Local's") {
  for (const Words& own : {Words{}, Words{"serve"}, Words{"--version"}, Words{"-h"},
                           Words{"serve", "--data", "DynamoDBLocal.jar"}})
    CHECK_FALSE(read_dynamodb_local("/usr/local/bin/mayfly", own));
}

}  // namespace mayfly::testing
