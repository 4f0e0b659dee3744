// Shapes of auto scaling settings, which only operations on global tables accept.
#pragma once

#include "compat/wire/shapes_table.h"

namespace mayfly::compat::shapes {

inline constexpr Shape role_arn = string_shape(1, 1600, text_pattern);
inline constexpr Shape policy_name = string_shape(1, 256, print_pattern);
inline constexpr Shape any_integer = integer_shape();
inline constexpr Shape target_value = {.type = Shape::Type::decimal};
inline constexpr Member target_tracking_members[] = {
    {"DisableScaleIn", &boolean},
    {"ScaleInCooldown", &any_integer},
    {"ScaleOutCooldown", &any_integer},
    {"TargetValue", &target_value, required},
};
inline constexpr Shape target_tracking =
    structure("AutoScalingTargetTrackingScalingPolicyConfigurationUpdate", target_tracking_members);
inline constexpr Member scaling_policy_members[] = {
    {"PolicyName", &policy_name},
    {"TargetTrackingScalingPolicyConfiguration", &target_tracking, required},
};
inline constexpr Shape scaling_policy = structure("AutoScalingPolicyUpdate", scaling_policy_members);
inline constexpr Member auto_scaling_members[] = {
    {"MinimumUnits", &positive_long},         {"MaximumUnits", &positive_long},
    {"AutoScalingDisabled", &boolean},        {"AutoScalingRoleArn", &role_arn},
    {"ScalingPolicyUpdate", &scaling_policy},
};
inline constexpr Shape auto_scaling = structure("AutoScalingSettingsUpdate", auto_scaling_members);

}  // namespace mayfly::compat::shapes
