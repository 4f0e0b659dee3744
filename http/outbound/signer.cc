#include "http/outbound/signer.h"

#include <algorithm>
#include <utility>

#include "engine/base/hex.h"
#include "engine/base/text.h"
#include "http/access/signature.h"
#include "http/base/sha256.h"

namespace mayfly::http {

void sign(ClientRequest& request, std::string_view body, const compat::outbound::Url& server, const Key& key,
          const compat::outbound::SigningScope& signing, engine::Instant now) {
  const std::string date = basic_date(now);
  const std::string payload_hash = engine::hex(sha256(body));
  const bool s3 = signing.service == "s3";
  if (s3) request.headers.emplace_back("X-Amz-Content-Sha256", payload_hash);
  request.headers.emplace_back("X-Amz-Date", date);
  if (!key.session_token.empty()) request.headers.emplace_back("X-Amz-Security-Token", key.session_token);

  std::vector<HeaderLine> headers = {{"Host", server.authority}};
  if (!request.content_type.empty()) headers.push_back({"Content-Type", request.content_type});
  for (const auto& [name, value] : request.headers) headers.push_back({name, value});
  std::vector<std::string> names;
  for (const HeaderLine& header : headers) names.push_back(header.name);
  names = signed_names(std::move(names));

  const CredentialScope scope{std::string_view(date).substr(0, 8), signing.region, signing.service};
  const std::string_view target = request.path;
  const auto mark = std::min(target.find('?'), target.size());
  const std::string canonical = canonical_request({.method = request.method,
                                                   .path = target.substr(0, mark),
                                                   .query = target.substr(std::min(mark + 1, target.size())),
                                                   .headers = headers,
                                                   .signed_headers = names,
                                                   .payload_hash = payload_hash,
                                                   .path_as_sent = s3});
  const std::string signature = signature_of(string_to_sign(date, scope, canonical), key.secret, scope);
  request.headers.emplace_back(
      "Authorization", std::string(signature_algorithm) + " Credential=" + key.id + "/" + scope_text(scope) +
                           ", SignedHeaders=" + engine::joined(names, ";") + ", Signature=" + signature);
}

}  // namespace mayfly::http
