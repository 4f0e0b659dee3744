// Parses YAML as CloudFormation does. The result is the tree that the same template would have in JSON.
//
// - Scalars follow YAML 1.1: `yes`, `on` and `true` are true, `017` is 15, `1_000` is 1000. `y` and `n` stay
//   text, so that `AttributeType: N` is the type N. Timestamps stay text.
// - Short forms become long forms: `!Ref Stage` is {"Ref":"Stage"}, `!GetAtt Carts.Arn` is
//   {"Fn::GetAtt":["Carts","Arn"]}, `!Sub …` is {"Fn::Sub":…}. A scalar with such a tag is always text.
// - Aliases, merge keys and the tags !!binary, !!omap, !!pairs, !!set and !!timestamp are errors. An anchor
//   that no alias uses is ignored.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "compat/json/json_tree.h"
#include "engine/base/expected.h"

namespace mayfly::schemas {

// Returns the first document of `text`, or null if there is none. The error is a sentence without the file's
// name: "line 3: …". Limits: 100 levels, 1,000,000 values, 10 directives.
Expected<json::Tree, std::string> parse_yaml(const std::string& text);

}  // namespace mayfly::schemas
