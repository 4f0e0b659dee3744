// Recognizes and marks data directories. Only its owner can access a data directory: the directory has mode
// 0700, and its files have mode 0600. The file MAYFLY identifies a data directory as Mayfly's and names its
// format.
//
//   TRY(const DataDirectory found, claim_data_directory(path));
//
// If a data directory has wider permissions, Mayfly narrows them.
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/expected.h"

namespace mayfly::engine {

enum class DataDirectory : std::uint8_t {
  claimed,   // Mayfly's: the directory was empty or has the current mark
  older,     // Mayfly's, in an older format that Mayfly reads but no longer writes
  unmarked,  // a RocksDB database without a mark, written by an early Mayfly or another program
};

// Recognizes a directory and changes nothing. The error is a human-readable sentence: the directory is
// missing or empty, it does not belong to Mayfly, or its format is unknown.
Expected<DataDirectory, std::string> recognise_data_directory(const std::string& path);

// Creates the directory if it is missing, and marks it unless it has an older format or contains a database
// without a mark. The error is a human-readable sentence: the directory is not empty and does not belong to
// Mayfly, or it cannot be used. In that case, nothing in the directory has changed.
Expected<DataDirectory, std::string> claim_data_directory(const std::string& path);

// Marks a directory that has turned out to belong to Mayfly. From then on, earlier versions of Mayfly refuse
// to open it.
// Requires: no other process has the directory open.
Expected<void, std::string> mark_data_directory(const std::string& path);

// "the data directory … is not empty and was not created by Mayfly; …"
std::string not_ours(const std::string& path);

}  // namespace mayfly::engine
