// Executes a string as a PartiQL statement: alone, in a batch or in a transaction.
#include <algorithm>
#include <string>
#include <vector>

#include "compat/json/json.h"
#include "compat/partiql/lexer.h"
#include "compat/partiql/parser.h"
#include "tests/fuzz/emulator_for_fuzzing.h"
#include "tests/fuzz/must.h"
#include "tests/fuzz/pieces.h"
#include "tests/fuzz/targets.h"

namespace mayfly::testing {
namespace {

using namespace compat::partiql;

constexpr std::size_t parameters_max = 8;

// Parameters for the statement's placeholders: "a", 1, "a", …
std::string parameters_json(std::size_t count) {
  std::string text = "[";
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) text += ',';
    text += i % 2 == 0 ? R"({"S":"a"})" : R"({"N":"1"})";
  }
  return text + "]";
}

std::vector<engine::AttributeValue> parameters(std::size_t count) {
  std::vector<engine::AttributeValue> values;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 2 == 0) {
      values.emplace_back("a");
    } else {
      values.emplace_back(engine::Number(1));
    }
  }
  return values;
}

}  // namespace

void fuzz_statements(std::string_view input) {
  const auto tokens = tokenize(input);
  must(!tokens.empty() && tokens.back().kind == Token::Kind::end, "the last token is the end token");
  const auto places = std::min<std::size_t>(
      parameters_max,
      static_cast<std::size_t>(std::count_if(tokens.begin(), tokens.end(), [](const Token& token) {
        return token.kind == Token::Kind::parameter;
      })));
  const bool parsed = bool(parse(input, parameters(places)));

  std::string member = R"({"Statement":)";
  json::append_escaped(member, input);
  const std::string request = member + "}";
  if (json::parse(request) == nullptr) return;  // not UTF-8
  if (places > 0) member += R"(,"Parameters":)" + parameters_json(places);
  FuzzedEmulator& emulator = FuzzedEmulator::get();
  emulator.begin(input);
  const auto run = [&](std::string_view operation, const std::string& body) {
    const auto answer = emulator.execute(operation, body);
    must(parsed || answer.status == 400 || operation == "BatchExecuteStatement",
         "a statement that does not parse is not executed", answer.body);
  };
  switch (choice(input, 3)) {
    case 0:
      run("ExecuteStatement", member + R"(,"Limit":1})");
      run("ExecuteStatement", member + R"(,"NextToken":"$NextToken"})");
      break;
    case 1: run("BatchExecuteStatement", R"({"Statements":[)" + member + "}]}"); break;
    case 2: run("ExecuteTransaction", R"({"TransactStatements":[)" + member + "}]}"); break;
    default: break;
  }
  emulator.finish();
}

}  // namespace mayfly::testing
