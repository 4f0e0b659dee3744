// Directories with the code of functions that was packed, or written into a template. They are removed at the
// end, but not if the process is killed.
#pragma once

#include <map>
#include <string>

#include "engine/base/expected.h"

namespace mayfly::deployment {

class CodeDirectories {
 public:
  CodeDirectories() = default;
  ~CodeDirectories();
  CodeDirectories(const CodeDirectories&) = delete;
  CodeDirectories& operator=(const CodeDirectories&) = delete;

  // A directory with the contents of a ZIP file or a jar. Each archive is unpacked once. The errors of both
  // are sentences.
  Expected<std::string, std::string> unpacked(const std::string& archive);
  // A directory with one file.
  Expected<std::string, std::string> with_file(const std::string& name, const std::string& text);

 private:
  Expected<std::string, std::string> make();

  std::string root_;  // empty: not made yet
  std::size_t made_ = 0;
  std::map<std::string, std::string> unpacked_;  // directories, by archive
};

}  // namespace mayfly::deployment
