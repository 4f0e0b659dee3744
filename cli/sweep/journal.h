// A JSON log on stderr, one event per line.
//
//   {"time":"2026-11-24T08:00:00.000Z","level":"info","event":"swept","table":"carts","deleted":12}
//
// Each event is written with one system call and takes exactly one line, regardless of its contents.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace mayfly::sweep {

// Thread-safe.
class Journal {
 public:
  enum class Level : std::uint8_t { debug, info, warning, error, off };
  struct Field {
    Field(std::string_view name, std::string_view text) : name(name), text(text) {}
    template <std::integral Number>
    Field(std::string_view name, Number number) : name(name), text(std::to_string(number)), is_text(false) {}
    std::string_view name;
    std::string text;
    bool is_text = true;
  };

  explicit Journal(Level least) : least_(least) {}

  [[nodiscard]] bool enabled(Level level) const { return level >= least_; }
  void write(Level level, std::string_view event, std::initializer_list<Field> fields);

 private:
  const Level least_;
};

}  // namespace mayfly::sweep
