use crate::bundled::Bundled;

// Returns the program for this platform. A checkout has none: the package script replaces this file by one that names the
// crates with programs.
pub(crate) fn bundled() -> Option<Bundled<'static>> {
    None
}
