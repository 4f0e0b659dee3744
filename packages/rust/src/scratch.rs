use std::fs;
use std::path::{Path, PathBuf};

// A new directory for a test, which is removed when this value is dropped.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub fn new() -> Scratch {
        let name = format!("mayfly-test-{}-{:016x}", std::process::id(), fastrand::u64(..));
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Scratch(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
