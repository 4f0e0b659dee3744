// An HTTP request that can be mutated: its parts, its framing and its bytes.
//
//   Message message = *Message::of(bytes);
//   change(message, random, others);
//   client.send(bytes_of(message, random));
#pragma once

#include <cstddef>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mayfly::testing {

using Chance = std::mt19937_64;

// How a message marks the end of its body.
enum class Framing : unsigned char { length, wrong_length, no_length, chunks, bad_chunks, both };

struct Message {
  std::string method, target, version;
  std::vector<std::pair<std::string, std::string>> headers;  // without the framing headers
  std::string body;
  Framing framing = Framing::length;

  // Parses a complete request with a Content-Length. Returns nullopt if the bytes do not contain the end of
  // the headers.
  static std::optional<Message> of(std::string_view bytes);
};

// Changes a part or the framing of the message, sometimes with parts of `others`. Requires: `others` is not
// empty.
void change(Message& message, Chance& chance, std::span<const Message> others);

std::string bytes_of(const Message& message, Chance& chance);
// Sets, inserts, removes, doubles or cuts off a few bytes.
void change_bytes(std::string& bytes, Chance& chance);

}  // namespace mayfly::testing
