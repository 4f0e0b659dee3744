// Tracks a temporary shortage of a system resource, such as descriptors or threads. Each failure is counted.
// The log reports when a shortage begins and when it has passed, but not repeatedly within a short time.
//
//   Shortage threads(metrics, Meter::threads_failing, Meter::thread_failures, "cannot start threads");
//   threads.met("Resource temporarily unavailable");     // on each failure
//   threads.passed();                                    // on each success
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "compat/server_metrics.h"
#include "engine/base/stopwatch.h"
#include "http/base/log.h"

namespace mayfly::http {

// Not thread-safe.
class Shortage {
 public:
  // `failing` counts current shortages, `failures` counts failures. `what` is a sentence without a period.
  // Requires: `metrics` and the text of `what` outlive the object.
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
    log::write(log::Level::error, std::string(what_) + ": " + std::string(why));
  }
  void passed() {
    if (end() && told_) log::write(log::Level::warning, "recovered from: " + std::string(what_));
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
  bool told_ = false;  // whether the log has reported the shortage
  std::optional<engine::Stopwatch> last_told_;
};

}  // namespace mayfly::http
