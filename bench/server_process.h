// A server as a process of its own, on a free port of 127.0.0.1; ended with the object.
//
//   ServerProcess server({"build/release/mayfly", "serve", "--port", std::string(ServerProcess::port_here)});
//   generate_load(server.port(), …);
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace mayfly::bench {

class ServerProcess {
 public:
  static constexpr std::string_view port_here = "PORT";  // in the command: replaced by the port

  // Returns when the first request was answered.
  explicit ServerProcess(std::vector<std::string> command);
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  // From exec to the first answer.
  [[nodiscard]] std::chrono::duration<double, std::milli> start_ms() const { return start_ms_; }
  // Resident memory now.
  [[nodiscard]] double memory_mb() const;

 private:
  std::uint16_t port_;
  pid_t pid_;
  std::chrono::duration<double, std::milli> start_ms_{};
};

}  // namespace mayfly::bench
