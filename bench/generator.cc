// The C++ part of bench/run.py. It generates load, measures how long a server takes to start, and serves a
// fixed response.
//
//   bench_generator load PORT CONNECTIONS MILLISECONDS REQUESTS FIRST
//   bench_generator start PORT SERVER_CPU OWN_CPU SECONDS_MAX REQUESTS COMMAND...
//   bench_generator fixed-answer PORT FILE
//
// `load` and `start` print a line of JSON. FIRST is the number of the first request to send. `fixed-answer`
// responds to every request with the file's contents until the process is killed.
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "bench/fixed_answer.h"
#include "bench/load.h"
#include "bench/server_process.h"

namespace mayfly::bench {
namespace {

int number(const std::string& text) { return std::atoi(text.c_str()); }
std::uint16_t port(const std::string& text) { return static_cast<std::uint16_t>(number(text)); }

void print(const boost::json::object& line) { std::printf("%s\n", boost::json::serialize(line).c_str()); }

int load(const std::vector<std::string>& words) {
  const auto requests = read_requests(words[4]);
  const Load load = generate_load(port(words[1]), static_cast<std::size_t>(number(words[2])),
                                  std::chrono::milliseconds(number(words[3])), requests,
                                  static_cast<std::size_t>(number(words[5])));
  print({{"requests", load.requests},
         {"wrong", load.wrong},
         {"first_wrong", load.first_wrong},
         {"seconds", load.seconds},
         {"p50_us", load.p50_us},
         {"p99_us", load.p99_us}});
  return 0;
}

int start(const std::vector<std::string>& words) {
  const auto requests = read_requests(words[5]);
  const auto time =
      time_to_first_answer({words.begin() + 6, words.end()}, port(words[1]), requests.front(),
                           number(words[2]), number(words[3]), std::chrono::seconds(number(words[4])));
  print({{"ms", time ? boost::json::value(time->count()) : boost::json::value()}});
  return 0;
}

}  // namespace
}  // namespace mayfly::bench

int main(int argc, char** argv) {
  using namespace mayfly::bench;
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::string_view act = words.empty() ? "" : std::string_view(words[0]);
  if (act == "load" && words.size() == 6) return load(words);
  if (act == "start" && words.size() >= 7) return start(words);
  if (act == "fixed-answer" && words.size() == 3) {
    std::ifstream file(words[2], std::ios::binary);
    serve_fixed_answer(port(words[1]), std::string(std::istreambuf_iterator<char>(file), {}));
  }
  std::fprintf(stderr, "usage: see bench/generator.cc\n");
  return 2;
}
