// One page of text for programs of this machine, such as Prometheus: GET PATH, and nothing else.
//
//   auto page = TextPage::open("127.0.0.1:9464", "/metrics", [&] { return metrics_text(tallies); });
//   if (!page) return fail(page.error());    // "cannot listen on 127.0.0.1:9464: Address already in use"
//
// It answers one at a time: who sends no request, or takes no answer, is closed after two seconds. It answers
// to names that nobody can rebind (access.h), so that no web page reads it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "engine/expected.h"

namespace mayfly::http {

class TextPage {
 public:
  // `address`: ADDRESS:PORT, [ADDRESS]:PORT; port 0 picks a free one. `text` is called by a thread of the
  // page's.
  static Expected<std::unique_ptr<TextPage>, std::string> open(const std::string& address, std::string path,
                                                               std::function<std::string()> text);
  ~TextPage();
  TextPage(const TextPage&) = delete;
  TextPage& operator=(const TextPage&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  TextPage(std::string path, std::function<std::string()> text)
      : path_(std::move(path)), text_(std::move(text)) {}
  Expected<void, std::string> listen(const std::string& address);
  void run() const;
  void answer(int connection) const;

  const std::string path_;
  const std::function<std::string()> text_;
  int socket_ = -1, end_ = -1;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace mayfly::http
