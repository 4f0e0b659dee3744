use crate::Error;

/// This crate's version. A server must have the same major and minor number.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

// VERSION in a checkout: the package script sets the number. It accepts every server.
pub(crate) const UNRELEASED: &str = "0.0.0";

// Whether a server of that version, at `place`, serves this crate.
pub(crate) fn check(ours: &str, servers: &str, place: &str) -> Result<(), Error> {
    if ours == UNRELEASED || release(ours) == release(servers) {
        return Ok(());
    }
    Err(Error::Version { package: ours.into(), server: servers.into(), place: place.into() })
}

// "0.3" of "0.3.1".
pub(crate) fn release(version: &str) -> &str {
    version.rsplit_once('.').map_or(version, |(release, _)| release)
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn the_release_is_the_major_and_the_minor_number() {
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
