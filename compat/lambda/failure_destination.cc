#include "compat/lambda/failure_destination.h"

#include <utility>

#include "compat/lambda/destination_directory.h"

namespace mayfly::compat::triggers {

Expected<void, std::string> check_destination(std::string_view text) {
  if (text.empty() || text.starts_with("arn:") || DestinationDirectory::is_file(text)) return {};
  TRY([[maybe_unused]] outbound::Url url, outbound::Url::parse(text));
  return {};
}

bool is_bucket(std::string_view destination) { return destination.starts_with("arn:aws:s3:"); }

std::optional<outbound::Invocation> call_of(std::string_view destination, std::string_view account,
                                            std::string body, const Functions& functions) {
  if (destination.starts_with("arn:")) {
    const auto function = functions.find(account, destination.substr(destination.rfind(':') + 1));
    if (!function) return std::nullopt;
    return call_of(*function, destination, std::move(body));
  }
  auto url = outbound::Url::parse(destination);
  if (!url) return std::nullopt;
  return outbound::Invocation{.url = *std::move(url), .body = std::move(body)};
}

}  // namespace mayfly::compat::triggers
