// An in-memory emulator with a server on a free port. Sends requests, control calls and operations to the
// server as one account.
//
//   Running server;
//   server.ask(http_request("GET", "/")).status == 200
//   server.create_table("carts", true);                               // with a stream; TTL on "ttl"
//   server.ok("POST", "/_mayfly/clock/advance", R"({"seconds":60})")["expired"] == 1
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "compat/emulator.h"
#include "http/connections/server.h"
#include "tests/support/http_client.h"

namespace mayfly::testing {

struct Running {
  explicit Running(http::ServerSettings settings = {}, compat::EmulatorOptions options = {});

  std::unique_ptr<compat::Emulator> emulator;
  std::unique_ptr<http::Server> server;
  std::string account = "000000000000";
  // Sends requests as another account until the object is destroyed.
  struct As {
    As(Running& server, std::string account) : server(server), before(server.account) {
      server.account = std::move(account);
    }
    ~As() { server.account = before; }
    Running& server;
    std::string before;
  };

  [[nodiscard]] std::uint16_t port() const { return server->port(); }
  void stop() { server.reset(); }

  // Sends these bytes on a new connection and returns the response.
  HttpAnswer ask(std::string_view bytes, bool to_head = false) const;

  [[nodiscard]] std::string request(std::string_view method, std::string_view target,
                                    std::string_view body = {}) const;
  HttpAnswer call(std::string_view method, std::string_view target, std::string_view body = {});
  // Fails the test unless the response is 200.
  nlohmann::json ok(std::string_view method, std::string_view target, std::string_view body = {});
  nlohmann::json execute(std::string_view operation, std::string_view body);

  void create_table(const std::string& name, bool stream, bool ttl = true);
  void put(const std::string& table, const std::string& id, const std::string& more = "");
  // The items that the service removed according to the stream, in order: [id, seconds since 2031-01-01].
  nlohmann::json removed(const std::string& table);
  std::size_t count_waiting();  // the number of items held at failpoints
};

}  // namespace mayfly::testing
