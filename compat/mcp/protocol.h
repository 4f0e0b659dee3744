// The Model Context Protocol: a message in, what is to be said to it out. No transport here.
//
//   Protocol protocol(world, {.scope = scope});
//   const Message message = Message::read(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
//   const Said said = protocol.answer(message, {.version = legacy_version}, stop);
//   said.body == R"({"jsonrpc":"2.0","id":1,"result":{"tools":[…]}})"
//
// Two kinds of revisions are spoken. From 2026-07-28 on each request says in `_meta` which revision it is of,
// and nothing is remembered from one to the next. Before, `initialize` agreed upon one; who has not said (or
// cannot have: each HTTP request may be another's) is answered as the newest of these. Nothing is remembered
// here for them either: their transport says in Peer what was agreed upon.
//
// What is no JSON, no request, no method or no parameter gets JSON-RPC's error; what a tool could not do is a
// result that says so (`isError`), in the words of whoever refused it.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "compat/wire/json_tree.h"
#include "engine/catalog.h"

namespace mayfly::compat::mcp {

class World;

inline constexpr std::string_view modern_version = "2026-07-28";
inline constexpr std::array<std::string_view, 4> handshake_versions = {"2025-11-25", "2025-06-18",
                                                                       "2025-03-26", "2024-11-05"};
inline constexpr std::string_view legacy_version = handshake_versions[0];
inline constexpr std::string_view batch_version = "2025-03-26";  // the one whose messages may come in arrays
bool is_handshake_version(std::string_view version);

inline constexpr std::size_t batch_max = 100;
// JSON values in a message, or in an array of them: a tree is made of it, many times as large.
inline constexpr std::size_t message_values_max = 100'000;

class Message {
 public:
  static Message read(std::string_view text);  // message_values_max of it at most
  Message(Message&&) noexcept;
  Message& operator=(Message&&) noexcept;
  ~Message();

  // As JSON; empty: nobody waits for an answer, or it is an array.
  [[nodiscard]] std::string id() const;
  // Of notifications/cancelled: which request's id, as JSON. Else empty.
  [[nodiscard]] std::string cancels() const;
  [[nodiscard]] bool is_batch() const;

 private:
  friend class Protocol;
  explicit Message(std::unique_ptr<json::Tree> tree, bool has_too_many_values = false);
  std::unique_ptr<json::Tree> tree_;  // nullptr: no JSON, or too much of it
  bool has_too_many_values_;
};

// What HTTP says beside the body. A header that is not there is nothing.
struct RoutingHeaders {
  std::optional<std::string_view> version, method, name;
  bool repeated = false;  // one of them came twice
};

struct Peer {
  std::string_view version = legacy_version;  // of handshakes: what was agreed upon
  const RoutingHeaders* headers = nullptr;    // of HTTP
};

struct Said {
  std::string body;          // empty: nothing
  int status = 200;          // of HTTP
  std::string version = {};  // what an `initialize` agreed upon
};

struct ProtocolSettings {
  engine::Scope scope;  // of tools that are not told another; without a region: the world's
  bool read_only = false;
  // Is told what tools have changed: "advance_clock {"seconds":60} of account 000000000000 -> {…}".
  std::function<void(const std::string& sentence)> notice{};
};

class Protocol {
 public:
  // `world` outlives it.
  Protocol(World& world, ProtocolSettings settings);
  ~Protocol();

  // Thread-safe. May wait as long as a tool does.
  [[nodiscard]] Said answer(const Message& message, const Peer& peer, const std::stop_token& stop) const;

 private:
  class Request;
  [[nodiscard]] Said answer_one(const json::Tree& message, const Peer& peer,
                                const std::stop_token& stop) const;
  [[nodiscard]] Said answer_batch(const json::Tree& messages, const Peer& peer,
                                  const std::stop_token& stop) const;

  World& world_;
  const ProtocolSettings settings_;
};

}  // namespace mayfly::compat::mcp
