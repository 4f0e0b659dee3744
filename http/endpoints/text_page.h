// Serves one page of text to programs on this machine, such as Prometheus: GET PATH, and nothing else.
//
//   auto page = TextPage::open("127.0.0.1:9464", "/metrics", [&] { return metrics_text(tallies); });
//   if (!page) return fail(page.error());    // "cannot listen on 127.0.0.1:9464: Address already in use"
//
// Connections are served one at a time; a client that sends no request or reads no response is disconnected
// after two seconds. The page answers only to host names that cannot be rebound (access.h), so that no web
// page can read it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engine/base/expected.h"

namespace mayfly::http {

class TextPage {
 public:
  // `address`: ADDRESS:PORT or [ADDRESS]:PORT; port 0 picks a free one. `text` is called on the page's own
  // thread.
  static Expected<std::unique_ptr<TextPage>, std::string> open(const std::string& address, std::string path,
                                                               std::function<std::string()> text);
  ~TextPage();
  TextPage(const TextPage&) = delete;
  TextPage& operator=(const TextPage&) = delete;

  [[nodiscard]] std::uint16_t port() const;

 private:
  class State;
  explicit TextPage(std::unique_ptr<State> state);

  const std::unique_ptr<State> state_;
};

}  // namespace mayfly::http
