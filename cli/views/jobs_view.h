// Formats the lines of `mayfly jobs`: one line with a bar and an ID for each export, import and bulk put.
//
//   import   carts  [##########----------]  50 %  IN_PROGRESS  01795603904718-8a74e0ef
//   export   music  [####################] 100 %  FAILED  S3NoSuchBucket  01795603904719-0b1c2d3e
#pragma once

#include <string>

#include "compat/json/json_tree.h"

namespace mayfly::cli {

struct JobsView {
  std::string text;  // printable; one line for each job, in the answer's order
  std::size_t lines = 0;
  bool unfinished = false;  // some jobs have not ended
};

// `answer` is the answer of GET /_mayfly/jobs. Members that the answer lacks are left out.
JobsView view_jobs(const json::Tree& answer);

}  // namespace mayfly::cli
