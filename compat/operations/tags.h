// TagResource, UntagResource, ListTagsOfResource: a table's tags, by its ARN.
//
// AWS checks the ARN's form before the rest of the request, in three steps: something like an ARN at all
// (or the caller is not authorized), a table's, one that exists. TagResource and UntagResource answer nothing at
// all: an empty body.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {
extern const Operation tag_resource;
extern const Operation untag_resource;
extern const Operation list_tags_of_resource;
}  // namespace mayfly::compat::operations
