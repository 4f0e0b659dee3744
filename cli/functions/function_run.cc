#include "cli/functions/function_run.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/base/end_signals.h"
#include "cli/base/fail.h"
#include "cli/base/output.h"
#include "cli/deployment/code_directories.h"
#include "cli/deployment/java_library.h"
#include "cli/functions/registered.h"
#include "compat/json/json_tree.h"
#include "compat/lambda/functions.h"
#include "compat/outbound/url.h"
#include "http/base/log.h"
#include "http/functions/functions.h"

namespace mayfly::cli {
namespace {

using std::chrono::milliseconds;

// How often the command checks its registration, and after how many checks without an answer it ends.
constexpr milliseconds check_pause{1000};
constexpr int silent_checks_max = 3;
// Time limits for one call to the server: normally, and after a signal, when the command ends within a
// second.
constexpr milliseconds call_time_max{2000}, last_call_time_max{300};

// The function's registration with the server.
class Registration {
 public:
  Registration(ServerCalls& server, std::string name, std::string url)
      : server_(server), name_(std::move(name)), url_(std::move(url)) {}

  // The error is a human-readable sentence.
  Expected<void, std::string> put() {
    // The program has its own time limit.
    const json::Tree body = {{"url", url_},
                             {"timeout_seconds", compat::triggers::Function::time_max_max.count()}};
    const auto put = server_.control("PUT", function_path(name_), json::print(body));
    if (!put) return Unexpected{put.error().sentence};
    return {};
  }

  // Waits for a signal. Returns a sentence if the function can no longer be called, or an empty string after
  // a signal.
  std::string watch(const EndSignals& signals) const {
    for (int silent = 0; !signals.wait(check_pause);) {
      const auto functions = registered_functions(server_);
      if (!functions) {
        if (++silent == silent_checks_max)
          return "the server no longer answers: " + functions.error().sentence;
        continue;
      }
      silent = 0;
      const auto found = functions->find(name_);
      if (found == functions->end())
        return "the function " + in_quotes(name_) +
               " is no longer registered: it was removed, or the server was restarted.";
      if (found->second != url_)
        return "the function " + in_quotes(name_) + " is now registered with another URL, " + found->second +
               ".";
    }
    return {};
  }

  // Removes the registration unless another one has replaced it.
  void remove() {
    server_.limit_time(last_call_time_max);
    const auto functions = registered_functions(server_);
    if (!functions) return;
    const auto found = functions->find(name_);
    if (found == functions->end() || found->second != url_) return;
    const auto removed = server_.control("DELETE", function_path(name_));
    if (!removed)
      fail("the function " + in_quotes(name_) + " is still registered: " + removed.error().sentence);
  }

 private:
  ServerCalls& server_;
  const std::string name_, url_;
};

// Returns the sentence for a server that does not list its functions.
std::string not_listed(const CallFailure& failure) {
  if (failure.sentence.find("--no-control") == std::string::npos) return failure.sentence;
  return failure.sentence + " Start the server without this option, or with --function.";
}

}  // namespace

bool is_loopback(std::string_view host) {
  const bool is_number = host.find_first_not_of("0123456789.") == std::string_view::npos;
  return host == "localhost" || host == "::1" || (is_number && host.starts_with("127."));
}

int run_function(const FunctionRun& run) {
  const EndSignals signals(EndSignals::Another::is_ignored, [] {
    http::log::write(http::log::Level::error, "work in progress did not end within a second of the signal");
    return 1;
  });
  http::log::set_level(http::log::Level::info);
  auto server = ServerCalls::to(run.server);
  if (!server) return fail(server.error());
  const auto url = *compat::outbound::Url::parse(run.server.url, compat::outbound::Schemes::http_and_https);
  if (!is_loopback(url.host))
    return fail("--url must name a server on this machine, such as http://127.0.0.1:8000, got " +
                in_quotes(url.text) + ". Only this machine can reach the function's processes.");
  server->limit_time(call_time_max);
  const std::string& name = run.program.name;
  const auto before = registered_functions(*server);
  if (!before) return fail(not_listed(before.error()));

  deployment::CodeDirectories directories;
  http::FunctionProgram program = run.program;
  deployment::give_own_java_library(program, directories);
  http::ProgramFunctions programs("--env");  // its processes end before the directories
  const auto address = programs.add(std::move(program));
  if (!address) return fail(address.error());
  const std::string endpoint = (url.tls ? "https://" : "http://") + url.authority;
  programs.serve_from(endpoint);
  Registration registration(*server, name, *address);
  if (const auto put = registration.put(); !put) return fail(put.error());
  if (const auto replaced = before->find(name); replaced != before->end())
    http::log::write(http::log::Level::warning, "the function " + name + " was registered with the URL " +
                                                    replaced->second + ", which this command replaces");
  print("mayfly runs " + http::log::printable(name) + " for " + endpoint + ", account " + server->account() +
        "\n");
  (void)reader_left();  // a script may wait for this line

  if (const std::string problem = registration.watch(signals); !problem.empty()) return fail(problem);
  http::log::write(http::log::Level::info, std::string(os::name_of(*signals.came())) + ": exiting");
  registration.remove();
  return 0;
}

}  // namespace mayfly::cli
