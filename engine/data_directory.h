// Whether a directory may be used for data, and what it looks like then: the owner's alone (0700, its files
// 0600), with a file MAYFLY in it that says whose it is.
//
//   TRY(const DataDirectory found, claim_data_directory(path));
//
// Permissions that are wider are narrowed, if the directory is ours.
#pragma once

#include <cstdint>
#include <string>

#include "engine/expected.h"

namespace mayfly::engine {

enum class DataDirectory : std::uint8_t {
  claimed,   // ours: it was empty, or has the mark
  older,     // ours, with the mark of a format that we read and no longer write
  unmarked,  // somebody's RocksDB database; one of ours from before there was a mark, or a stranger's
};

// What a directory is that is not to be changed. The error is a sentence for people: it is not there, it is
// not ours, or of a format that we do not know.
Expected<DataDirectory, std::string> recognise_data_directory(const std::string& path);

// Makes the directory if it is not there. The error is a sentence for people: the directory is neither empty
// nor ours, or it cannot be used. Then nothing in it was changed.
Expected<DataDirectory, std::string> claim_data_directory(const std::string& path);

// Marks a directory that turned out to be ours, when nobody else has it open: from then on an earlier Mayfly
// refuses it.
Expected<void, std::string> mark_data_directory(const std::string& path);

// "the data directory … is not empty, and none of Mayfly's: …"
std::string not_ours(const std::string& path);

}  // namespace mayfly::engine
