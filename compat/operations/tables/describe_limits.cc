#include "compat/operations/operations.h"

namespace mayfly::compat {
namespace {

constexpr Shape shape = structure("DescribeLimitsInput", {});

Result<void> run(Context&, const json::Value&, json::Writer& out) {
  out.begin_object();
  out.key("AccountMaxReadCapacityUnits");
  out.integer(80000);
  out.key("AccountMaxWriteCapacityUnits");
  out.integer(80000);
  out.key("TableMaxReadCapacityUnits");
  out.integer(40000);
  out.key("TableMaxWriteCapacityUnits");
  out.integer(40000);
  out.end_object();
  return {};
}

}  // namespace

constinit const Operation operations::describe_limits{dynamodb,          "DescribeLimits", Access::control,
                                                      TablesIn::nothing, &shape,           &run};

}  // namespace mayfly::compat
