#include "compat/operations/operations.h"

namespace mayfly::compat {
namespace {

constexpr std::int64_t cache_period_minutes = 1440;

constexpr Shape shape = structure("DescribeEndpointsRequest", {});

Result<void> run(Context& context, const json::Value&, json::Writer& out) {
  out.begin_object();
  out.key("Endpoints");
  out.begin_array();
  out.begin_object();
  out.key("Address");
  out.string(context.host.empty() ? "dynamodb." + context.scope.region + ".amazonaws.com"
                                  : std::string(context.host));
  out.key("CachePeriodInMinutes");
  out.integer(cache_period_minutes);
  out.end_object();
  out.end_array();
  out.end_object();
  return {};
}

}  // namespace

constinit const Operation operations::describe_endpoints{
    dynamodb, "DescribeEndpoints", Access::control, TablesIn::nothing, &shape, &run};

}  // namespace mayfly::compat
