#include "compat/expression/evaluate.h"

#include "tests/compat/expression/expressions.h"

namespace mayfly::testing {

using namespace compat::expression;

namespace {

const char* const document = R"({
  "n":{"N":"5"}, "same_n":{"N":"5.0"}, "more":{"N":"10"}, "s":{"S":"hello"}, "bin":{"B":"/w=="}, "yes":{"BOOL":true},
  "nothing":{"NULL":true}, "ss":{"SS":["b","a"]}, "ns":{"NS":["1","5"]}, "bs":{"BS":["YQ=="]},
  "l":{"L":[{"S":"x"},{"N":"5"},{"M":{"deep":{"N":"7"}}}]}, "m":{"M":{"k":{"S":"v"},"l":{"L":[{"N":"3"}]}}}})";

bool holds(std::string_view text) {
  Substitutions substitutions;
  const auto values = item(R"({
    ":n5":{"N":"5"}, ":n05":{"N":"05.00"}, ":n7":{"N":"7"}, ":n3":{"N":"3"}, ":n2":{"N":"2"}, ":n1":{"N":"1"},
    ":he":{"S":"he"}, ":hello":{"S":"hello"}, ":ell":{"S":"ell"}, ":z":{"S":"z"}, ":a":{"S":"a"}, ":x":{"S":"x"},
    ":ff":{"B":"/w=="}, ":7f":{"B":"fw=="}, ":bin_a":{"B":"YQ=="}, ":true":{"BOOL":true}, ":null":{"NULL":true},
    ":ab":{"SS":["a","b"]}, ":S":{"S":"S"}, ":N":{"S":"N"}, ":L":{"S":"L"}, ":M":{"S":"M"}, ":BOOL":{"S":"BOOL"},
    ":m":{"M":{"deep":{"N":"7.0"}}}, ":empty":{"S":""}})");
  for (const auto& [name, value] : values) substitutions.define_value(name, value);
  const auto condition = parse_condition("ConditionExpression", text, substitutions);
  INFO(text << ": " << message(condition));
  REQUIRE(condition);
  return evaluate(*condition, item(document));
}

}  // namespace

TEST_CASE("a condition that the item satisfies evaluates to true") {
  for (const char* text :
       {"n = :n5", "n = :n05", "n = same_n", "n <> :n7", "n < :n7", "n < more", "n <= :n5", "more > n",
        "n >= :n5", "s = :hello", "s > :he", "s < :z", "bin = :ff", "bin > :7f", "yes = :true",
        "nothing = :null", "ss = :ab", "l[2] = :m", "l[1] = :n5", "m.k <> :n5", "m.l[0] = :n3",
        "n between :n5 and :n7", "s between :a and :z", "n in (:a, :n3, :n5)", "s in (s, :z) or n = :n5",
        "attribute_exists(m.l[0])", "attribute_not_exists(m.l[1])", "attribute_not_exists(n.x)",
        "attribute_exists(nothing)", "attribute_type(n, :N)", "attribute_type(l, :L)",
        "attribute_type(m, :M)", "attribute_type(yes, :BOOL)", "attribute_type(:he, :S)",
        "begins_with(s, :he)", "begins_with(s, :empty)", "begins_with(:hello, s)", "contains(s, :ell)",
        "contains(ss, :a)", "contains(ns, :n5)", "contains(bs, :bin_a)", "contains(bin, :ff)",
        "contains(l, :x)", "contains(l, :n05)", "contains(l, :m)", "size(s) = :n5", "size(ss) = :n2",
        "size(ns) = :n2", "size(l) = :n3", "size(m) = :n2", "size(bin) = :n1", "size(:hello) = n",
        "size(s) between :n1 and n", "NOT n = :n7", "n = :n7 OR s = :hello", "NOT (n = :n7 AND s = :hello)",
        "n = :n5 OR n = :n7 AND s = :z", "NOT n = :n7 AND s = :hello",
        // A missing attribute differs from every value.
        "gone <> :n5", "gone <> gone_too", ":n5 <> gone", "NOT gone = :n5", "NOT gone < :n5",
        "size(gone) <> :n5"}) {
    INFO(text);
    CHECK(holds(text));
  }
}

TEST_CASE("a condition that the item does not satisfy evaluates to false") {
  for (const char* text : {"n = :n7",
                           "n = :hello",
                           "n <> :n05",
                           "n < :n5",
                           "n < :hello",
                           "n > :n5",
                           "s < :n5",
                           "ss <> :ab",
                           "yes <> :true",
                           "l < :n5",
                           ":n5 < l",
                           "ss > :n5",
                           "gone = :n5",
                           "gone = gone_too",
                           "gone < :n5",
                           ":n5 < gone",
                           "gone >= gone_too",
                           "gone between :n5 and :n7",
                           "n between :n7 and gone",
                           "n between l and m",
                           "s between :n5 and :n7",
                           "n in (:a, s)",
                           "gone in (gone_too, :n5)",
                           "attribute_exists(m.l[1])",
                           "attribute_exists(l.x)",
                           "attribute_exists(m[0])",
                           "attribute_not_exists(n)",
                           "attribute_type(n, :S)",
                           "attribute_type(gone, :S)",
                           "begins_with(s, :ell)",
                           "begins_with(n, :he)",
                           "begins_with(gone, :he)",
                           "begins_with(s, :ff)",
                           "contains(s, :z)",
                           "contains(n, :n5)",
                           "contains(m, :x)",
                           "contains(ss, :n5)",
                           "contains(s, :n5)",
                           "contains(gone, :a)",
                           "contains(ss, gone)",
                           "size(s) = :hello",
                           "size(n) = :n1",
                           "size(gone) = :n1",
                           "size(yes) <> :n1 AND n = :n7",
                           "NOT n = :n5",
                           "NOT NOT n = :n7",
                           "(n = :n5 OR n = :n7) AND s = :z"}) {
    INFO(text);
    CHECK_FALSE(holds(text));
  }
}

}  // namespace mayfly::testing
