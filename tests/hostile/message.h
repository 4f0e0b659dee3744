// A request over HTTP that can be changed in its parts, in its form and in its bytes.
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

// How a message says where its body ends.
enum class Framing : unsigned char { length, wrong_length, no_length, chunks, bad_chunks, both };

struct Message {
  std::string method, target, version;
  std::vector<std::pair<std::string, std::string>> headers;  // without those that say where the body ends
  std::string body;
  Framing framing = Framing::length;

  // Of a whole request whose body has a Content-Length; nothing: it is none.
  static std::optional<Message> of(std::string_view bytes);
};

// One change to a part or to the form. What is taken from elsewhere is of `others`. Requires: there are some.
void change(Message& message, Chance& chance, std::span<const Message> others);

std::string bytes_of(const Message& message, Chance& chance);
// A few bytes set, removed, doubled or cut off.
void change_bytes(std::string& bytes, Chance& chance);

}  // namespace mayfly::testing
