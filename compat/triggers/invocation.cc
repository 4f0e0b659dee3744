#include "compat/triggers/invocation.h"

#include "compat/json/json.h"
#include "compat/lambda/lambda_error.h"
#include "compat/lambda/outcome.h"
#include "compat/triggers/triggers.h"
#include "compat/wire/percent_encoding.h"

namespace mayfly::compat::triggers {
namespace {

constexpr std::size_t request_bytes_max = 6 * 1024 * 1024, event_bytes_max = 1024 * 1024;

// Lambda's response for a function that timed out.
std::string timed_out_body(const Function& function) {
  std::string body;
  json::Writer out(body);
  out.begin_object();
  out.key("errorType");
  out.string("Sandbox.Timedout");
  out.key("errorMessage");
  const auto hundredths = function.time_max.count() / 10;
  const std::string fraction = std::to_string(hundredths % 100);
  out.string("Task timed out after " + std::to_string(hundredths / 100) + "." +
             (fraction.size() == 1 ? "0" : "") + fraction + " seconds");
  out.end_object();
  return body;
}

Result<Answer> call(Triggers& triggers, const Function& function, outbound::Invocation invocation,
                    const RestRequest& request) {
  auto answer = triggers.invoker().post(invocation, request.stop);
  Answer out;
  if (!answer) {
    if (answer.error().kind != outbound::InvocationFailure::Kind::timed_out) {
      return lambda_error::bad_gateway(answer.error().sentence);
    }
    out.body = timed_out_body(function);
    out.headers = {{"X-Amz-Function-Error", "Unhandled"}, {"X-Amz-Executed-Version", "$LATEST"}};
    return out;
  }
  if (const auto error = function_error(*answer)) out.headers.emplace_back("X-Amz-Function-Error", *error);
  out.headers.emplace_back("X-Amz-Executed-Version",
                           answer->executed_version.empty() ? "$LATEST" : answer->executed_version);
  if (!answer->log_result.empty()) out.headers.emplace_back("X-Amz-Log-Result", answer->log_result);
  out.body = std::move(answer->body);
  return out;
}

}  // namespace

Result<Answer> answer_invocation(Triggers& triggers, const RestRequest& request, std::string_view name) {
  const auto function_name = FunctionName::parse(name, request.scope);
  if (!function_name)
    return lambda_error::invalid_parameter("'" + std::string(name) + "' is not a valid function name");
  const bool event = request.invocation_type == "Event", dry = request.invocation_type == "DryRun";
  if (!event && !dry && !request.invocation_type.empty() && request.invocation_type != "RequestResponse") {
    return lambda_error::validation("1 validation error detected: Value '" +
                                    std::string(request.invocation_type) +
                                    "' at 'invocationType' failed to satisfy constraint: Member must satisfy "
                                    "enum value set: [RequestResponse, "
                                    "Event, DryRun]");
  }
  const std::size_t bytes_max = event ? event_bytes_max : request_bytes_max;
  if (request.body.size() > bytes_max) {
    return lambda_error::request_too_large(
        std::to_string(request.body.size()) + " byte payload is too large for the " +
        (event ? "Event" : "RequestResponse") + " invocation type (limit " + std::to_string(bytes_max) +
        " bytes)");
  }
  if (!request.body.empty() && json::parse(request.body) == nullptr) {
    return lambda_error::invalid_request_content(
        "Could not parse request body into json: Could not parse payload into json");
  }
  const auto function = triggers.functions().find(function_name->account, function_name->name);
  if (!function) return lambda_error::not_found("Function not found: " + function_name->arn());
  if (dry) return Answer{.status = 204, .headers = {{"X-Amz-Executed-Version", "$LATEST"}}};

  outbound::Invocation invocation =
      call_of(*function, function_name->arn(), request.body.empty() ? "{}" : std::string(request.body));
  if (!request.client_context.empty()) {
    invocation.headers.emplace_back("X-Amz-Client-Context", request.client_context);
  }
  if (event) {
    CHECK_OK(triggers.call_later(std::move(invocation)));
    return Answer{.status = 202};
  }
  return call(triggers, *function, std::move(invocation), request);
}

}  // namespace mayfly::compat::triggers
