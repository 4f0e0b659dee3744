// The expected results were measured on AWS by dynalite (test/updateItem.js) and Alternator
// (test_update_expression.py, test_number.py, test_returnvalues.py).
#include "compat/expression/update.h"

#include "tests/compat/expression/expressions.h"

namespace mayfly::testing {

using namespace compat::expression;

namespace {

std::string update_error(std::string_view text) {
  auto substitutions = placeholders();
  return message(parse_update(text, substitutions));
}

void check_all(std::initializer_list<Wrong> table, std::string_view prefix = "") {
  for (const Wrong& row : table) {
    INFO(row.expression);
    CHECK(update_error(row.expression) ==
          "Invalid UpdateExpression: " + std::string(prefix) + std::string(row.message));
  }
}

Update parsed(std::string_view text) {
  Substitutions substitutions;
  const auto values = item(R"({
    ":1":{"N":"1"}, ":2":{"N":"2"}, ":s":{"S":"s"}, ":t":{"S":"t"}, ":u":{"S":"u"}, ":big":{"N":"9e125"},
    ":1e50":{"N":"1e50"}, ":tiny":{"N":"1e-130"}, ":tinier":{"N":"1.1e-130"}, ":list":{"L":[{"S":"s"}]},
    ":ss":{"SS":["x","y"]}, ":x":{"SS":["x"]}, ":ns":{"NS":["1"]}, ":bs":{"BS":["YQ=="]}, ":map":{"M":{}}})");
  for (const auto& [name, value] : values) substitutions.define_value(name, value);
  auto update = parse_update(text, substitutions);
  INFO(text << ": " << message(update));
  REQUIRE(update);
  return *std::move(update);
}

// Returns the item after the update, or the error message.
std::string updated(std::string_view text, std::string_view old_item, bool item_exists = true) {
  const auto result = apply(parsed(text), item(old_item), item_exists);
  return result ? text_of(*result) : result.error().message;
}

const char* const no_attribute =
    "The provided expression refers to an attribute that does not exist in the item";
const char* const wrong_type = "An operand in the update expression has an incorrect data type";
const char* const wrong_path = "The document path provided in the update expression is invalid for update";
const char* const overflow =
    "Number overflow. Attempting to store a number with magnitude larger than supported range";

}  // namespace

TEST_CASE("every valid form of an update is accepted") {
  for (const char* text :
       {"set a = b", "SET a=:s,b=:t remove c add d :n delete e :ss", "  sEt  #a = #b ", "set a = b + c",
        "set a = (b + c)", "set a = (b) - (:n)", "set a = if_not_exists(a, b) + :n",
        "set a = if_not_exists(a, if_not_exists(b, :n))",
        "set a = list_append(if_not_exists(a, :list), :list)", "set a[1] = b.c", "set a.b = c[0]",
        "remove a[1], b.#c", "add a.b :n, c :ss", "delete a[3] :bs", "set a = :n - :m"}) {
    INFO(text);
    CHECK(update_error(text).empty());
  }
}

TEST_CASE("a syntax error in an update quotes the token and its neighbors") {
  check_all({{"whatever", R"x(token: "whatever", near: "whatever")x"},
             {"INVALID SYNTAX HERE", R"x(token: "INVALID", near: "INVALID SYNTAX")x"},
             {"set a", R"x(token: "<EOF>", near: "a")x"},
             {"SET", R"x(token: "<EOF>", near: "SET")x"},
             {"SET a = :s,", R"x(token: "<EOF>", near: ",")x"},
             {"add a", R"x(token: "<EOF>", near: "a")x"},
             {"set a=set", R"x(token: "set", near: "=set")x"},
             {"remove a = b", R"x(token: "=", near: "a = b")x"},
             {"add a = b", R"x(token: "=", near: "a = b")x"},
             {"delete a b", R"x(token: "b", near: "a b")x"},
             {"delete a if_not_exist(b)", R"x(token: "if_not_exist", near: "a if_not_exist(")x"},
             {"add abort b", R"x(token: "b", near: "abort b")x"},
             {"remove a b", R"x(token: "b", near: "a b")x"},
             {"set :a = b", R"x(token: ":a", near: "set :a =")x"},
             {"set a = b / c", R"x(token: "/", near: "b / c")x"},
             {"set a = b * c", R"x(token: "*", near: "b * c")x"},
             {"set a[1] = \"eight\"", R"x(token: """, near: "= "eight")x"},
             {"set a[1] = 1", R"x(token: "1", near: "= 1")x"},
             {"SET a = if_not_exist(a, 100)", R"x(token: "100", near: ", 100)")x"},
             {"SET if_not_exist(a, b) = a", R"x(token: "(", near: "if_not_exist(a")x"},
             {"set (a = (b + c))", R"x(token: "(", near: "set (a")x"},
             {"set a = (b.c).d + e", R"x(token: ".", near: ").d")x"},
             {"set a = (b.c)[0] + e", R"x(token: "[", near: ")[0")x"},
             {"set a = b + c + d", R"x(token: "+", near: "c + d")x"},
             {"set a = if_not_exists(c, :n+:n)", R"x(token: "+", near: ":n+:n")x"},
             {"set a > b", R"x(token: ">", near: "a > b")x"},
             {"ADD hits : incr", R"x(token: ":", near: "hits : incr")x"},
             {"SET _123 = :n", R"x(token: "_", near: "SET _123")x"},
             {"SET a = #as, #a", R"x(token: "<EOF>", near: "#a")x"}},
            "Syntax error; ");
}

TEST_CASE("an update's errors other than syntax errors are reported in AWS's order") {
  check_all(
      {{"", "The expression can not be empty;"},
       {"set a = ((b))", "The expression has redundant parentheses;"},
       {" set #c = :c set abOrt = true ", "Attribute name is a reserved keyword; reserved keyword: abOrt"},
       {" remove Absolute ", "Attribute name is a reserved keyword; reserved keyword: Absolute"},
       {"set #e = if_not_exist(:c) set c = d", "Invalid function name; function: if_not_exist"},
       {"set a = size(b)", "Invalid function name; function: size"},
       {"set a = list_append(list_append(:list, :list), :list)",
        "The function is not allowed to be used this way in an expression; function: list_append"},
       {"set a = #e set c = :d", "The \"SET\" section can only be used once in an update expression;"},
       {"remove #e set a = b remove e",
        "The \"REMOVE\" section can only be used once in an update expression;"},
       {"add #e :e set a = b add e :f", "The \"ADD\" section can only be used once in an update expression;"},
       {"delete #e :e set a = b delete #e :f",
        "The \"DELETE\" section can only be used once in an update expression;"},
       {"SET #e = if_not_exists(:c)",
        "An expression attribute name used in the document path is not defined; attribute name: #e"},
       {"SET #a = if_not_exists(:c)",
        "An expression attribute value used in expression is not defined; attribute value: :c"},
       {"set d[1] = a, d.b = a, c[1].a = a, #c = if_not_exists(a)",
        "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: "
        "[c, "
        "[1], a], path two: [c]"},
       {"set #c[3].#three = a, #c[3] = a",
        "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: "
        "[c, "
        "[3], [3]], path two: [c, [3]]"},
       {"SET a = :s REMOVE a",
        "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: "
        "[a], "
        "path two: [a]"},
       {"set #c[3].#three = a, #c.#three[3] = if_not_exists(a)",
        "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: "
        "[c, "
        "[3], [3]], path two: [c, [3], [3]]"},
       {"remove a.#c set a[1] = #three",
        "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: "
        "[a, "
        "c], path two: [a, [1]]"}});
}

TEST_CASE("an update rejects an operand whose known type does not fit its operator or function") {
  check_all({{"set b = list_append(:s, a), c = if_not_exists(a) add a.b :s", "ADD, operand type: STRING"},
             {"add a.b :null", "ADD, operand type: NULL"},
             {"add a.b :bool", "ADD, operand type: BOOLEAN"},
             {"add a.b :b", "ADD, operand type: BINARY"},
             {"add a.b :map", "ADD, operand type: MAP"},
             {"add a.b :list", "ADD, operand type: LIST"},
             {"delete a.b :n", "DELETE, operand type: NUMBER"},
             {"delete a.b :s", "DELETE, operand type: STRING"}},
            "Incorrect operand type for operator or function; operator: ");
  check_all({{"set a = list_append(:s, a)", "list_append, operand type: S"},
             {"set a = list_append(a, :n)", "list_append, operand type: N"},
             {"set a = list_append(:ss, a)", "list_append, operand type: SS"},
             {"set a = list_append(:map, a)", "list_append, operand type: M"},
             {"set a = a + :s", "+, operand type: S"},
             {"set a = :b + :s", "+, operand type: B"},
             {"set a = a - :list", "-, operand type: L"},
             {"set a = :bool - a", "-, operand type: BOOL"}},
            "Incorrect operand type for operator or function; operator or function: ");
  check_all(
      {{"set a = if_not_exists(c)",
        "Incorrect number of operands for operator or function; operator or function: if_not_exists, number "
        "of "
        "operands: 1"},
       {"set a = list_append(c, d, e)",
        "Incorrect number of operands for operator or function; operator or function: list_append, number of "
        "operands: 3"},
       {"set a = if_not_exists(:n, c)",
        "Operator or function requires a document path; operator or function: if_not_exists"},
       {"set a = if_not_exists(if_not_exists(a, b), c)",
        "Operator or function requires a document path; operator or function: if_not_exists"}});
}

TEST_CASE("SET computes values from the item as it was before the update") {
  CHECK(updated("SET a = :1, b = :s", R"({"b":{"N":"9"}})") == R"({"a":{"N":"1"},"b":{"S":"s"}})");
  CHECK(updated("SET a = b, b = a", R"({"a":{"N":"1"},"b":{"N":"2"}})") ==
        R"({"a":{"N":"2"},"b":{"N":"1"}})");
  CHECK(updated("REMOVE a SET b = a", R"({"a":{"S":"hello"}})") == R"({"b":{"S":"hello"}})");
  CHECK(updated("SET x = :s, y = x", "{}") == no_attribute);
  CHECK(updated("SET a = b.c[1]", R"({"b":{"M":{"c":{"L":[{"N":"1"}]}}}})") == no_attribute);
  CHECK(updated("SET a.b.c = :s", R"({"a":{"M":{"b":{"M":{}}}}})") ==
        R"({"a":{"M":{"b":{"M":{"c":{"S":"s"}}}}}})");
  CHECK(updated("SET a[1] = :s", R"({"a":{"L":[{"N":"0"},{"N":"1"}]}})") ==
        R"({"a":{"L":[{"N":"0"},{"S":"s"}]}})");
  CHECK(updated("SET a[0].b[0] = :s", R"({"a":{"L":[{"M":{"b":{"L":[]}}}]}})") ==
        R"({"a":{"L":[{"M":{"b":{"L":[{"S":"s"}]}}}]}})");
}

TEST_CASE("elements set past the end of a list are appended in index order") {
  CHECK(updated("SET a[84] = :s, a[3] = :t, a[1] = :u", R"({"a":{"L":[{"N":"0"}]}})") ==
        R"({"a":{"L":[{"N":"0"},{"S":"u"},{"S":"t"},{"S":"s"}]}})");
  CHECK(updated("ADD a[7] :1", R"({"a":{"L":[]}})") == R"({"a":{"L":[{"N":"1"}]}})");
}

TEST_CASE("SET evaluates arithmetic and functions") {
  CHECK(updated("SET a = a + :1", R"({"a":{"N":"41"}})") == R"({"a":{"N":"42"}})");
  CHECK(updated("SET a = :1 - b", R"({"b":{"N":"0.5"}})") == R"({"a":{"N":"0.5"},"b":{"N":"0.5"}})");
  CHECK(updated("SET a = if_not_exists(a, :2) + :1", "{}") == R"({"a":{"N":"3"}})");
  CHECK(updated("SET a = if_not_exists(a, :2) + :1", R"({"a":{"N":"6"}})") == R"({"a":{"N":"7"}})");
  CHECK(updated("SET b = if_not_exists(a.x, a.y)", R"({"a":{"M":{"y":{"S":"y"}}}})") ==
        R"({"a":{"M":{"y":{"S":"y"}}},"b":{"S":"y"}})");
  CHECK(updated("SET a = list_append(a, :list)", R"({"a":{"L":[{"N":"1"}]}})") ==
        R"({"a":{"L":[{"N":"1"},{"S":"s"}]}})");
  CHECK(updated("SET a = list_append(:list, if_not_exists(a, :list))", "{}") ==
        R"({"a":{"L":[{"S":"s"},{"S":"s"}]}})");
  CHECK(updated("SET a = a + :1", "{}") == no_attribute);
  CHECK(updated("SET a = list_append(a, :list)", "{}") == no_attribute);
  CHECK(updated("SET e = a + :1", R"({"a":{"S":"x"}})") == wrong_type);
  CHECK(updated("SET e = list_append(d, if_not_exists(f, :list))", R"({"d":{"NS":["1"]}})") == wrong_type);
}

TEST_CASE("a sum with too many digits gets the same overflow error as a sum that is out of range") {
  CHECK(updated("SET a = :big + :big", "{}") == overflow);
  CHECK(updated("ADD a :big", R"({"a":{"N":"9e125"}})") == overflow);
  CHECK(updated("SET a = :1e50 + :1", "{}") == overflow);
  CHECK(updated("SET a = :tinier - :tiny", "{}") ==
        "Number underflow. Attempting to store a number with magnitude smaller than supported range");
}

TEST_CASE("REMOVE removes attributes and removes list elements by their index before the update") {
  CHECK(updated("REMOVE a, gone", R"({"a":{"N":"1"},"b":{"N":"2"}})") == R"({"b":{"N":"2"}})");
  CHECK(updated("REMOVE a.b", R"({"a":{"M":{"b":{"N":"1"}}}})") == R"({"a":{"M":{}}})");
  CHECK(updated("REMOVE a[0]", R"({"a":{"L":[{"N":"1"}]}})") == R"({"a":{"L":[]}})");
  CHECK(updated("REMOVE a.y, b[7]", R"({"a":{"M":{}},"b":{"L":[]}})") == R"({"a":{"M":{}},"b":{"L":[]}})");
  const char* const six = R"({"a":{"L":[{"N":"2"},{"N":"3"},{"N":"4"},{"N":"5"},{"N":"6"},{"N":"7"}]}})";
  const char* const five = R"({"a":{"L":[{"N":"2"},{"N":"4"},{"S":"s"},{"N":"6"},{"N":"7"}]}})";
  CHECK(updated("REMOVE a[1] SET a[3] = :s", six) == five);
  CHECK(updated("SET a[3] = :s REMOVE a[1]", six) == five);
  CHECK(updated("REMOVE a[0], a[10], a[5], a[2]", six) == R"({"a":{"L":[{"N":"3"},{"N":"5"},{"N":"6"}]}})");
  CHECK(updated("REMOVE a[6] SET a[9] = :s", six) ==
        R"({"a":{"L":[{"N":"2"},{"N":"3"},{"N":"4"},{"N":"5"},{"N":"6"},{"N":"7"},{"S":"s"}]}})");
  CHECK(updated("REMOVE a[0], a[1].b[0]",
                R"({"a":{"L":[{"N":"0"},{"M":{"b":{"L":[{"N":"1"},{"N":"2"}]}}}]}})") ==
        R"({"a":{"L":[{"M":{"b":{"L":[{"N":"2"}]}}}]}})");
}

TEST_CASE("ADD adds to numbers and to sets and creates attributes that are missing") {
  CHECK(updated("ADD a :1", R"({"a":{"N":"41"}})") == R"({"a":{"N":"42"}})");
  CHECK(updated("ADD a :1, b :ss", "{}") == R"({"a":{"N":"1"},"b":{"SS":["x","y"]}})");
  CHECK(updated("ADD a :ss", R"({"a":{"SS":["a","x"]}})") == R"({"a":{"SS":["a","x","y"]}})");
  CHECK(updated("ADD a.b :ns", R"({"a":{"M":{"b":{"NS":["2"]}}}})") ==
        R"({"a":{"M":{"b":{"NS":["1","2"]}}}})");
  CHECK(updated("ADD a :ns", R"({"a":{"M":{}}})") == wrong_type);
  CHECK(updated("ADD a :1", R"({"a":{"NS":["1"]}})") == wrong_type);
  CHECK(updated("ADD a :ns", R"({"a":{"L":[]}})") == wrong_type);
}

TEST_CASE("DELETE removes members from sets and removes the attribute of a set that becomes empty") {
  CHECK(updated("DELETE a :x", R"({"a":{"SS":["x","z"]}})") == R"({"a":{"SS":["z"]}})");
  CHECK(updated("DELETE a :ss, b :x", R"({"a":{"SS":["x","y"]},"c":{"N":"1"}})") == R"({"c":{"N":"1"}})");
  CHECK(updated("DELETE a :x", R"({"a":{"SS":["z"]}})") == R"({"a":{"SS":["z"]}})");
  CHECK(updated("DELETE a[0] :x, a[1] :ns", R"({"a":{"L":[{"SS":["x"]},{"NS":["1"]},{"N":"3"}]}})") ==
        R"({"a":{"L":[{"N":"3"}]}})");
  CHECK(updated("DELETE a :x", R"({"a":{"NS":["1"]}})") == wrong_type);
  CHECK(updated("DELETE a :ns", R"({"a":{"N":"1"}})") == wrong_type);
}

TEST_CASE("an update rejects a path whose parent is missing or has the wrong type") {
  const char* const old_item = R"({"b":{"S":"s"},"c":{"M":{"1":{"S":"a"}}},"d":{"L":[{"S":"a"},{"S":"b"}]}})";
  for (const char* text : {"b.a", "b[1]", "y.a", "y[1]", "c[1]", "d.x", "c.x.y", "d[2].x"}) {
    INFO(text);
    CHECK(updated("SET " + std::string(text) + " = :s", old_item) == wrong_path);
    CHECK(updated("REMOVE " + std::string(text), old_item) == wrong_path);
    CHECK(updated("ADD " + std::string(text) + " :ss", old_item) == wrong_path);
    CHECK(updated("DELETE " + std::string(text) + " :ss", old_item) == wrong_path);
  }
  // Only REMOVE accepts any path, and only if the item does not exist.
  CHECK(updated("REMOVE x.y, z[0]", R"({"p":{"S":"p"}})", false) == R"({"p":{"S":"p"}})");
  CHECK(updated("SET x.y = :s", R"({"p":{"S":"p"}})", false) == wrong_path);
}

TEST_CASE("UPDATED_OLD and UPDATED_NEW return the parts of the item at the update's paths") {
  const auto parts = [](std::string_view text, std::string_view json) {
    return text_of(updated_parts(parsed(text), item(json)));
  };
  const char* const document =
      R"({"p":{"S":"p"},"a":{"M":{"b":{"S":"dog"},"c":{"L":[{"N":"1"},{"N":"2"},{"N":"3"}]}}}})";
  CHECK(parts("SET a.b = :s", document) == R"({"a":{"M":{"b":{"S":"dog"}}}})");
  CHECK(parts("SET a.c[1] = :1, a.b = :s", document) ==
        R"({"a":{"M":{"b":{"S":"dog"},"c":{"L":[{"N":"2"}]}}}})");
  CHECK(parts("REMOVE a.c[1], a.c[3]", document) == R"({"a":{"M":{"c":{"L":[{"N":"2"}]}}}})");
  CHECK(parts("SET a.c[100] = :1", document) == "{}");
  CHECK(parts("SET a.x = :1", document) == "{}");
  CHECK(text_of(updated_parts(Update{}, item(document))) == "{}");
}

TEST_CASE("the attributes that an update touches are listed once each and sorted") {
  CHECK(touched_attributes(parsed("SET b.x = :s, b.y = c REMOVE a[1] ADD d :1 DELETE a[0] :ss")) ==
        std::vector<std::string>{"a", "b", "d"});
}

}  // namespace mayfly::testing
