#include "compat/items/vector_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/check.h"
#include "engine/items/cursor.h"
#include "engine/values/item_codec.h"

namespace mayfly::compat {
namespace {

double dot_product(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

double euclidean_distance(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += difference * difference;
  }
  return std::sqrt(sum);
}

// Returns 0 for vectors in the same direction and 2 for vectors in opposite directions. A zero vector has
// distance 1 from all vectors, as on AWS.
double cosine_distance(const Vector& a, const Vector& b) {
  const double lengths = std::sqrt(dot_product(a, a)) * std::sqrt(dot_product(b, b));
  if (lengths == 0) return 1;
  if (a == b) return 0;
  return std::clamp(1 - dot_product(a, b) / lengths, 0.0, 2.0);
}

bool passes(std::string_view stored, const VectorSearch& search) {
  return std::all_of(search.equal.begin(), search.equal.end(), [&](const auto& each) {
    return engine::stored_attribute(stored, each.first) == each.second;
  });
}

// The best matches so far: a heap with the worst match at the front.
class Best {
 public:
  Best(std::size_t max, bool higher_is_better) : max_(max), higher_is_better_(higher_is_better) {}

  void add(double score, std::string_view stored, const Vector& vector) {
    const auto before = [&](const Found& a, const Found& b) { return is_better(a, b); };
    const Found candidate{score, number_++, {}};
    if (found_.size() == max_) {
      if (!is_better(candidate, found_.front())) return;
      std::pop_heap(found_.begin(), found_.end(), before);
      found_.pop_back();
    }
    found_.push_back({score, candidate.number, {score, std::string(stored), vector}});
    std::push_heap(found_.begin(), found_.end(), before);
  }

  std::vector<VectorMatch> take() && {
    std::sort(found_.begin(), found_.end(), [&](const Found& a, const Found& b) { return is_better(a, b); });
    std::vector<VectorMatch> matches;
    for (Found& each : found_) matches.push_back(std::move(each.match));
    return matches;
  }

 private:
  struct Found {
    double score;
    std::size_t number;  // position in reading order
    VectorMatch match;
  };
  [[nodiscard]] bool is_better(const Found& a, const Found& b) const {
    if (a.score == b.score) return a.number < b.number;
    return higher_is_better_ ? a.score > b.score : a.score < b.score;
  }

  std::size_t max_;
  bool higher_is_better_;
  std::size_t number_ = 0;
  std::vector<Found> found_;
};

}  // namespace

double score_of(std::string_view distance, const Vector& a, const Vector& b) {
  MAYFLY_CHECK(a.size() == b.size());
  const double score = distance == "COSINE"      ? cosine_distance(a, b)
                       : distance == "EUCLIDEAN" ? euclidean_distance(a, b)
                                                 : dot_product(a, b);
  constexpr double float_max = std::numeric_limits<float>::max();
  return std::clamp(score, -float_max, float_max);
}

std::vector<VectorMatch> search_vectors(const engine::Database& database, const engine::LiveTable& live,
                                        VectorEntries& entries, const VectorSearch& search) {
  const std::string& distance = entries.index().distance;
  Best best(search.matches_max, distance == "DOT_PRODUCT");
  engine::Cursor cursor(database.reader(), live, {}, search.sight);
  for (bool more = true; more; more = cursor.paused()) {
    while (cursor.next()) {
      const std::string_view stored = cursor.item().bytes();
      if (!passes(stored, search)) continue;
      if (const Vector* vector = entries.vector_of(stored))
        best.add(score_of(distance, search.vector, *vector), stored, *vector);
    }
  }
  return std::move(best).take();
}

}  // namespace mayfly::compat
