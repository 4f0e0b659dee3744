// Tests shell completion. The tests run the same command as the shells' completion scripts.
#include "cli/options/completion.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/cli/process.h"
#include "tests/support/one_answer.h"

namespace mayfly::testing {

namespace {

std::string completed(const std::string& line) { return printed({cli::completing_command, line}); }

std::string json_answer(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace

TEST_CASE("words that do not depend on a server are completed without a server") {
  CHECK(completed("mayfly clock adv") == "advance\n");
  CHECK(completed("mayfly  clock   advance --se") == "--settle\n");
  CHECK(completed("mayfly it") == "item\n");
  CHECK(completed("mayfly function ru") == "run\n");
  CHECK(completed("mayfly event ") == "dynamodb\n");
  CHECK(completed("mayfly invoke f --as") == "--async\n");
  CHECK(completed("mayfly help it") == "item\n");
  for (const char* command : {"metrics", "sweep", "sweep plan", "sweep backfill", "export", "import"})
    CHECK(completed("mayfly " + std::string(command) + " --js") == "--json\n");
  CHECK(completed("mayfly item ") == "put\nget\nquery\nscan\ndelete\n");
  CHECK(completed("mayfly faults set thr") == "throttle\n");
  CHECK(completed("mayfly tail --event ") == "INSERT\nMODIFY\nREMOVE\n");
  CHECK(completed("mayfly ttl set carts m --url http://127.0.0.1:1 ma").empty());
  CHECK(completed("mayfly ttl set --url http://127.0.0.1:1 carts ma") == "manual\n");
  CHECK(completed("mayfly serve --data ").empty());
  CHECK(completed("mayfly __").empty());
  for (const char* nothing : {"", "mayfly", "mayfly xyzzy ", "mayfly clock advance 1h 2h 3h "})
    CHECK(completed(nothing).empty());
}

TEST_CASE("names that a running server knows are completed") {
  Process server({"serve", "--port", "0"});
  const std::string url = " --url " + local_url(server.port()) + " ";
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--url", url.substr(7, url.size() - 8)});
    return printed(std::move(words));
  };
  run({"table", "create", "carts"});
  run({"table", "create", "carpets"});
  run({"table", "create", "other", "--account", "000000000042"});
  run({"snapshot", "take"});
  run({"function", "put", "reminder", "http://127.0.0.1:9/"});
  CHECK(completed("mayfly item get" + url + "car") == "carpets\ncarts\n");
  CHECK(completed("mayfly item get" + url + "--account 000000000042 ") == "other\n");
  CHECK(completed("mayfly item get" + url + "carts ").empty());
  CHECK(completed("mayfly faults set throttle" + url + "--table cart") == "carts\n");
  CHECK(completed("mayfly export" + url + "carts carp") == "carpets\n");
  CHECK(completed("mayfly table create" + url).empty());
  CHECK(completed("mayfly snapshot restore" + url) == "1\n");
  CHECK(completed("mayfly function remove" + url) == "reminder\n");
  CHECK(completed("mayfly invoke" + url + "re") == "reminder\n");
  CHECK(completed("mayfly invoke" + url + "reminder ").empty());
  CHECK(completed("mayfly event dynamodb" + url + "--from carp") == "carpets\n");
  CHECK(server.end_cleanly());
}

TEST_CASE("completion omits names that a shell could expand and prints a limited number of names") {
  std::string many =
      R"x({"snapshots":[{"id":"$(touch x)"},{"id":"`x`"},{"id":"a b"},{"id":"a'b"},{"id":"*"},)x"
      R"({"id":"a\nb"},{"id":"\u001b[2J"},{"id":""},{"id":7},{"id":"good-1.x_y"})";
  for (std::size_t i = 0; i < 2 * cli::completion_names_max; ++i)
    many += R"(,{"id":"s)" + std::to_string(i) + R"("})";
  OneAnswer server(json_answer(many + "]}"));
  const std::string words = completed("mayfly snapshot restore --url " + server.url() + " ");
  CHECK_THAT(words, Catch::StartsWith("good-1.x_y\ns0\ns1\n"));
  CHECK(static_cast<std::size_t>(std::count(words.begin(), words.end(), '\n')) < cli::completion_names_max);
}

TEST_CASE("completion prints nothing if no server is running or the server does not respond") {
  Process none({cli::completing_command, "mayfly item get "}, {"MAYFLY_URL=http://127.0.0.1:1"});
  CHECK(none.rest().empty());
  CHECK(none.wait() == 0);
  CHECK(none.errors().empty());
  OneAnswer silent("");
  Process waits({cli::completing_command, "mayfly item get "},
                {"MAYFLY_URL=" + silent.url(), "MAYFLY_REGION=us-east-1"});
  CHECK(waits.rest().empty());
  CHECK(waits.wait() == 0);
  CHECK(waits.errors().empty());
}

TEST_CASE("bash completes a word with the program's suggestions", "[posix]") {
  Process server({"serve", "--port", "0"});
  const std::string url = local_url(server.port());
  printed({"table", "create", "carts", "--url", url});
  const auto complete = [&](const std::string& words, int number, const std::string& line) {
    Process bash(
        {"-c", "source <(\"" + executable() + "\" completion bash); COMP_WORDS=(\"" + executable() + "\" " +
                   words + "); COMP_CWORD=" + std::to_string(number) + "; COMP_LINE='" + line +
                   "'; COMP_POINT=${#COMP_LINE}; _mayfly; printf '%s\\n' \"${COMPREPLY[@]}\""},
        {"MAYFLY_URL=" + url, "PATH=/usr/bin:/bin"}, "/bin/bash");
    const std::string text = bash.rest();
    CHECK(bash.wait() == 0);
    return text;
  };
  CHECK(complete("clock adv", 2, "mayfly clock adv") == "advance\n");
  CHECK(complete("clock advance --se", 3, "mayfly clock advance --se") == "--settle\n");
  CHECK(complete("item get ''", 3, "mayfly item get ") == "carts\n");
  CHECK(server.end_cleanly());
}

}  // namespace mayfly::testing
