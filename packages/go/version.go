package mayfly

import "strings"

// Version is this package's. A server has to be of the same release: the same major and minor number.
const Version = "0.0.0"

// What Version is in a checkout: the number is filled in when the package is built. It fits every server.
const unreleased = "0.0.0"

// checkVersion returns a *VersionError unless a server of that version at `where` serves this package.
func checkVersion(ours, servers, where string) error {
	if ours == unreleased || release(ours) == release(servers) {
		return nil
	}
	return &VersionError{Package: ours, Server: servers, Where: where}
}

// "0.3" of "0.3.1".
func release(version string) string {
	if end := strings.LastIndexByte(version, '.'); end >= 0 {
		return version[:end]
	}
	return version
}
