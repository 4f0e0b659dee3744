// Sends messages of the Model Context Protocol, one per line, to an emulator or to a server with a
// fixed response:
//
//   r h                                              read-only, with the HTTP headers that follow
//   MCP-Protocol-Version: 2025-03-26
//   Mcp-Method: tools/call
//   < 200 {"TableNames":["a"]}                       fixed response to every call
//   {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_tables"}}
//
// For any message, the response is JSON-RPC on one line of limited size, and repeating the message gets the
// same kind of response. In read-only mode nothing changes.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "compat/json/json.h"
#include "compat/json/json_tree.h"
#include "compat/mcp/protocol.h"
#include "compat/mcp/tools.h"
#include "compat/mcp/world.h"
#include "engine/base/whole_number.h"
#include "tests/fuzz/emulator_for_fuzzing.h"
#include "tests/fuzz/must.h"
#include "tests/fuzz/pieces.h"
#include "tests/fuzz/targets.h"

namespace mayfly::testing {
namespace {

using compat::mcp::Asked;
using compat::mcp::Message;
using compat::mcp::Peer;
using compat::mcp::Protocol;
using compat::mcp::Said;
using json::Tree;

constexpr int messages_max = 6;
constexpr std::size_t cut_words_bytes_max = 64;  // " ... and 7 bytes more."
// The maximum size of the response to one message. The response contains parts of the message, sentences, and
// a tool's result twice: as text, where each byte can become an escape of six bytes, and as structured
// content.
constexpr std::size_t answer_bytes_max = 13 * compat::mcp::result_bytes_max + 64 * 1024;

std::stop_token stopped() {
  static const auto* const source = [] {
    auto* const made = new std::stop_source;  // never deleted
    made->request_stop();
    return made;
  }();
  return source->get_token();
}

// Always uses the same account and region, no matter which ones a call names. Control calls get a stop token
// that is already stopped, so none of them waits. Fault rules cannot be set, because they would make checked
// operations fail, and some rules outlive an input.
class FuzzedWorld final : public compat::mcp::World {
 public:
  FuzzedWorld(FuzzedEmulator& emulator, std::optional<compat::Answer> told)
      : emulator_(emulator), told_(std::move(told)) {}

  Asked operate(const engine::Scope& scope, std::string_view target, const std::string& body,
                const std::stop_token& /*stop*/) override {
    must(scope.account.size() == 12 && !scope.region.empty(), "a call has an account and a region",
         scope.account);
    if (told_) return *told_;
    return emulator_.execute(target.substr(target.find('.') + 1), body);
  }
  Asked call(const engine::Scope& /*scope*/, std::string_view method, const std::string& path,
             const std::string& body, const std::stop_token& /*stop*/) override {
    must(path.starts_with('/') && path.find_first_of(" \r\n") == std::string::npos, "a path is valid", path);
    if (told_) return *told_;
    if (method == "PUT" && path == "/_mayfly/faults") return Unexpected{std::string("no faults here")};
    return emulator_.call(method, path, body, stopped());
  }
  std::string region() override { return "us-east-1"; }

 private:
  FuzzedEmulator& emulator_;
  const std::optional<compat::Answer> told_;
};

// The part of a response that must not change when the message is repeated: "none", "result", "error -32601",
// or the number of responses in an array.
std::string kind_of(const Said& said) {
  if (said.body.empty()) return "none";
  const auto tree = json::parse_tree(said.body);
  if (tree->is_array()) return std::to_string(tree->size());
  const Tree* const error = json::member(*tree, "error");
  return error == nullptr ? "result" : "error " + json::print((*error)["code"]);
}

void look_at_result(const Tree& result) {
  must(result.is_object(), "a result is an object");
  const Tree* const content = json::member(result, "content");
  if (content == nullptr) return;  // not the result of a tool
  must(content->is_array() && !content->empty(), "a tool's content is not empty");
  for (const Tree& part : *content) {
    const auto text = json::string_member(part, "text");
    must(text && json::string_member(part, "type") == "text", "a tool's content is text");
    must(text->size() <= compat::mcp::result_bytes_max + cut_words_bytes_max, "a long text is truncated",
         text->substr(0, 100));
  }
  must(result.contains("isError") && result["isError"].is_boolean(), "a tool's result has isError");
  const Tree* const structured = json::member(result, "structuredContent");
  must(structured == nullptr || structured->is_object(), "structured content is an object");
}

// `id` is the request's id as JSON, or empty if the request has no valid id.
void look_at_answer(const Tree& answer, const std::string& id) {
  must(answer.is_object() && json::string_member(answer, "jsonrpc") == "2.0", "a response is JSON-RPC");
  must(answer.contains("id"), "a response has an id");
  must(json::print(answer["id"]) == (id.empty() ? "null" : id), "a response has its request's id", id);
  const Tree* const result = json::member(answer, "result");
  const Tree* const error = json::member(answer, "error");
  must((result == nullptr) != (error == nullptr), "a response has a result or an error");
  must(answer.size() == 3, "a response has no other members");
  if (result != nullptr) return look_at_result(*result);
  must(error->is_object() && error->contains("code") && (*error)["code"].is_number_integer() &&
           json::string_member(*error, "message").has_value(),
       "an error has a code and a message");
}

void look_at_batch(const Tree& answers, const Tree& messages) {
  must(answers.size() <= messages.size(), "each message of an array has at most one response");
  for (const Tree& answer : answers) {
    must(answer.is_object() && answer.contains("id"), "a response has an id");
    look_at_answer(answer, answer["id"].is_null() ? "" : json::print(answer["id"]));
  }
}

void look_at(const Said& said, std::string_view text, const Message& message, const Peer& peer) {
  const std::string id = message.id();
  const auto sent = json::parse_tree(text, json::Decimals::as_written);
  must(said.status == 200 || said.status == 202 || said.status == 400 || said.status == 404,
       "a response has one of four statuses", std::to_string(said.status));
  must((said.status == 202) == said.body.empty(), "only status 202 has no body");
  must(said.version.empty() || compat::mcp::is_handshake_version(said.version), "the version is known",
       said.version);
  if (said.body.empty()) return must(id.empty(), "a message with an id gets a response", text);
  must(said.body.find('\n') == std::string::npos, "a response is one line", said.body);
  const std::size_t count = sent && sent->is_array() ? std::max<std::size_t>(sent->size(), 1) : 1;
  must(said.body.size() <= count * answer_bytes_max + 6 * text.size(), "a response's size is limited",
       std::to_string(said.body.size()));
  must(json::parse(said.body) != nullptr, "a response is JSON", said.body);
  const auto answer = json::parse_tree(said.body, json::Decimals::as_written);
  must(answer.has_value(), "a response is JSON for the tree's reader", said.body);
  if (answer->is_array()) {
    must(message.is_batch() && peer.version == compat::mcp::batch_version, "only a batch gets an array");
    return look_at_batch(*answer, *sent);
  }
  look_at_answer(*answer, message.is_batch() ? "" : id.empty() ? json::print((*answer)["id"]) : id);
  if (!sent) must(json::integer_member((*answer)["error"], "code") == -32700, "malformed JSON gets -32700");
}

// Removes a line "Name: value" from the front of the input and returns the value. Returns nullopt if the
// input does not begin with this header.
std::optional<std::string_view> take_header(std::string_view& input, std::string_view name) {
  if (!input.starts_with(name) || !input.substr(name.size()).starts_with(": ")) return std::nullopt;
  return take_until(input).substr(name.size() + 2);
}

// Removes a line "< 200 {…}" from the front of the input and returns the response. A vertical tab in the line
// stands for a newline. Returns nullopt if the input does not begin with "< ".
std::optional<compat::Answer> take_answer(std::string_view& input) {
  if (!input.starts_with("< ")) return std::nullopt;
  std::string_view line = take_until(input).substr(2);
  const auto status = engine::whole_number<std::uint16_t>(take_until(line, ' ')).value_or(200);
  std::string body(line);
  std::replace(body.begin(), body.end(), '\v', '\n');
  return compat::Answer{status, std::move(body)};
}

}  // namespace

void fuzz_mcp(std::string_view input) {
  FuzzedEmulator& emulator = FuzzedEmulator::get();
  emulator.begin(input);
  const std::string_view words = take_until(input);
  const bool read_only = words.find('r') != std::string_view::npos;
  compat::mcp::RoutingHeaders headers{.version = take_header(input, "MCP-Protocol-Version"),
                                      .method = take_header(input, "Mcp-Method"),
                                      .name = take_header(input, "Mcp-Name"),
                                      .repeated = words.find('2') != std::string_view::npos};
  Peer peer{.version = headers.version.value_or(compat::mcp::legacy_version)};
  if (words.find('h') != std::string_view::npos) peer.headers = &headers;

  FuzzedWorld world(emulator, take_answer(input));
  std::size_t notices = 0;
  const Protocol protocol(
      world,
      {.scope = {"000000000000", ""}, .read_only = read_only, .notice = [&](const std::string& sentence) {
         ++notices;
         must(sentence.size() <= 1024, "a notice is short", sentence);
       }});
  for (int messages = 0; messages < messages_max && !input.empty(); ++messages) {
    const std::string_view text = take_until(input);
    const Message message = Message::read(text);
    const std::string cancelled = message.cancels();
    must(cancelled.empty() || json::parse(cancelled) != nullptr, "a canceled id is JSON", cancelled);
    const Said said = protocol.answer(message, peer, {});
    look_at(said, text, message, peer);
    const Said again = protocol.answer(message, peer, {});
    look_at(again, text, message, peer);
    must(kind_of(said) == kind_of(again), "a repeated message gets the same kind of response",
         kind_of(said) + ", " + kind_of(again) + ": " + std::string(text));
  }
  must(!read_only || (notices == 0 && !emulator.has_changed()), "read-only mode changes nothing");
  emulator.finish();
}

}  // namespace mayfly::testing
