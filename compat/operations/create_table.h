// CreateTable: checks the schema, makes the table, answers CREATING.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {
extern const Operation create_table;
}
