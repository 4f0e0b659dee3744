#include "compat/jobs/object_writer.h"

#include <utility>

namespace mayfly::compat::jobs {

buckets::Outcome<bool> ObjectWriter::advance(const Run& run) {
  while (!stored_) {
    if (append_.under_way()) {
      const auto appended = append_.take();
      if (!appended) return false;
      if (!*appended) return Unexpected{appended->error()};
    }
    if (finish_.under_way()) {
      const auto finished = finish_.take();
      if (!finished) return false;
      if (!*finished) return Unexpected{finished->error()};
      stored_ = **finished;
      break;
    }
    if (!waiting_.empty() && (ended_ || !wants_more())) {
      const std::string_view piece = std::string_view(waiting_).substr(0, buckets::part_bytes);
      append_.start(run, [&](auto done) { upload_->append(piece, run.stop, std::move(done)); });
      waiting_.erase(0, piece.size());
    } else if (ended_) {
      finish_.start(run, [&](auto done) { upload_->finish(run.stop, std::move(done)); });
    } else {
      break;
    }
  }
  return true;
}

}  // namespace mayfly::compat::jobs
