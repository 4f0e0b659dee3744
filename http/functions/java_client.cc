#include "http/functions/java_client.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "http/functions/function.h"
#include "os/path.h"

namespace mayfly::http {
namespace {

namespace fs = std::filesystem;

// "2.10.0" is {2, 10, 0}, which is newer than {2, 9, 1}.
std::vector<unsigned long> numbers_of(const std::string& version) {
  std::vector<unsigned long> numbers(1);
  constexpr unsigned long number_max = 1'000'000'000;
  for (const char c : version) {
    if (c == '-') break;  // "2.10.0-rc1"
    if (c == '.')
      numbers.push_back(0);
    else if (c >= '0' && c <= '9' && numbers.back() < number_max / 10)
      numbers.back() = numbers.back() * 10 + static_cast<unsigned long>(c - '0');
  }
  return numbers;
}

struct Artifact {
  std::string group, name;  // "com.amazonaws", "aws-lambda-java-core"
};

struct Version {
  std::vector<unsigned long> numbers;
  fs::path jar, pom;
};

std::optional<Version> newest_version(const fs::path& repository, const Artifact& artifact) {
  std::string group = artifact.group;
  std::replace(group.begin(), group.end(), '.', '/');
  std::optional<Version> newest;
  std::error_code error;
  const fs::path directory = repository / group / artifact.name;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    const std::string version = os::text_of(entry->path().filename());
    const std::string begin = artifact.name + "-" + version;
    Version one{numbers_of(version), entry->path() / (begin + ".jar"), entry->path() / (begin + ".pom")};
    std::error_code missing;
    if (fs::is_regular_file(one.jar, missing) && (!newest || newest->numbers < one.numbers))
      newest = std::move(one);
  }
  return newest;
}

// The text of an element without elements in it; empty: there is none.
std::string element(std::string_view xml, std::string_view name) {
  const std::string begin = "<" + std::string(name) + ">";
  const auto at = xml.find(begin);
  if (at == xml.npos) return {};
  const auto end = xml.find('<', at + begin.size());
  return std::string(xml.substr(at + begin.size(), end == xml.npos ? 0 : end - at - begin.size()));
}

// The dependencies of an artifact, from its description for Maven.
std::vector<Artifact> dependencies(const fs::path& pom) {
  constexpr std::size_t pom_bytes_max = 1 << 20;
  constexpr std::string_view begin = "<dependency>", end = "</dependency>";
  std::ifstream file(pom, std::ios::binary);
  std::string text(pom_bytes_max, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  std::vector<Artifact> found;
  for (auto at = text.find(begin); at != text.npos; at = text.find(begin, at + 1)) {
    const std::string_view one =
        std::string_view(text).substr(at, std::min(text.find(end, at), text.size()) - at);
    const std::string scope = element(one, "scope");
    if (scope.empty() || scope == "compile" || scope == "runtime")
      found.push_back({element(one, "groupId"), element(one, "artifactId")});
  }
  return found;
}

}  // namespace

std::vector<std::string> class_path_entries(std::string_view class_path) {
  std::vector<std::string> entries;
  while (!class_path.empty()) {
    const auto end = std::min(class_path.find(class_path_separator), class_path.size());
    entries.emplace_back(class_path.substr(0, end));
    class_path.remove_prefix(std::min(end + 1, class_path.size()));
  }
  return entries;
}

std::vector<std::string> java_client() {
  constexpr std::size_t artifacts_max = 50;
  std::string home = host_variable("HOME");
  if (home.empty()) home = host_variable("USERPROFILE");
  if (home.empty()) return {};
  const fs::path repository = os::path_of(home) / ".m2" / "repository";
  std::vector<Artifact> wanted{{"com.amazonaws", "aws-lambda-java-runtime-interface-client"}};
  std::set<std::string> seen;
  std::vector<std::string> jars;
  for (std::size_t i = 0; i < wanted.size() && i < artifacts_max; ++i) {
    if (!seen.insert(wanted[i].group + ":" + wanted[i].name).second) continue;
    const auto version = newest_version(repository, wanted[i]);
    if (!version) continue;
    jars.push_back(os::text_of(version->jar));
    const auto needed = dependencies(version->pom);
    wanted.insert(wanted.end(), needed.begin(), needed.end());
  }
  return jars;
}

}  // namespace mayfly::http
