// A source or a target, as named on the command line.
//
//   Place::parse("http://127.0.0.1:8000")   a server; "aws" is DynamoDB itself
//   Place::parse("backup")                  a directory
//   Place::parse("carts.json.gz")           a file that exists or whose name looks like a file's
//   Place::parse("-")                       standard input or output
#pragma once

#include <cstdint>
#include <string>

namespace mayfly::transfer {

struct Place {
  enum class Kind : std::uint8_t { server, directory, file, standard };
  Kind kind = Kind::server;
  std::string text;

  static Place parse(const std::string& text);
  [[nodiscard]] bool is_server() const { return kind == Kind::server; }
};

}  // namespace mayfly::transfer
