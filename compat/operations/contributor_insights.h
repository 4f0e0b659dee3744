// UpdateContributorInsights, DescribeContributorInsights, ListContributorInsights: of a table, or of a global index.
//
// The setting is held and described; there is no CloudWatch whose rules would come with it.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {
extern const Operation update_contributor_insights;
extern const Operation describe_contributor_insights;
extern const Operation list_contributor_insights;
}  // namespace mayfly::compat::operations
