#include "compat/triggers/rest.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compat/json/json.h"
#include "compat/json/json_tree.h"
#include "compat/lambda/lambda_error.h"
#include "compat/triggers/invocation.h"
#include "compat/triggers/triggers.h"
#include "compat/wire/percent_encoding.h"
#include "compat/wire/shape.h"
#include "engine/base/attempt.h"
#include "engine/base/whole_number.h"

namespace mayfly::compat::triggers {
namespace {

constexpr std::string_view mappings_path = "/2015-03-31/event-source-mappings";
constexpr std::string_view functions_path = "/2015-03-31/functions/";
constexpr std::string_view invocations = "/invocations";
constexpr std::string_view tags_path = "/2017-03-31/tags/";
constexpr std::int64_t list_items_max = 10'000, list_items_default = 100;

Answer answer_view(int status, const Triggers::View& view) {
  return {.status = status, .body = json::print(configuration(view.mapping, view.state, view.last_result))};
}

Unexpected<Error> no_such_resource() {
  return lambda_error::not_found("The resource you requested does not exist.");
}

Result<std::unique_ptr<json::Document>> parse_body(std::string_view body) {
  auto document = json::parse(body.empty() ? "{}" : body);
  if (document == nullptr || !document->root().is(json::Value::Kind::object)) {
    return lambda_error::invalid_request_content("Could not parse request body into json");
  }
  return document;
}

Result<Answer> create_mapping(Triggers& triggers, const RestRequest& request) {
  TRY(const auto document, parse_body(request.body));
  EventSourceMapping mapping;
  mapping.scope = request.scope;
  CHECK_OK(read_creation(document->root(), triggers.filters_max(), mapping));
  TRY(const Triggers::View view, triggers.create(std::move(mapping)));
  return answer_view(202, view);
}

Result<Answer> list_mappings(Triggers& triggers, const RestRequest& request) {
  std::int64_t items_max = list_items_default;
  if (const auto text = query_value(request.query, "MaxItems")) {
    const auto asked = engine::whole_number<std::int64_t>(*text);
    if (!asked || *asked < 1 || *asked > list_items_max) {
      return lambda_error::validation(
          "1 validation error detected: Value '" + *text +
          "' at 'maxItems' failed to satisfy constraint: Member must have value " +
          (asked.value_or(0) > list_items_max ? "less than or equal to 10000"
                                              : "greater than or equal to 1"));
    }
    items_max = std::min(*asked, list_items_default);  // Lambda's pages have at most 100 entries
  }
  const auto source = query_value(request.query, "EventSourceArn");
  const auto marker = query_value(request.query, "Marker");
  std::optional<FunctionName> function;
  if (const auto name = query_value(request.query, "FunctionName")) {
    function = FunctionName::parse(*name, request.scope);
    if (!function) return lambda_error::invalid_parameter("'" + *name + "' is not a valid function name");
  }
  json::Tree mappings = json::Tree::array();
  std::string last;
  bool more = false;
  for (const Triggers::View& view : triggers.list(request.scope)) {
    const EventSourceMapping& mapping = view.mapping;
    if ((source && mapping.event_source_arn != *source) || (function && mapping.function != *function))
      continue;
    if (marker && mapping.uuid <= *marker) continue;
    if ((more = items_max-- == 0)) break;
    mappings.push_back(configuration(mapping, view.state, view.last_result));
    last = mapping.uuid;
  }
  json::Tree shown{{"EventSourceMappings", std::move(mappings)}};
  if (more) shown["NextMarker"] = last;
  return Answer{.body = json::print(shown)};
}

Result<Answer> update_mapping(Triggers& triggers, const RestRequest& request, std::string_view uuid) {
  TRY(const auto document, parse_body(request.body));
  TRY(const Triggers::View view, triggers.update(request.scope, uuid, [&](EventSourceMapping& mapping) {
    return read_update(document->root(), triggers.filters_max(), mapping);
  }));
  return answer_view(202, view);
}

Result<Answer> answer_mapping(Triggers& triggers, const RestRequest& request, std::string_view uuid) {
  if (request.method == "GET") {
    const auto view = triggers.find(request.scope, uuid);
    if (!view) return no_such_resource();
    return answer_view(200, *view);
  }
  if (request.method == "PUT") return update_mapping(triggers, request, uuid);
  if (request.method == "DELETE") {
    TRY(const Triggers::View view, triggers.remove(request.scope, uuid));
    return answer_view(202, view);
  }
  return no_such_resource();
}

Result<Answer> answer_mappings(Triggers& triggers, const RestRequest& request) {
  if (request.method == "POST") return create_mapping(triggers, request);
  if (request.method == "GET") return list_mappings(triggers, request);
  return no_such_resource();
}

Answer print_tags(const EventSourceMapping& mapping) {
  return {.body = json::print({{"Tags", tags_of(mapping)}})};
}

Result<Answer> answer_tags(Triggers& triggers, const RestRequest& request, const std::string& arn) {
  const std::string prefix =
      "arn:aws:lambda:" + request.scope.region + ":" + request.scope.account + ":event-source-mapping:";
  if (!arn.starts_with(prefix)) return no_such_resource();
  const std::string uuid = arn.substr(prefix.size());
  if (request.method == "GET") {
    const auto view = triggers.find(request.scope, uuid);
    if (!view) return no_such_resource();
    return print_tags(view->mapping);
  }
  if (request.method == "POST") {
    TRY(const auto document, parse_body(request.body));
    TRY(const auto tags, read_tags(document->root()));
    CHECK_OK(triggers.update(request.scope, uuid, [&](EventSourceMapping& mapping) -> Result<void> {
      CHECK_OK(triggers.check_room());
      return add_tags(tags, mapping);
    }));
    return Answer{.status = 204};
  }
  if (request.method == "DELETE") {
    CHECK_OK(triggers.update(request.scope, uuid, [&](EventSourceMapping& mapping) -> Result<void> {
      for (const std::string& name : query_values(request.query, "tagKeys")) mapping.tags.erase(name);
      return {};
    }));
    return Answer{.status = 204};
  }
  return no_such_resource();
}

// Lambda ignores slashes at the end of a path.
std::string_view without_slashes(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return path;
}

Result<Answer> answer(Triggers& triggers, const RestRequest& request) {
  std::string_view path = request.path;
  if (path.starts_with(tags_path))
    return answer_tags(triggers, request, decode_path(path.substr(tags_path.size())));
  path = without_slashes(path);
  if (path == mappings_path) return answer_mappings(triggers, request);
  if (path.starts_with(mappings_path) && path[mappings_path.size()] == '/') {
    return answer_mapping(triggers, request, path.substr(mappings_path.size() + 1));
  }
  if (waits_for_function(request.method, path)) {
    path.remove_prefix(functions_path.size());
    path.remove_suffix(invocations.size());
    return answer_invocation(triggers, request, decode_path(path));
  }
  return no_such_resource();
}

}  // namespace

bool is_rest_path(std::string_view path) {
  return path.starts_with("/2015-03-31/") || path.starts_with("/2017-03-31/");
}

bool waits_for_function(std::string_view method, std::string_view path) {
  path = without_slashes(path);
  return method == "POST" && path.starts_with(functions_path) && path.ends_with(invocations) &&
         path.size() > functions_path.size() + invocations.size();
}

Answer rest_error(const Error& error) {
  return {.status = error_status(error.kind),
          .body = lambda_error_body(error),
          .headers = {{"x-amzn-ErrorType", std::string(error_name(error.kind))}}};
}

Answer answer_rest(Triggers& triggers, const RestRequest& request) {
  const auto run = [&] {
    auto done = answer(triggers, request);
    return done ? *std::move(done) : rest_error(done.error());
  };
  return engine::attempt(run, [](std::string_view) {
    return rest_error(lambda_error::unavailable("An internal error occurred").error);
  });
}

}  // namespace mayfly::compat::triggers
