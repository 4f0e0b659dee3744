#include "os/trust.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>

#include "os/windows/api.h"
// After windows.h.
#include <wincrypt.h>

namespace mayfly::os {
namespace {

// Whether a certificate may be used for TLS servers. The store can restrict the uses of a certificate.
bool is_for_servers(PCCERT_CONTEXT certificate) {
  DWORD bytes = 0;
  if (!::CertGetEnhancedKeyUsage(certificate, 0, nullptr, &bytes)) return false;
  const auto text = std::make_unique<char[]>(bytes);
  auto* const usage = reinterpret_cast<CERT_ENHKEY_USAGE*>(text.get());
  if (!::CertGetEnhancedKeyUsage(certificate, 0, usage, &bytes)) return false;
  // Without a restriction, Windows reports an empty list and this error number. Without the number, the
  // certificate has no use.
  if (usage->cUsageIdentifier == 0) return ::GetLastError() == static_cast<DWORD>(CRYPT_E_NOT_FOUND);
  return std::ranges::any_of(
      std::span(usage->rgpszUsageIdentifier, usage->cUsageIdentifier),
      [](const char* use) { return std::strcmp(use, szOID_PKIX_KP_SERVER_AUTH) == 0; });
}

}  // namespace

TrustedIssuers trusted_issuers() {
  TrustedIssuers issuers;
  const HCERTSTORE store = ::CertOpenSystemStoreW(0, L"ROOT");
  if (store == nullptr) return issuers;
  PCCERT_CONTEXT certificate = nullptr;
  while ((certificate = ::CertEnumCertificatesInStore(store, certificate)) != nullptr)
    if (is_for_servers(certificate))
      issuers.certificates.emplace_back(reinterpret_cast<const char*>(certificate->pbCertEncoded),
                                        certificate->cbCertEncoded);
  ::CertCloseStore(store, 0);
  return issuers;
}

}  // namespace mayfly::os
