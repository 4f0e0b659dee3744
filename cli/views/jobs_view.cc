#include "cli/views/jobs_view.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "http/base/log.h"

namespace mayfly::cli {
namespace {

constexpr std::int64_t bar_width = 20;

std::string line_of(const json::Tree& job) {
  const auto text = [&](std::string_view name) {
    return http::log::printable(json::string_member(job, name).value_or(""));
  };
  const std::int64_t percent =
      std::clamp<std::int64_t>(json::integer_member(job, "percent").value_or(0), 0, 100);
  const auto filled = static_cast<std::size_t>(percent * bar_width / 100);
  const std::string bar = std::string(filled, '#') + std::string(bar_width - filled, '-');
  char head[64];
  std::snprintf(head, sizeof head, "  [%s] %3d %%  ", bar.c_str(), static_cast<int>(percent));
  std::string kind = text("kind");
  kind.resize(std::max<std::size_t>(kind.size(), 8), ' ');
  std::string line = kind + " " + text("table") + head + text("status");
  if (const std::string code = text("failure_code"); !code.empty()) line += "  " + code;
  if (const std::string id = text("id"); !id.empty()) line += "  " + id;
  return line;
}

}  // namespace

JobsView view_jobs(const json::Tree& answer) {
  JobsView view;
  const json::Tree* const jobs = json::member(answer, "jobs");
  if (jobs == nullptr || !jobs->is_array()) return view;
  for (const json::Tree& job : *jobs) {
    view.text += line_of(job) + "\n";
    ++view.lines;
    const auto status = json::string_member(job, "status").value_or("");
    view.unfinished = view.unfinished || status == "IN_PROGRESS" || status == "CANCELLING";
  }
  return view;
}

}  // namespace mayfly::cli
