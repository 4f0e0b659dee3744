// Unpacks ZIP files, such as the code of functions and jars.
//
//   if (const auto unpacked = unzip("build/app.zip", directory); !unpacked) fail(unpacked.error());
//
// https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/base/expected.h"

namespace mayfly::deployment {

// Lambda's limit for unpacked code.
inline constexpr std::uint64_t unpacked_bytes_max = 250 * 1024 * 1024;

// Writes the files (at most 65,534, in directories at most 100 deep) into `directory`, which exists,
// accessible only to their owner. Files that are executable in the archive stay so. The error is a sentence
// that begins with `archive`: the file is damaged, is larger than these limits, leads out of the directory,
// or has links, encryption, or the extensions for large archives (ZIP64). Files that were written before the
// error stay.
Expected<void, std::string> unzip(const std::string& archive, const std::string& directory);

// The content of one file of an archive, or nullopt if there is no such file or the archive cannot be read.
std::optional<std::string> unzipped_file(const std::string& archive, const std::string& name);

}  // namespace mayfly::deployment
