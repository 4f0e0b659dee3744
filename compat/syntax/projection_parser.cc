// Parses a ProjectionExpression: paths separated by commas.
#include "compat/syntax/parser.h"
#include "compat/syntax/path_set.h"
#include "compat/syntax/token_reader.h"

namespace mayfly::compat::expression {
namespace {

class ProjectionParser : TokenReader {
 public:
  ProjectionParser(std::string_view text, Substitutions& substitutions) : TokenReader(text, substitutions) {}

  Parsed<Projection> parse() {
    Projection projection;
    PathSet paths;
    do {
      TRY(Path found, path());
      paths.add(found);
      projection.push_back(std::move(found));
    } while (accept(','));
    CHECK_OK(expect_end());
    CHECK_OK(
        first_of({&reserved_word_, &unusable_path_, &undefined_name_, &paths.overlap(), &paths.conflict()}));
    return projection;
  }
};

}  // namespace

Result<Projection> parse_projection(std::string_view text, Substitutions& substitutions) {
  return parse_expression<ProjectionParser>("ProjectionExpression", text, substitutions);
}

}  // namespace mayfly::compat::expression
