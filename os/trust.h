// The certificates of the issuers that this system trusts for TLS.
#pragma once

#include <string>
#include <vector>

namespace mayfly::os {

struct TrustedIssuers {
  // POSIX: the system's file of certificates in PEM form, or empty if it has none in any of the places where
  // distributions keep it.
  std::string file;
  // macOS: the certificates that the Keychain trusts as TLS issuers, with the decisions of the user before
  // those of the administrator and of Apple. Windows: those of the current user's ROOT store, which includes
  // the machine's. Each is in DER form.
  std::vector<std::string> certificates;
};

// Reads the stores each time, which takes some milliseconds on macOS. Empty: the system has no store, or it
// cannot be read.
TrustedIssuers trusted_issuers();

}  // namespace mayfly::os
