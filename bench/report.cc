#include "bench/report.h"

#include <cstdio>

namespace mayfly::bench {

void Report::row(std::string name, double figure, double ceiling, bool smaller_is_better) {
  rows_.push_back(
      {std::move(name), figure, ceiling, smaller_is_better ? ceiling / figure : figure / ceiling});
}

void Report::row(std::string name, double figure) { rows_.push_back({std::move(name), figure, 0, 0}); }

void Report::print() const {
  std::printf("\n%-44s %14s %14s %8s\n", title_.c_str(), unit_.c_str(), "ceiling", "ratio");
  for (const Row& row : rows_) {
    const int digits = row.figure < 100 ? 2 : 0;
    if (row.ceiling == 0) {
      std::printf("%-44s %14.*f\n", row.name.c_str(), digits, row.figure);
    } else {
      std::printf("%-44s %14.*f %14.*f %8.2f\n", row.name.c_str(), digits, row.figure, digits, row.ceiling,
                  row.ratio);
    }
  }
  std::fflush(stdout);
}

}  // namespace mayfly::bench
