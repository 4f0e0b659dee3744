// The rules and their order were measured on AWS by dynalite (test/scan.js, test/query.js) and Alternator
// (test_condition_expression.py, test_limits.py, test_projection_expression.py).
#include "tests/compat/expression/expressions.h"

namespace mayfly::testing {

using namespace compat::expression;

namespace {

std::string condition_error(std::string_view text) {
  auto substitutions = placeholders();
  return message(parse_condition("FilterExpression", text, substitutions));
}

void check_all(std::initializer_list<Wrong> table, std::string_view prefix = "") {
  for (const Wrong& row : table) {
    INFO(row.expression);
    CHECK(condition_error(row.expression) ==
          "Invalid FilterExpression: " + std::string(prefix) + std::string(row.message));
  }
}

}  // namespace

TEST_CASE("every valid form of a condition is accepted") {
  for (const char* text : {"a = b",
                           "a=:s",
                           "a>=b",
                           "#a <> :n",
                           "a.b[1].#c < :n",
                           "(a) = (b)",
                           "(a = b)",
                           "((a = b) AND c = d)",
                           "a = b AND c = d OR NOT b = a",
                           "NOT NOT NOT NOT a = b",
                           "not (a = b)",
                           "a between :n and :m",
                           "(a)between(b.c.d)and(:n)",
                           "a in (b)",
                           "a In (:n, (b), size(c))",
                           "attribute_exists(a)",
                           "(attribute_exists(a))",
                           "attribute_not_exists(#a.b[3])",
                           "attribute_type(a, :type_n)",
                           "attribute_type(:s, :type_n)",
                           "begins_with(a, :s)",
                           "begins_with(:s, a)",
                           "begins_with(a, :b)",
                           "contains(a, :n)",
                           "contains(:s, a)",
                           "size(a) > :n",
                           "(size(a)) = :n",
                           "((size(b)) = :n) AND c = :n",
                           "size(:s) = :n",
                           ":n = :n",
                           ":s > :s",
                           "a = :list",
                           "a <> :null",
                           "size(a) between :n and :m",
                           "((b.c).d) = :n",
                           "a[ 1 ] . b = :n"}) {
    INFO(text);
    CHECK(condition_error(text).empty());
  }
}

TEST_CASE("a syntax error is reported before all other errors") {
  check_all(
      {
          {"foo", R"x(token: "<EOF>", near: "foo")x"},
          {"(foo)", R"x(token: "<EOF>", near: ")")x"},
          {"contains(a, :s", R"x(token: "<EOF>", near: ":s")x"},
          {"a = ", R"x(token: "<EOF>", near: "=")x"},
          {"things are not gonna be ok", R"x(token: "are", near: "things are not")x"},
          {"a > 4", R"x(token: "4", near: "> 4")x"},
          {"attribute_exists(Pictures-RearView)", R"x(token: "-", near: "Pictures-RearView")x"},
          {"attribute_exists(\"Pictures.RearView\")", R"x(token: """, near: "("Pictures")x"},
          {"attribute_exists(Pictures..RearView)", R"x(token: ".", near: "..RearView")x"},
          {"attribute_exists(Pi#ctures.RearView)", R"x(token: "#ctures", near: "Pi#ctures.")x"},
          {"attribute_exists(asdf[a])", R"x(token: "a", near: "[a]")x"},
          {"a in b, c", R"x(token: "b", near: "in b,")x"},
          {"a in ()", R"x(token: ")", near: "()")x"},
          {"a > between", R"x(token: "between", near: "> between")x"},
          {"a in (b,c,)", R"x(token: ")", near: ",)")x"},
          {"(a)between(b.(c.d))and(c)", R"x(token: "(", near: ".(c")x"},
          {"(a)between(b.c.d)and((c)", R"x(token: "<EOF>", near: ")")x"},
          {"#$.b > a", R"x(token: "#", near: "#$")x"},
          {"a > :things.stuff", R"x(token: ".", near: ":things.stuff")x"},
          {"b[:a] > a", R"x(token: ":a", near: "[:a]")x"},
          {"b[#_] > a", R"x(token: "#_", near: "[#_]")x"},
          {"b[] > a", R"x(token: "]", near: "[] >")x"},
          {"b[-1] > a", R"x(token: "-", near: "[-1")x"},
          {"ü > a", R"x(token: "ü", near: "ü >")x"},
          {"(a)between(b.c[4.5].#d)and(:a)", R"x(token: ".", near: "4.5")x"},
          {"size(a).b > a", R"x(token: ".", near: ").b")x"},
          {"(size(a))[0] > a", R"x(token: "[", near: ")[0")x"},
          {"a = (b = c)", R"x(token: "=", near: "b = c")x"},
          {"a AND b = c", R"x(token: "AND", near: "a AND b")x"},
          {"a = b AND", R"x(token: "<EOF>", near: "AND")x"},
          {"a != b", R"x(token: "!", near: "a !=")x"},
          {"a.:a < b.:b", R"x(token: ":a", near: ".:a <")x"},
          {"_a = b", R"x(token: "_", near: "_a")x"},
          {"ADD #v", R"x(token: "ADD", near: "ADD #v")x"},
          {"a = b)", R"x(token: ")", near: "b)")x"},
          {"((((", R"x(token: "<EOF>", near: "(")x"},
          {"abort = ((b AND", R"x(token: "AND", near: "b AND")x"},
      },
      "Syntax error; ");
}

TEST_CASE("an empty expression and an expression of more than 4 KB are rejected without being parsed") {
  check_all({{"", "The expression can not be empty;"}, {" \t", "The expression can not be empty;"}});
  const std::string name(4090, 'x');
  CHECK(condition_error(name + "x = :n").empty());
  CHECK(condition_error(name + "xx = :n") ==
        "Invalid FilterExpression: Expression size has exceeded the maximum allowed size; expression size: "
        "4097");
}

TEST_CASE("redundant parentheses are rejected") {
  for (const char* text : {"a=b and a > ((views))", "(a)between(((b.c)).d)and(c)",
                           "a > whatever((:things), ((a)))", "((a = b))", "a=a AND ((a=a AND a=a)) AND a=a",
                           "a=a OR ((a=a OR a=a)) OR a=a", "a=a AND ((a=a AND (a=a AND a=a)))"}) {
    INFO(text);
    CHECK(condition_error(text) == "Invalid FilterExpression: The expression has redundant parentheses;");
  }
}

TEST_CASE("unknown and misplaced functions are rejected") {
  check_all({{"a=b and whatever((:things)) > a", "whatever"},
             {"attRIbute_exIsts((views), #a)", "attRIbute_exIsts"}},
            "Invalid function name; function: ");
  check_all({{"if_not_exists(a, :n) = :n", "if_not_exists"}, {"list_append(a, b) = a", "list_append"}},
            "The function is not allowed in a condition expression; function: ");
  check_all({{"a=a and attribute_exists((views), (#a)) > b", "attribute_exists"},
             {"attribute_not_exists(things) > b", "attribute_not_exists"},
             {"attribute_type(things, :a) > b", "attribute_type"},
             {"begins_with(things, a) > b", "begins_with"},
             {"contains(:things, c) > b", "contains"},
             {"size(contains(a, b)) > a", "contains"},
             {"size(things)", "size"},
             {"(size(things))", "size"},
             {"a = b AND size(things)", "size"},
             {"a between b and attribute_exists(things)", "attribute_exists"},
             {"a in (b, attribute_exists(things))", "attribute_exists"}},
            "The function is not allowed to be used this way in an expression; function: ");
}

TEST_CASE("reserved words and paths that are too deep or have invalid indexes are rejected") {
  check_all({{"attribute_exists(views, #a)", "views"}, {":a < abOrT", "abOrT"}, {"a.b.Size = :n", "Size"}},
            "Attribute name is a reserved keyword; reserved keyword: ");
  check_all(
      {{"a[99999999999999] = :n", "List index is not within the allowable range; index: [99999999999999]"},
       {"a[2147483648] = :n", "List index is not within the allowable range; index: [2147483648]"},
       {"a.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b = :n",
        "The document path has too many nesting levels; nesting levels: 33"}});
}

TEST_CASE("the first invalid comparison is reported and an undefined placeholder in it takes precedence") {
  check_all({{"attribute_exists(#Pictures.RearView, :a) and a=a", "#Pictures"},
             {"begins_with(Pictures.#RearView)", "#RearView"},
             {"(#P between :lo and :hi) and (#PC in (:cat1, :cat2))", "#P"},
             {"#4g > a", "#4g"},
             {"#_ > a", "#_"},
             {"(a)between(b.c[45].#e)and(:a)", "#e"}},
            "An expression attribute name used in the document path is not defined; attribute name: ");
  check_all({{"begins_with(:hello, #a, #b)", ":hello"}, {":v < :w", ":v"}, {":_ > a", ":_"}},
            "An expression attribute value used in expression is not defined; attribute value: ");
  check_all({{"attribute_exists(things, a) and a=a", "attribute_exists, number of operands: 2"},
             {"attribute_not_exists(things, b)", "attribute_not_exists, number of operands: 2"},
             {"attribute_type(things)", "attribute_type, number of operands: 1"},
             {"begins_with(things)", "begins_with, number of operands: 1"},
             {"begins_with(things, size(a), b)", "begins_with, number of operands: 3"},
             {"contains(things)", "contains, number of operands: 1"},
             {"size(things, a) > b", "size, number of operands: 2"}},
            "Incorrect number of operands for operator or function; operator or function: ");
}

TEST_CASE("an operand cannot be compared with itself") {
  check_all({{"a = a AND #a = b AND :views > a", "=, first operand: [a]"},
             {"#a <> a", "<>, first operand: [a]"},
             {"a > #a", ">, first operand: [a]"},
             {"((a=a) OR (a=a))", "=, first operand: [a]"},
             {"contains(ab.bc[1].a, ab.bc[1].#a)", "contains, first operand: [ab, bc, [1], a]"},
             {"attribute_type(ab.bc[1].#a, ab.bc[1].a)", "attribute_type, first operand: [ab, bc, [1], a]"},
             {"begins_with(ab.bc[1].a, ab.bc[1].#a)", "begins_with, first operand: [ab, bc, [1], a]"}},
            "The first operand must be distinct from the remaining operands for this operator or function; "
            "operator: ");
}

TEST_CASE("a condition rejects an operand whose known type does not fit its operator or function") {
  check_all({{"attribute_type(a, size(a)) and a=a and a=:s", "attribute_type, operand type: N"},
             {"attribute_type(a, :b)", "attribute_type, operand type: B"},
             {"attribute_type(a, :bool)", "attribute_type, operand type: BOOL"},
             {"attribute_type(a, :null)", "attribute_type, operand type: NULL"},
             {"attribute_type(a, :list)", "attribute_type, operand type: L"},
             {"attribute_type(a, :map)", "attribute_type, operand type: M"},
             {"attribute_type(a, b)", "attribute_type, operand type: {NS,SS,L,BS,N,M,B,BOOL,NULL,S}"},
             {"begins_with(a, size(a)) and a=:s", "begins_with, operand type: N"},
             {"begins_with(a, :n)", "begins_with, operand type: N"},
             {"begins_with(:ss, a)", "begins_with, operand type: SS"},
             {"begins_with(:bs, a)", "begins_with, operand type: BS"},
             {"size(size(a)) > :n", "size, operand type: N"},
             {"size(:bool) > a", "size, operand type: BOOL"},
             {"size(:null) > a", "size, operand type: NULL"},
             {"attribute_not_exists(size(:n))", "size, operand type: N"},
             {"a < :list", "<, operand type: L"},
             {":bool >= a", ">=, operand type: BOOL"},
             {"a between :n and :null", "BETWEEN, operand type: NULL"}},
            "Incorrect operand type for operator or function; operator or function: ");
  check_all({{"attribute_exists(:s) and a=a", "attribute_exists"},
             {"attribute_not_exists(size(:s))", "attribute_not_exists"}},
            "Operator or function requires a document path; operator or function: ");
  check_all(
      {{"attribute_type(a, :s)",
        "Invalid attribute type name found; type: s, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"},
       {"a between :n and :s",
        "The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: "
        "AttributeValue: {N:1}, upper bound operand: AttributeValue: {S:s}"},
       {"a between :t and :s",
        "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound "
        "operand: AttributeValue: {S:t}, upper bound operand: AttributeValue: {S:s}"}});
}

TEST_CASE("an expression has at most 300 operators and an IN list has at most 100 operands") {
  const auto chain = [](int comparisons) {
    std::string text = "a<b";
    for (int i = 1; i < comparisons; ++i) text += " or a<b";
    return text;
  };
  CHECK(condition_error(chain(150)).empty());  // 150 '<' and 149 'or'
  CHECK(condition_error(chain(151)) ==
        "Invalid FilterExpression: The expression contains too many operators; operator count: 301");
  CHECK(condition_error(chain(584)) ==
        "Invalid FilterExpression: The expression contains too many operators; operator count: 301");
  const auto in = [](int candidates) {
    std::string text = "a in (:n";
    for (int i = 1; i < candidates; ++i) text += ",:n";
    return text + ")";
  };
  CHECK(condition_error(in(100)).empty());
  CHECK(condition_error(in(101)) ==
        "Invalid FilterExpression: The IN operator is provided with too many operands; number of operands: "
        "101");
}

TEST_CASE("deep nesting gets DynamoDB's error and does not overflow the stack") {
  const auto repeat = [](std::string_view part, int times) {
    std::string out;
    while (times-- > 0) out += part;
    return out;
  };
  CHECK(condition_error("a<b " + repeat("or (a<b ", 149) + repeat(")", 149)).empty());
  CHECK(condition_error("a<b " + repeat("or (a<b ", 300) + repeat(")", 300)) ==
        "Invalid FilterExpression: The expression contains too many operators; operator count: 301");
  CHECK(condition_error(repeat("(", 4096)) ==
        R"x(Invalid FilterExpression: Syntax error; token: "<EOF>", near: "(")x");
  CHECK(condition_error(repeat("(", 2046) + "a<b" + repeat(")", 2046)) ==
        "Invalid FilterExpression: The expression has redundant parentheses;");
  CHECK(condition_error(repeat("not ", 1000) + "a<b") ==
        "Invalid FilterExpression: The expression contains too many operators; operator count: 301");
  CHECK(condition_error("a < " + repeat("f(", 1300) + "b" + repeat(")", 1300)) ==
        "Invalid FilterExpression: Invalid function name; function: f");
  CHECK(condition_error("a < " + repeat("size(", 600) + "b" + repeat(")", 600)) ==
        "Invalid FilterExpression: Incorrect operand type for operator or function; operator or function: "
        "size, "
        "operand type: N");
}

}  // namespace mayfly::testing
