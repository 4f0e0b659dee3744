// Tests the console's files over HTTP: which files exist, how they are compressed, what their headers forbid,
// and which clients cannot load them. tests/sdk/console tests the page itself.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "http/access/keys.h"
#include "http/connections/server.h"
#include "http/requests/compression.h"
#include "tests/support/http_client.h"
#include "tests/support/running.h"

namespace mayfly::testing {

using Json = nlohmann::json;

namespace {

const std::string page = "/_mayfly/console";

// Returns every string between `opening` and the next double quote.
std::set<std::string> quoted_behind(const std::string& text, const std::string& opening) {
  std::set<std::string> names;
  for (std::size_t at = 0; (at = text.find(opening, at)) != std::string::npos;) {
    at += opening.size();
    names.insert(text.substr(at, text.find('"', at) - at));
  }
  return names;
}

}  // namespace

TEST_CASE("every file that the console page or one of its modules references is served") {
  Running running;
  const HttpAnswer answer = running.ask(http_request("GET", page));
  CHECK(answer.status == 200);
  CHECK(answer.headers.at("content-type") == "text/html; charset=utf-8");
  CHECK(answer.headers.count("set-cookie") == 0);
  CHECK(running.ask(http_request("GET", page + "/")).body == answer.body);

  std::set<std::string> to_see = quoted_behind(answer.body, "=\"/_mayfly/console/"), seen;
  CHECK(to_see == std::set<std::string>{"icon.svg", "page.js", "panes.css", "style.css"});
  while (!to_see.empty()) {
    const std::string name = *to_see.begin();
    to_see.erase(to_see.begin());
    if (!seen.insert(name).second) continue;
    INFO(name);
    const HttpAnswer file = running.ask(http_request("GET", page + "/" + name));
    CHECK(file.status == 200);
    CHECK(file.headers.at("content-type") == (name.ends_with(".js")    ? "text/javascript; charset=utf-8"
                                              : name.ends_with(".css") ? "text/css; charset=utf-8"
                                                                       : "image/svg+xml; charset=utf-8"));
    to_see.merge(quoted_behind(file.body, "from \"./"));
  }
  for (const char* pane : {"tables.js", "time.js", "streams.js", "triggers.js", "backups.js", "worlds.js"})
    CHECK(seen.count(pane) == 1);
}

TEST_CASE("console headers restrict the page to this origin and forbid framing") {
  Running running;
  for (const std::string& path : {page, page + "/page.js"}) {
    const HttpAnswer answer = running.ask(http_request("GET", path));
    CHECK(answer.headers.at("content-security-policy") ==
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
          "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; "
          "trusted-types 'none'");
    CHECK(answer.headers.at("x-frame-options") == "DENY");
    CHECK(answer.headers.at("x-content-type-options") == "nosniff");
    CHECK(answer.headers.at("referrer-policy") == "no-referrer");
    CHECK(answer.headers.at("cross-origin-opener-policy") == "same-origin");
    CHECK(answer.headers.at("cross-origin-resource-policy") == "same-origin");
    CHECK(answer.headers.at("cache-control") == "no-cache");
  }
  // The page has no inline scripts or styles, because the Content-Security-Policy would block them.
  const std::string html = running.ask(http_request("GET", page)).body;
  for (const char* inside : {"<style", "style=", "onclick", "<script>", "http:", "https:"})
    CHECK(html.find(inside) == std::string::npos);
}

TEST_CASE("console files are sent gzipped to clients that accept gzip and uncompressed to other clients") {
  Running running;
  const HttpAnswer plain = running.ask(http_request("GET", page)),
                   packed = running.ask(http_request("GET", page, {{"Accept-Encoding", "gzip, br"}}));
  CHECK(plain.headers.count("content-encoding") == 0);
  CHECK(packed.headers.at("content-encoding") == "gzip");
  CHECK(packed.headers.at("vary") == "Accept-Encoding");
  CHECK(packed.body.size() < plain.body.size());
  std::string unpacked;
  CHECK(!http::decompress(packed.body, http::Encoding::gzip, 1 << 20, unpacked));
  CHECK(unpacked == plain.body);
  const HttpAnswer head = running.ask(http_request("HEAD", page), true);
  CHECK(head.status == 200);
  CHECK(head.headers.at("content-length") == std::to_string(plain.body.size()));
  CHECK(head.body.empty());
}

TEST_CASE("an unknown console file gets 404 and a method other than GET or HEAD gets 405") {
  Running running;
  for (const char* name :
       {"/nothing.js", "/../page.js", "/%2e%2e/page.js", "/page.js/", "//", "/page.js.gz"}) {
    INFO(name);
    const HttpAnswer answer = running.ask(http_request("GET", page + name));
    CHECK(answer.status == 404);
    CHECK(Json::parse(answer.body)["message"] ==
          "The console has no file '" + std::string(name).substr(1) + "'.");
  }
  CHECK(running.ask(http_request("GET", "/_mayfly/consoles")).status == 404);
  const HttpAnswer posted =
      running.ask(http_request("POST", page, {{"Content-Type", "application/json"}}, "{}"));
  CHECK(posted.status == 405);
  CHECK(posted.headers.at("allow") == "GET, HEAD");
}

TEST_CASE("with --no-control the console is not served and the page at / does not link to it") {
  http::ServerSettings settings;
  settings.access.control = false;
  Running running(settings);
  const HttpAnswer answer = running.ask(http_request("GET", page));
  CHECK(answer.status == 404);
  CHECK(Json::parse(answer.body)["message"] == "The control API is disabled (--no-control).");
  const Headers typed = {{"Sec-Fetch-Site", "none"}};
  CHECK(running.ask(http_request("GET", "/", typed)).body.find(page) == std::string::npos);
  CHECK(Running().ask(http_request("GET", "/", typed)).body.find("<a href=\"" + page + "\">") !=
        std::string::npos);
}

TEST_CASE("with --require-signature the console's files need no signature but its calls need one") {
  http::ServerSettings settings;
  settings.access.keys =
      std::make_shared<http::Keys>(http::Key{.id = "AKIDEXAMPLE", .secret = "wJalrXUtnFEMI"});
  Running running(settings);
  CHECK(running.ask(http_request("GET", page)).status == 200);
  CHECK(running.ask(http_request("GET", page + "/page.js")).status == 200);
  CHECK(running.ask(http_request("GET", "/_mayfly/accounts")).status == 403);
}

}  // namespace mayfly::testing
