package mayfly

import "strings"

// Version is the version of this package. The server must have the same major and minor version.
const Version = "0.0.0"

// unreleased is the value of Version in a checkout. A checkout accepts every server. Building the package sets the version.
const unreleased = "0.0.0"

// checkVersion returns a *VersionError unless the package and the server are from the same release. `where` names the
// server.
func checkVersion(ours, servers, where string) error {
	if ours == unreleased || release(ours) == release(servers) {
		return nil
	}
	return &VersionError{Package: ours, Server: servers, Where: where}
}

// release returns the major and minor version: "0.3" for "0.3.1".
func release(version string) string {
	if end := strings.LastIndexByte(version, '.'); end >= 0 {
		return version[:end]
	}
	return version
}
