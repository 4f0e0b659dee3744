#include "compat/mcp/protocol.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "compat/json/utf8.h"
#include "compat/mcp/resources.h"
#include "compat/mcp/tools.h"
#include "compat/mcp/world.h"
#include "compat/wire/base64.h"
#include "engine/base/attempt.h"

namespace mayfly::compat::mcp {
namespace {

using json::Tree;

constexpr int parse_error = -32700, invalid_request = -32600, method_not_found = -32601,
              invalid_params = -32602, internal_error = -32603;
constexpr int header_mismatch = -32020, unsupported_version = -32022;
constexpr int legacy_resource_not_found = -32002;

constexpr std::string_view version_key = "io.modelcontextprotocol/protocolVersion",
                           capabilities_key = "io.modelcontextprotocol/clientCapabilities",
                           server_info_key = "io.modelcontextprotocol/serverInfo";
// How long, in ms, a client can cache results that do not change while this program runs.
constexpr int lasting_ms = 3'600'000;

constexpr std::string_view instructions =
    "Mayfly is DynamoDB for tests. It has the same API, removes items at the instant their TTL passes, and "
    "lets you control the clock. Each account (twelve digits) has its own tables, streams and clock. To test "
    "expiry, call set_clock with mode frozen, write, call advance_clock and read. If an item unexpectedly "
    "exists or is missing, call explain_expiry. Call take_snapshot before an experiment and restore_snapshot "
    "after it. Results are DynamoDB JSON; with plain=true, items are plain JSON. explain_error explains "
    "errors. See also mayfly://docs/control.";

struct Failure {
  int code;
  std::string message;
  Tree data = nullptr;
};
using Result = Expected<Tree, Failure>;

Unexpected<Failure> fails(int code, std::string message, Tree data = nullptr) {
  return {Failure{code, std::move(message), std::move(data)}};
}

Tree error_message(const Tree& id, const Failure& failure) {
  Tree error{{"code", failure.code}, {"message", failure.message}};
  if (!failure.data.is_null()) error["data"] = failure.data;
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(error)}};
}

bool is_id(const Tree* id) { return id != nullptr && (id->is_string() || id->is_number_integer()); }

// Returns null if the message has no valid id.
Tree id_of(const Tree& message) {
  const Tree* id = message.is_object() ? json::member(message, "id") : nullptr;
  return is_id(id) ? *id : Tree(nullptr);
}

Tree server_info() { return {{"name", "mayfly"}, {"title", "Mayfly"}, {"version", MAYFLY_VERSION}}; }

Tree capabilities() { return {{"tools", Tree::object()}, {"resources", Tree::object()}}; }

// Decodes a header, which a client may have encoded in base64: "=?base64?…?=". Returns nullopt if the header
// is malformed.
std::optional<std::string> decode_header(std::string_view value) {
  constexpr std::string_view begin = "=?base64?", end = "?=";
  if (!value.starts_with(begin) || !value.ends_with(end) || value.size() < begin.size() + end.size())
    return std::string(value);
  return decode_base64(value.substr(begin.size(), value.size() - begin.size() - end.size()));
}

// Returns the HTTP status for an error in a modern request (protocol revision 2026-07-28 or later).
int status_of(int code) {
  switch (code) {
    case method_not_found: return 404;
    case internal_error: return 200;
    default: return 400;
  }
}

// Returns the name of the parameter that a modern client repeats in a header, or "" if the method has no such
// parameter.
std::string_view named_member(std::string_view method) {
  if (method == "tools/call" || method == "prompts/get") return "name";
  return method == "resources/read" ? "uri" : "";
}

// Shortens a client's text for quoting, at a character boundary. Returns "" if the text is not UTF-8, which
// is possible in headers.
std::string shortened(std::string_view text) {
  constexpr std::size_t shown_max = 200;
  if (!is_utf8(text)) return "";
  const std::string_view shown = whole_characters(text, shown_max);
  return std::string(shown) + (shown.size() < text.size() ? "..." : "");
}

}  // namespace

bool is_handshake_version(std::string_view version) {
  return std::find(handshake_versions.begin(), handshake_versions.end(), version) != handshake_versions.end();
}

// --- messages

Message::Message(std::unique_ptr<json::Tree> tree, bool has_too_many_values)
    : tree_(std::move(tree)), has_too_many_values_(has_too_many_values) {}
Message::Message(Message&&) noexcept = default;
Message& Message::operator=(Message&&) noexcept = default;
Message::~Message() = default;

Message Message::read(std::string_view text) {
  auto tree = json::parse_tree(text, json::Decimals::as_written, message_values_max);
  if (tree) return Message(std::make_unique<json::Tree>(*std::move(tree)));
  return Message(nullptr, tree.error() == json::NoTree::too_many_values);
}

std::string Message::id() const {
  if (!tree_ || !tree_->is_object() || !tree_->contains("method")) return {};
  const Tree id = id_of(*tree_);
  return id.is_null() ? "" : json::print(id);
}

std::string Message::cancels() const {
  if (!tree_ || !tree_->is_object() || json::string_member(*tree_, "method") != "notifications/cancelled")
    return {};
  const Tree* parameters = json::member(*tree_, "params");
  const Tree* id =
      parameters != nullptr && parameters->is_object() ? json::member(*parameters, "requestId") : nullptr;
  return is_id(id) ? json::print(*id) : "";
}

bool Message::is_batch() const { return tree_ && tree_->is_array(); }

// --- one request

class Protocol::Request {
 public:
  Request(const Protocol& protocol, const Tree& message, const Peer& peer, const std::stop_token& stop)
      : world_(protocol.world_),
        settings_(protocol.settings_),
        method_(json::string_member(message, "method").value_or("")),
        peer_(peer),
        stop_(stop) {
    if (const Tree* parameters = json::member(message, "params")) parameters_ = parameters;
  }

  // Checks the request before its method is examined, and determines whether the request is modern.
  std::optional<Failure> examine() {
    if (parameters_ != nullptr && !parameters_->is_object())
      return Failure{invalid_params, "params must be an object"};
    const Tree* meta = parameters_ != nullptr ? json::member(*parameters_, "_meta") : nullptr;
    const Tree* version = meta != nullptr && meta->is_object() ? json::member(*meta, version_key) : nullptr;
    const RoutingHeaders* headers = peer_.headers;
    const bool header_is_modern =
        headers != nullptr && headers->version && !is_handshake_version(*headers->version);
    is_modern_ = version != nullptr || header_is_modern || method_ == "server/discover";
    if (!is_modern_) return std::nullopt;
    if (version == nullptr && headers != nullptr && headers->version && *headers->version != modern_version)
      return unsupported(*headers->version);
    if (version == nullptr || json::member(*meta, capabilities_key) == nullptr)
      return Failure{invalid_params, "params._meta must contain " + std::string(version_key) + " and " +
                                         std::string(capabilities_key)};
    if (!version->is_string()) return Failure{invalid_params, std::string(version_key) + " must be a string"};
    const auto& asked = version->get_ref<const std::string&>();
    if (auto mismatch = compare_headers(asked)) return mismatch;
    if (asked != modern_version) return unsupported(asked);
    return std::nullopt;
  }

  [[nodiscard]] bool is_modern() const { return is_modern_; }
  [[nodiscard]] const std::string& agreed() const { return agreed_; }

  Result run() {
    if (method_ == "tools/list") return lasting(list_tools());
    if (method_ == "tools/call") return call();
    if (method_ == "resources/list") return passing(resources());
    if (method_ == "resources/templates/list")
      return lasting(only_page(Tree{{"resourceTemplates", resource_templates()}}));
    if (method_ == "resources/read") return read();
    if (is_modern_) {
      if (method_ == "server/discover")
        return lasting(Tree{{"supportedVersions", Tree::array({modern_version})},
                            {"capabilities", capabilities()},
                            {"instructions", instructions}});
    } else {
      if (method_ == "initialize") return initialize();
      if (method_ == "ping") return Tree::object();
    }
    return fails(method_not_found, "Method not found: " + shortened(method_));
  }

  // Adds the members that each result of a modern request has.
  void complete(Tree& result) const {
    if (!is_modern_) return;
    result["resultType"] = "complete";
    Tree meta = Tree::object();
    meta[std::string(server_info_key)] = server_info();
    result["_meta"] = std::move(meta);
  }

 private:
  static Failure unsupported(std::string_view asked) {
    return {unsupported_version, "Unsupported protocol version",
            Tree{{"supported", Tree::array({modern_version})}, {"requested", shortened(asked)}}};
  }

  std::optional<Failure> compare_headers(std::string_view version) const {
    const RoutingHeaders* headers = peer_.headers;
    if (headers == nullptr) return std::nullopt;
    const auto mismatch = [](std::string what) {
      return Failure{header_mismatch, "Header mismatch: " + std::move(what)};
    };
    if (headers->repeated) return mismatch("a header is repeated");
    if (headers->version != version) return mismatch("MCP-Protocol-Version does not match _meta");
    if (headers->method != method_) return mismatch("Mcp-Method does not match the body's method");
    const std::string_view member = named_member(method_);
    if (member.empty()) return std::nullopt;
    const auto named = json::string_member(*parameters_, member);
    if (named && (!headers->name || decode_header(*headers->name) != *named))
      return mismatch("Mcp-Name does not match the body's " + std::string(member));
    return std::nullopt;
  }

  // lasting() marks a result that clients can cache for a long time; passing() forbids caching.
  Result lasting(Result result) const { return kept(std::move(result), lasting_ms, "public"); }
  Result passing(Result result) const { return kept(std::move(result), 0, "private"); }
  Result kept(Result result, int milliseconds, const char* scope) const {
    if (is_modern_ && result) {
      (*result)["ttlMs"] = milliseconds;
      (*result)["cacheScope"] = scope;
    }
    return result;
  }

  // Without a configured region, this function uses the world's region. Finding that region may require a
  // call to the server.
  [[nodiscard]] engine::Scope scope() const {
    engine::Scope scope = settings_.scope;
    if (scope.region.empty()) scope.region = world_.region();
    return scope;
  }

  [[nodiscard]] std::optional<std::string_view> text(std::string_view name) const {
    return parameters_ != nullptr ? json::string_member(*parameters_, name) : std::nullopt;
  }

  // Returns the page of a list that has only one page.
  Result only_page(Tree page) const {
    if (text("cursor")) return fails(invalid_params, "Invalid cursor: the list has only one page");
    return page;
  }

  Result initialize() {
    const auto asked = text("protocolVersion");
    if (!asked) return fails(invalid_params, "protocolVersion is required and must be a string");
    agreed_ = is_handshake_version(*asked) ? *asked : legacy_version;
    return Tree{{"protocolVersion", agreed_},
                {"capabilities", capabilities()},
                {"serverInfo", server_info()},
                {"instructions", instructions}};
  }

  [[nodiscard]] Result list_tools() const {
    Tree shown = Tree::array();
    for (const Tool& tool : all_tools())
      if (is_offered(tool, settings_.read_only)) shown.push_back(describe(tool, settings_.read_only));
    return only_page(Tree{{"tools", std::move(shown)}});
  }

  [[nodiscard]] Result call() const {
    const auto name = text("name");
    if (!name) return fails(invalid_params, "name is required and must be a string");
    const Tool* tool = find_tool(*name);
    if (tool == nullptr) return fails(invalid_params, "Unknown tool: " + shortened(*name));
    if (!is_offered(*tool, settings_.read_only))
      return fails(invalid_params, "The tool " + std::string(*name) + " is not available in read-only mode");
    const Tree* given = json::member(*parameters_, "arguments");
    if (given != nullptr && !given->is_object()) return fails(invalid_params, "arguments must be an object");
    Outcome outcome = call_tool(*tool, world_, scope(), given != nullptr ? *given : Tree::object(),
                                settings_.read_only, stop_);
    tell(*tool, given, outcome);
    Tree content = Tree::array({Tree{{"type", "text"}, {"text", outcome.text}}});
    if (!outcome.more.empty()) content.push_back({{"type", "text"}, {"text", std::move(outcome.more)}});
    Tree result{{"content", std::move(content)}};
    if (outcome.is_object && !outcome.failed) result["structuredContent"] = json::raw(outcome.text);
    result["isError"] = outcome.failed;
    return result;
  }

  // Reports control calls that change something, such as a clock. Calls that arrive through the control
  // API are reported in the same way.
  void tell(const Tool& tool, const Tree* given, const Outcome& outcome) const {
    if (!settings_.notice || tool.call == nullptr || tool.effect == Effect::reads) return;
    const bool secret = tool.call->is_secret;
    settings_.notice("tool " + std::string(tool.name) +
                     (secret || given == nullptr ? "" : " " + shortened(json::print(*given))) +
                     " of account " + settings_.scope.account + (outcome.failed ? " failed: " : " -> ") +
                     (secret ? "" : shortened(outcome.text)));
  }

  [[nodiscard]] Result resources() const {
    auto listed = list_resources(world_, scope(), text("cursor"), stop_);
    if (!listed) return fails(invalid_params, listed.error());
    return *std::move(listed);
  }

  [[nodiscard]] Result read() const {
    const auto uri = text("uri");
    if (!uri) return fails(invalid_params, "uri is required and must be a string");
    auto found = read_resource(world_, *uri, stop_);
    if (!found)
      return fails(is_modern_ ? invalid_params : legacy_resource_not_found, "Resource not found",
                   Tree{{"uri", shortened(*uri)}});
    Tree contents =
        Tree::array({Tree{{"uri", *uri}, {"mimeType", found->mime_type}, {"text", std::move(found->text)}}});
    Tree result{{"contents", std::move(contents)}};
    return found->changes ? passing(std::move(result)) : lasting(std::move(result));
  }

  World& world_;
  const ProtocolSettings& settings_;
  const std::string_view method_;
  const Peer& peer_;
  const std::stop_token& stop_;
  const Tree* parameters_ = nullptr;
  bool is_modern_ = false;
  std::string agreed_;
};

// --- the protocol

Protocol::Protocol(World& world, ProtocolSettings settings) : world_(world), settings_(std::move(settings)) {}
Protocol::~Protocol() = default;

Said Protocol::answer(const Message& message, const Peer& peer, const std::stop_token& stop) const {
  if (!message.tree_) {
    const Failure failure =
        message.has_too_many_values_
            ? Failure{invalid_request,
                      "Invalid request: more than " + std::to_string(message_values_max) + " JSON values"}
            : Failure{parse_error, "Parse error: the message is not JSON"};
    return {.body = json::print(error_message(nullptr, failure)), .status = 400};
  }
  return message.is_batch() ? answer_batch(*message.tree_, peer, stop)
                            : answer_one(*message.tree_, peer, stop);
}

Said Protocol::answer_batch(const json::Tree& messages, const Peer& peer, const std::stop_token& stop) const {
  const auto refuse = [](const char* why) {
    return Said{.body = json::print(error_message(nullptr, {invalid_request, why})), .status = 400};
  };
  if (peer.version != batch_version)
    return refuse("Invalid request: this protocol version does not support batches");
  if (messages.empty()) return refuse("Invalid request: the batch is empty");
  if (messages.size() > batch_max) return refuse("Invalid request: the batch has more than 100 messages");
  std::string answers;
  for (const Tree& message : messages) {
    if (json::string_member(message.is_object() ? message : Tree::object(), "method") == "initialize")
      return refuse("Invalid request: initialize cannot be part of a batch");
    const Said said = answer_one(message, peer, stop);
    if (said.body.empty()) continue;
    answers += answers.empty() ? '[' : ',';
    answers += said.body;
  }
  if (answers.empty()) return {.status = 202};
  return {.body = answers + "]"};
}

Said Protocol::answer_one(const json::Tree& message, const Peer& peer, const std::stop_token& stop) const {
  const auto say = [](const Tree& id, const Failure& failure, int status) {
    return Said{.body = json::print(error_message(id, failure)), .status = status};
  };
  if (!message.is_object())
    return say(nullptr, {invalid_request, "Invalid request: the message is not an object"}, 400);
  const Tree id = id_of(message);
  const auto version = json::string_member(message, "jsonrpc");
  const auto method = json::string_member(message, "method");
  if (version != "2.0") return say(id, {invalid_request, "Invalid request: jsonrpc must be \"2.0\""}, 400);
  if (!method) {
    // A message with a result or an error is a response. The server sends no requests, so it expects no
    // responses.
    const bool is_answer = message.contains("result") || message.contains("error");
    if (is_answer && peer.headers != nullptr && peer.headers->version != modern_version)
      return {.status = 202};
    if (is_answer && peer.headers == nullptr) return {.status = 202};
    return say(id, {invalid_request, "Invalid request: method is required and must be a string"}, 400);
  }
  if (!message.contains("id")) {
    const bool known = peer.headers == nullptr || !peer.headers->version ||
                       *peer.headers->version == modern_version ||
                       is_handshake_version(*peer.headers->version);
    if (known) return {.status = 202};
    return say(nullptr, {unsupported_version, "Unsupported protocol version"}, 400);
  }
  if (id.is_null())
    return say(id, {invalid_request, "Invalid request: id must be a string or an integer"}, 400);

  const auto run = [&]() -> Said {
    Request request(*this, message, peer, stop);
    const std::optional<Failure> wrong = request.examine();
    Result result = wrong ? Result(Unexpected{*wrong}) : request.run();
    if (!result) return say(id, result.error(), request.is_modern() ? status_of(result.error().code) : 200);
    request.complete(*result);
    return {.body = json::print(Tree{{"jsonrpc", "2.0"}, {"id", id}, {"result", *std::move(result)}}),
            .version = request.agreed()};
  };
  return engine::attempt(run, [&](std::string_view why) {
    return say(id, {internal_error, "Internal error: " + std::string(why)}, 200);
  });
}

}  // namespace mayfly::compat::mcp
