// Limits on what clients can create. A request that exceeds one gets LimitExceededException, or the error
// that its API uses instead.
#pragma once

#include <cstddef>

namespace mayfly::compat {

struct Limits {
  std::size_t accounts_max = 10'000;
  std::size_t tables_max = 2'500;                         // per account and region: AWS's default quota
  std::size_t snapshots_max = 1'000;                      // per account
  std::size_t backups_max = 1'000;                        // per account, across all its regions
  std::size_t parsed_bytes_max = std::size_t{256} << 20;  // for all parsed requests (request_memory.h)
};

}  // namespace mayfly::compat
