#include "compat/streams/lookup.h"

#include "compat/streams/arn_and_iterator.h"

namespace mayfly::compat {

Result<engine::Stream> find_stream(const Context& context, std::string_view arn) {
  auto name = parse_stream_arn(arn);
  if (!name) return error::validation("Invalid StreamArn");
  if (engine::Scope{name->account, name->region} == context.scope) {
    auto stream = context.database.catalog().find_stream(context.scope, name->table_name, name->label);
    if (stream) return *std::move(stream);
  }
  return error::resource_not_found("Requested resource not found: Stream: " + std::string(arn) +
                                   " not found");
}

}  // namespace mayfly::compat
