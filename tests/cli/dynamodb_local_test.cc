// Tests DynamoDB Local's command lines, as found in compose files and Testcontainers modules.
#include "cli/options/dynamodb_local.h"

#include <catch2/catch.hpp>

namespace mayfly::testing {

using cli::DynamoDbLocal;
using cli::read_dynamodb_local;
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

TEST_CASE("the default command of DynamoDB Local's image keeps everything in memory") {
  CHECK(serve({"-jar", "DynamoDBLocal.jar", "-inMemory"}) == Words{"serve", "--port", "8000"});
}

TEST_CASE("each supported option of DynamoDB Local maps to an option of serve") {
  CHECK(serve({"-jar", "DynamoDBLocal.jar", "-sharedDb", "-dbPath", "./data", "-port", "9000", "-cors",
               "http://localhost:3000", "-delayTransientStatuses"}) ==
        Words{"serve", "--port", "9000", "--shared-regions", "--data", "./data/mayfly", "--table-delay-ms",
              "1000", "--cors-origin", "http://localhost:3000"});
}

TEST_CASE("data is kept in the current directory if neither -inMemory nor -dbPath is given") {
  CHECK(serve({"-jar", "DynamoDBLocal.jar", "-sharedDb"}) ==
        Words{"serve", "--port", "8000", "--shared-regions", "--data", "./mayfly"});
}

TEST_CASE("a command line that starts java with options is understood") {
  CHECK(serve({"-Djava.library.path=./DynamoDBLocal_lib", "-Xmx256m", "-jar", "/opt/DynamoDBLocal.jar",
               "-inMemory", "-sharedDb"},
              "/usr/bin/java") == Words{"serve", "--port", "8000", "--shared-regions"});
  CHECK(
      serve({"-cp", "a.jar:b.jar", "software.amazon.dynamodb.services.local.main.ServerRunner", "-inMemory"},
            "java") == Words{"serve", "--port", "8000"});
}

TEST_CASE("unsupported options are ignored with a note") {
  const auto read = read_dynamodb_local("java", {"-Xmx256m", "-jar", "DynamoDBLocal.jar", "-inMemory",
                                                 "-optimizeDbBeforeStartup", "-disableTelemetry"});
  CHECK(
      read->notes ==
      Words{
          "Unlike DynamoDB Local, Mayfly rejects web pages from other origins; -cors ORIGIN allows an origin",
          "Unlike DynamoDB Local without -sharedDb, Mayfly uses the same tables for all access keys except "
          "keys of twelve digits",
          "Ignored: -Xmx256m", "Ignored: -optimizeDbBeforeStartup", "Ignored: -disableTelemetry"});
  CHECK(read_dynamodb_local("/mayfly", {"-jar", "DynamoDBLocal.jar", "-sharedDb", "-cors", "*"})
            ->notes.empty());
}

TEST_CASE("the banner that some tools wait for is printed first") {
  CHECK(read_dynamodb_local("/mayfly", {"-jar", "DynamoDBLocal.jar", "-inMemory", "-sharedDb"})->banner ==
        "Initializing DynamoDB Local with the following configuration:\n"
        "Port:\t8000\nInMemory:\ttrue\nVersion:\tMayfly " MAYFLY_VERSION
        "\nDbPath:\tnull\nSharedDb:\ttrue\nshouldDelayTransientStatuses:\tfalse\nCorsParams:\tnull\n\n");
}

TEST_CASE("a command line that DynamoDB Local rejects is rejected") {
  CHECK(problem({"-jar", "DynamoDBLocal.jar", "-port"}) == "DynamoDB Local's -port needs a value");
  CHECK(problem({"-jar", "DynamoDBLocal.jar", "-inMemory", "-dbPath", "."}) ==
        "-dbPath and -inMemory cannot be combined");
  CHECK(problem({"-jar", "DynamoDBLocal.jar", "inMemory"}) == "DynamoDB Local has no option 'inMemory'");
}

TEST_CASE("Mayfly's own command lines are not mistaken for DynamoDB Local's") {
  for (const Words& own : {Words{}, Words{"serve"}, Words{"--version"}, Words{"-h"},
                           Words{"serve", "--data", "DynamoDBLocal.jar"}})
    CHECK_FALSE(read_dynamodb_local("/usr/local/bin/mayfly", own));
}

}  // namespace mayfly::testing
