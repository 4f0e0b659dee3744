use crate::Error;

/// The version of this crate. The server must have the same major and minor version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

// The value of VERSION in a checkout. A checkout accepts every server. Building the package sets the version.
pub(crate) const UNRELEASED: &str = "0.0.0";

// Returns Error::Version unless the crate and the server are from the same release. `place` is the server's program or
// URL.
pub(crate) fn check(ours: &str, servers: &str, place: &str) -> Result<(), Error> {
    if ours == UNRELEASED || release(ours) == release(servers) {
        return Ok(());
    }
    Err(Error::Version { package: ours.into(), server: servers.into(), place: place.into() })
}

// Returns the major and minor version: "0.3" for "0.3.1".
pub(crate) fn release(version: &str) -> &str {
    version.rsplit_once('.').map_or(version, |(release, _)| release)
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn a_server_with_the_crates_major_and_minor_version_is_accepted() {
        for (ours, servers) in [("0.1.0", "0.1.9"), ("1.2.3", "1.2.0"), ("0.0.0", "7.0.0")] {
            assert!(check(ours, servers, "").is_ok(), "{ours} {servers}");
        }
        for (ours, servers) in
            [("0.1.0", "0.2.0"), ("1.2.3", "1.3.3"), ("1.2.3", "2.2.3"), ("0.1.0", "0.10.0")]
        {
            assert!(check(ours, servers, "").is_err(), "{ours} {servers}");
        }
    }
}
