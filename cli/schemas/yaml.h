// YAML, with CloudFormation's short forms, as the tree that the same template in JSON would be: `!Ref Stage`
// is
// {"Ref":"Stage"}, `!GetAtt Carts.Arn` is {"Fn::GetAtt":["Carts","Arn"]}, `!Sub …` is {"Fn::Sub":…}.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "compat/wire/json_tree.h"
#include "engine/expected.h"

namespace mayfly::schemas {

// The error is a sentence without the file's name: "line 3: …". Aliases are followed, up to a bound.
Expected<json::Tree, std::string> parse_yaml(const std::string& text);

}  // namespace mayfly::schemas
