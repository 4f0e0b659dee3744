#include "os/trust.h"

#include <unistd.h>

#if defined(__APPLE__)
#include <cstdint>
#include <dlfcn.h>
#include <map>
#include <memory>
#endif

namespace mayfly::os {

#if defined(__APPLE__)
namespace {

using Ref = const void*;  // an object of CoreFoundation

// The functions of Apple's frameworks. They are looked up when they are needed, because the cross compiler
// has no stubs to link the frameworks, and because loading them takes longer than the program needs to start.
struct Apple {
  void* foundation =
      ::dlopen("/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation", RTLD_LAZY);
  void* security = ::dlopen("/System/Library/Frameworks/Security.framework/Security", RTLD_LAZY);

  template <class Function>
  static bool find(void* library, const char* name, Function*& function) {
    function = library == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(library, name));
    return function != nullptr;
  }

  void (*release)(Ref) = nullptr;
  long (*count)(Ref) = nullptr;
  Ref (*element)(Ref, long) = nullptr;
  Ref (*member)(Ref, Ref) = nullptr;
  unsigned char (*number)(Ref, long, void*) = nullptr;
  Ref (*text)(Ref, const char*, std::uint32_t) = nullptr;
  unsigned char (*equal)(Ref, Ref) = nullptr;
  const unsigned char* (*bytes)(Ref) = nullptr;
  long (*length)(Ref) = nullptr;
  Ref (*der)(Ref) = nullptr;
  int (*certificates)(std::uint32_t, Ref*) = nullptr;
  int (*settings)(Ref, std::uint32_t, Ref*) = nullptr;

  bool load() {
    return find(foundation, "CFRelease", release) && find(foundation, "CFArrayGetCount", count) &&
           find(foundation, "CFArrayGetValueAtIndex", element) &&
           find(foundation, "CFDictionaryGetValue", member) && find(foundation, "CFNumberGetValue", number) &&
           find(foundation, "CFStringCreateWithCString", text) && find(foundation, "CFEqual", equal) &&
           find(foundation, "CFDataGetBytePtr", bytes) && find(foundation, "CFDataGetLength", length) &&
           find(security, "SecCertificateCopyData", der) &&
           find(security, "SecTrustSettingsCopyCertificates", certificates) &&
           find(security, "SecTrustSettingsCopyTrustSettings", settings);
  }
};

// Releases an object that a function whose name has "Copy" or "Create" returned.
class Owned {
 public:
  Owned(const Apple& apple, Ref ref) : apple_(apple), ref_(ref) {}
  ~Owned() {
    if (ref_ != nullptr) apple_.release(ref_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  [[nodiscard]] Ref get() const { return ref_; }

 private:
  const Apple& apple_;
  const Ref ref_;
};

// Numbers of SecTrustSettings.h and of CFNumber.h and CFString.h.
constexpr std::uint32_t user_domain = 0, admin_domain = 1, system_domain = 2;
constexpr std::int64_t trust_root = 1, trust_as_root = 2, deny = 3;
constexpr long number_of_64_bits = 4;
constexpr std::uint32_t utf8 = 0x08000100;

// Whether a domain's settings trust a certificate as an issuer for TLS servers. The first setting that
// applies to TLS and decides is used. Without such a setting, a certificate of the domain is trusted.
bool is_trusted(const Apple& apple, Ref certificate, std::uint32_t domain) {
  Ref found = nullptr;
  if (apple.settings(certificate, domain, &found) != 0 || found == nullptr) return false;
  const Owned settings(apple, found);
  const Owned policy_name(apple, apple.text(nullptr, "kSecTrustSettingsPolicyName", utf8)),
      tls_policy(apple, apple.text(nullptr, "sslServer", utf8)),
      result_name(apple, apple.text(nullptr, "kSecTrustSettingsResult", utf8));
  for (long i = 0; i < apple.count(settings.get()); ++i) {
    const Ref setting = apple.element(settings.get(), i);
    const Ref policy = apple.member(setting, policy_name.get());
    if (policy != nullptr && apple.equal(policy, tls_policy.get()) == 0) continue;
    std::int64_t result = trust_root;
    if (const Ref number = apple.member(setting, result_name.get()))
      if (apple.number(number, number_of_64_bits, &result) == 0) continue;
    if (result == trust_root || result == trust_as_root) return true;
    if (result == deny) return false;
  }
  return true;
}

std::vector<std::string> of_keychain() {
  Apple apple;
  if (!apple.load()) return {};
  // A domain overrides those after it, so the first decision about a certificate counts.
  std::map<std::string, bool> decisions;
  for (const std::uint32_t domain : {user_domain, admin_domain, system_domain}) {
    Ref found = nullptr;
    if (apple.certificates(domain, &found) != 0 || found == nullptr) continue;
    const Owned certificates(apple, found);
    for (long i = 0; i < apple.count(certificates.get()); ++i) {
      const Ref certificate = apple.element(certificates.get(), i);
      const Owned der(apple, apple.der(certificate));
      if (der.get() == nullptr) continue;
      decisions.try_emplace(std::string(reinterpret_cast<const char*>(apple.bytes(der.get())),
                                        static_cast<std::size_t>(apple.length(der.get()))),
                            is_trusted(apple, certificate, domain));
    }
  }
  std::vector<std::string> trusted;
  for (auto& [der, is_trusted] : decisions)
    if (is_trusted) trusted.push_back(der);
  return trusted;
}

}  // namespace
#endif

TrustedIssuers trusted_issuers() {
  TrustedIssuers issuers;
#if defined(__APPLE__)
  issuers.certificates = of_keychain();
  if (!issuers.certificates.empty()) return issuers;
#endif
  for (const char* path : {
           "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Arch, Gentoo, Alpine
           "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Fedora, RHEL 7 and later
           "/etc/pki/tls/certs/ca-bundle.crt",                   // RHEL 6
           "/etc/ssl/ca-bundle.pem",                             // openSUSE
           "/etc/ssl/cert.pem",            // Alpine without its ca-certificates package, macOS
           "/usr/local/etc/ssl/cert.pem",  // FreeBSD
       })
    if (::access(path, R_OK) == 0) {
      issuers.file = path;
      break;
    }
  return issuers;
}

}  // namespace mayfly::os
