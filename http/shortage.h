// Something that the machine does not have just now, descriptors or threads: what cannot be done without is
// counted, and said in the log when it begins and when it has passed, though not again and again.
//
//   Shortage threads(metrics, Meter::threads_failing, Meter::thread_failures, "no thread can be started");
//   threads.met("Resource temporarily unavailable");     // each time
//   threads.passed();                                    // each time that it went well
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "compat/server_metrics.h"
#include "engine/stopwatch.h"
#include "http/log.h"

namespace mayfly::http {

// Not thread-safe.
class Shortage {
 public:
  // `failing` counts those that there are, `failures` how often they were met. `metrics` and `what`, a
  // sentence without its full stop, outlive it.
  Shortage(compat::ServerMetrics& metrics, compat::Meter failing, compat::Meter failures,
           std::string_view what)
      : metrics_(metrics), failing_(failing), failures_(failures), what_(what) {}
  ~Shortage() { end(); }
  Shortage(const Shortage&) = delete;
  Shortage& operator=(const Shortage&) = delete;

  void met(std::string_view why) {
    metrics_.add(failures_);
    if (met_) return;
    met_ = true;
    metrics_.add(failing_);
    told_ = !last_told_ || last_told_->elapsed() > std::chrono::seconds(10);
    if (!told_) return;
    last_told_.emplace();
    log::write(log::Level::error, std::string(what_) + " until this has passed: " + std::string(why));
  }
  void passed() {
    if (end() && told_) log::write(log::Level::warning, "this has passed: " + std::string(what_));
  }

 private:
  bool end() {
    if (!met_) return false;
    met_ = false;
    metrics_.add(failing_, -1);
    return true;
  }

  compat::ServerMetrics& metrics_;
  const compat::Meter failing_, failures_;
  const std::string_view what_;
  bool met_ = false;
  bool told_ = false;  // that it was met
  std::optional<engine::Stopwatch> last_told_;
};

}  // namespace mayfly::http
