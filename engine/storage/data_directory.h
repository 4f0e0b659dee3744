// Recognizes and marks data directories. A data directory is accessible to its owner only (0700, its files
// 0600), and its file MAYFLY identifies it as Mayfly's and names its format.
//
//   TRY(const DataDirectory found, claim_data_directory(path));
//
// If a directory that is Mayfly's has wider permissions, they are narrowed.
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/expected.h"

namespace mayfly::engine {

enum class DataDirectory : std::uint8_t {
  claimed,   // Mayfly's: it was empty, or has the current mark
  older,     // Mayfly's, in an older format that is read but no longer written
  unmarked,  // a RocksDB database without a mark: from a Mayfly that set none, or a foreign one
};

// Recognizes a directory and changes nothing. The error is a human-readable sentence: the directory is
// missing or empty, it is not Mayfly's, or its format is unknown.
Expected<DataDirectory, std::string> recognise_data_directory(const std::string& path);

// Creates the directory if it is missing, and marks it unless it is unmarked or in an older format. The error
// is a human-readable sentence: the directory is neither empty nor Mayfly's, or it cannot be used. In that
// case nothing in it was changed.
Expected<DataDirectory, std::string> claim_data_directory(const std::string& path);

// Marks a directory that has turned out to be Mayfly's. From then on, earlier versions of Mayfly refuse to
// open it.
// Requires: no other process has it open.
Expected<void, std::string> mark_data_directory(const std::string& path);

// "the data directory … is not empty and was not created by Mayfly; …"
std::string not_ours(const std::string& path);

}  // namespace mayfly::engine
