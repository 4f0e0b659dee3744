// The fuzz targets: functions that accept any bytes and check invariants of the results.
//
// `script/fuzz` runs each target with libFuzzer (libfuzzer.cc). In all other builds, kept_inputs.cc runs each
// target on the inputs in corpus/ and on those that seeds.py makes from the golden scripts, so the targets
// stay up to date.
//
// To add a target, add a file with its function, and add the target's name here and in CMakeLists.txt.
#pragma once

#include <cstddef>
#include <string_view>

namespace mayfly::testing {

void fuzz_data_files(std::string_view input);
void fuzz_expressions(std::string_view input);
void fuzz_filter_patterns(std::string_view input);
void fuzz_http_pieces(std::string_view input);
void fuzz_json(std::string_view input);
void fuzz_mcp(std::string_view input);
void fuzz_numbers(std::string_view input);
void fuzz_requests(std::string_view input);
void fuzz_schemas(std::string_view input);
void fuzz_signatures(std::string_view input);
void fuzz_statements(std::string_view input);
void fuzz_stored_bytes(std::string_view input);
void fuzz_tokens(std::string_view input);

struct FuzzTarget {
  std::string_view name;
  void (*run)(std::string_view input);
  std::size_t input_bytes_max;  // for libFuzzer; inputs in the corpus can be longer
};
inline constexpr FuzzTarget fuzz_targets[] = {
    {"data_files", fuzz_data_files, 2048},
    {"expressions", fuzz_expressions, 512},
    {"filter_patterns", fuzz_filter_patterns, 1024},
    {"http_pieces", fuzz_http_pieces, 1024},
    {"json", fuzz_json, 1024},
    {"mcp", fuzz_mcp, 2048},
    {"numbers", fuzz_numbers, 256},
    {"requests", fuzz_requests, 768},
    {"schemas", fuzz_schemas, 2048},
    {"signatures", fuzz_signatures, 1024},
    {"statements", fuzz_statements, 512},
    {"stored_bytes", fuzz_stored_bytes, 1024},
    {"tokens", fuzz_tokens, 512},
};

}  // namespace mayfly::testing
