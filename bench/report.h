// A table of figures and their ceilings. A ceiling is the figure for the same work without Mayfly's code.
//
//   Report report("over HTTP", "requests/s");
//   report.row("GetItem", 31'000, 40'000);
//   report.print();
//
//   over HTTP                          requests/s      ceiling    ratio
//   GetItem                                 31000        40000     0.78
#pragma once

#include <string>
#include <vector>

namespace mayfly::bench {

class Report {
 public:
  Report(std::string title, std::string unit) : title_(std::move(title)), unit_(std::move(unit)) {}

  // A ratio of 1 is the best possible result. `smaller_is_better` is for times and sizes.
  void row(std::string name, double figure, double ceiling, bool smaller_is_better = false);
  void row(std::string name, double figure);  // without a ceiling
  void print() const;

 private:
  struct Row {
    std::string name;
    double figure;
    double ceiling;
    double ratio;
  };
  std::string title_, unit_;
  std::vector<Row> rows_;
};

}  // namespace mayfly::bench
