// The Model Context Protocol without a transport: takes a message and returns the response.
//
//   Protocol protocol(world, {.scope = scope});
//   const Message message = Message::read(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
//   const Said said = protocol.answer(message, {.version = legacy_version}, stop);
//   said.body == R"({"jsonrpc":"2.0","id":1,"result":{"tools":[…]}})"
//
// Two groups of protocol revisions are supported:
// - From 2026-07-28 on, each request names its revision in `_meta`. No state is kept between requests.
// - With earlier revisions, `initialize` negotiates the revision. A client that has not called `initialize`
//   (or cannot call it, because HTTP requests are independent of each other) is served the newest of these
//   revisions. No state is kept here either: the transport passes the negotiated revision in Peer.
//
// Invalid JSON and an invalid request, method or parameter get a JSON-RPC error. A tool's failure is a result
// with `isError`; its text is the error message unchanged.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "compat/json/json_tree.h"
#include "engine/tables/catalog.h"

namespace mayfly::compat::mcp {

class World;

inline constexpr std::string_view modern_version = "2026-07-28";
inline constexpr std::array<std::string_view, 4> handshake_versions = {"2025-11-25", "2025-06-18",
                                                                       "2025-03-26", "2024-11-05"};
inline constexpr std::string_view legacy_version = handshake_versions[0];
inline constexpr std::string_view batch_version = "2025-03-26";  // the only revision with arrays of messages
bool is_handshake_version(std::string_view version);

inline constexpr std::size_t batch_max = 100;
// Limits the JSON values in a message or in an array of messages, because the tree that is built from them
// takes many times the memory of the text.
inline constexpr std::size_t message_values_max = 100'000;

class Message {
 public:
  static Message read(std::string_view text);  // reads at most message_values_max values
  Message(Message&&) noexcept;
  Message& operator=(Message&&) noexcept;
  ~Message();

  // The request's id as JSON; empty if the message expects no response, or is an array.
  [[nodiscard]] std::string id() const;
  // For notifications/cancelled: the id of the cancelled request, as JSON. Otherwise empty.
  [[nodiscard]] std::string cancels() const;
  [[nodiscard]] bool is_batch() const;

 private:
  friend class Protocol;
  explicit Message(std::unique_ptr<json::Tree> tree, bool has_too_many_values = false);
  std::unique_ptr<json::Tree> tree_;  // nullptr: invalid JSON, or too many values
  bool has_too_many_values_;
};

// The HTTP headers that repeat parts of the body. A missing header is nullopt.
struct RoutingHeaders {
  std::optional<std::string_view> version, method, name;
  bool repeated = false;  // a header occurred twice
};

struct Peer {
  std::string_view version = legacy_version;  // for the earlier revisions: the negotiated revision
  const RoutingHeaders* headers = nullptr;    // nullptr if the transport is not HTTP
};

struct Said {
  std::string body;          // empty: no response
  int status = 200;          // the HTTP status
  std::string version = {};  // the revision that `initialize` negotiated
};

struct ProtocolSettings {
  engine::Scope scope;  // for calls without account or region arguments; an empty region: the world's region
  bool read_only = false;
  // Called with each change that a tool makes: "advance_clock {"seconds":60} of account 000000000000 -> {…}".
  std::function<void(const std::string& sentence)> notice{};
};

class Protocol {
 public:
  // `world` must outlive this object.
  Protocol(World& world, ProtocolSettings settings);
  ~Protocol();

  // Answers a message. Blocks until the called tool returns. Thread-safe.
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
