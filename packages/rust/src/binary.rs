use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Error;
use crate::version::{UNRELEASED, VERSION};

// The program to start. `named_by` is `Options::binary` or `MAYFLY_BINARY`, or None if the crate found the program.
#[derive(Debug)]
pub(crate) struct Binary {
    pub path: PathBuf,
    pub named_by: Option<&'static str>,
}

impl Binary {
    // Returns the program to start. If the file that `Options::binary` or `MAYFLY_BINARY` names does not exist, this
    // function returns an error and does not look for another program.
    pub fn find(named: Option<&Path>) -> Result<Binary, Error> {
        Binary::find_in(named, env::var_os("MAYFLY_BINARY").map(PathBuf::from), env::var_os("PATH"))
    }

    fn find_in(
        named: Option<&Path>,
        variable: Option<PathBuf>,
        path: Option<std::ffi::OsString>,
    ) -> Result<Binary, Error> {
        if let Some(path) = named {
            return Binary::named(path, "Options::binary");
        }
        if let Some(path) = variable.filter(|path| !path.as_os_str().is_empty()) {
            return Binary::named(&path, "MAYFLY_BINARY");
        }
        let name = if cfg!(windows) { "mayfly.exe" } else { "mayfly" };
        let beside = env::current_exe().ok().and_then(|program| program.parent().map(|it| it.join(name)));
        let on_path = path.as_deref().map(env::split_paths).into_iter().flatten().map(|it| it.join(name));
        beside
            .into_iter()
            .chain(on_path)
            .find(|path| path.is_absolute() && check(path).is_ok())
            .map(|path| Binary { path, named_by: None })
            .ok_or(Error::NoBinary)
    }

    fn named(path: &Path, named_by: &'static str) -> Result<Binary, Error> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let binary = Binary { path, named_by: Some(named_by) };
        check(&binary.path).map_err(|error| binary.unusable(error))?;
        Ok(binary)
    }

    pub fn unusable(&self, source: io::Error) -> Error {
        Error::Binary { path: self.path.clone(), named_by: self.named_by, source: Arc::new(source) }
    }
}

fn check(path: &Path) -> io::Result<()> {
    let file = std::fs::metadata(path)?;
    #[cfg(unix)]
    let runs = std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let runs = true;
    if file.is_file() && runs { Ok(()) } else { Err(io::Error::other("not an executable file")) }
}

// The name of the release archive that contains the program for a machine, or None if no archive supports the machine.
pub(crate) fn archive(os: &str, arch: &str) -> Option<String> {
    let version = if VERSION == UNRELEASED { "<version>" } else { VERSION };
    let has_program = os == "linux" && ["x86_64", "aarch64"].contains(&arch);
    has_program.then(|| format!("mayfly-{version}-linux-{arch}.tar.gz"))
}

#[cfg(test)]
mod tests {
    use super::{Binary, archive};
    use std::path::Path;

    fn archive_here() -> String {
        archive(std::env::consts::OS, std::env::consts::ARCH).expect("an archive for this machine")
    }

    #[test]
    fn the_name_of_the_release_archive_depends_on_the_machine() {
        let version = env!("CARGO_PKG_VERSION").replace("0.0.0", "<version>");
        for arch in ["x86_64", "aarch64"] {
            assert_eq!(archive("linux", arch), Some(format!("mayfly-{version}-linux-{arch}.tar.gz")));
        }
        assert_eq!(archive("linux", "riscv64"), None);
        assert_eq!(archive("macos", "aarch64"), None);
    }

    fn platform() -> String {
        format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH)
    }

    #[test]
    fn if_no_program_is_found_the_error_says_how_to_get_one() {
        let error = Binary::find_in(None, None, Some("/nowhere:/elsewhere".into())).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "no mayfly program found: unpack {} from Mayfly's release and set MAYFLY_BINARY to its bin/mayfly, put \
                 bin/mayfly on PATH, or set MAYFLY_URL to a running server",
                archive_here()
            )
        );
    }

    #[test]
    fn without_a_configured_binary_the_program_on_path_is_used() {
        let real = std::env::var_os("MAYFLY_BINARY").expect("MAYFLY_BINARY");
        let directory = std::env::temp_dir().join(format!("mayfly-path-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        std::os::unix::fs::symlink(real, directory.join("mayfly")).unwrap();
        let found = Binary::find_in(None, Some("".into()), Some(directory.clone().into_os_string()));
        std::fs::remove_dir_all(&directory).unwrap();
        assert_eq!(found.unwrap().path, directory.join("mayfly"));
    }

    #[test]
    fn there_is_no_fallback_if_a_configured_binary_is_missing() {
        let sentence = |name| {
            format!(
                "cannot run /nowhere/mayfly from {name} on {} (No such file or directory (os error 2)): set {name} to \
                 bin/mayfly from {}, or unset it to use the mayfly on PATH",
                platform(),
                archive_here()
            )
        };
        let path = std::env::var_os("PATH");
        let error = Binary::find_in(Some(Path::new("/nowhere/mayfly")), None, path.clone()).unwrap_err();
        assert_eq!(error.to_string(), sentence("Options::binary"));
        let error = Binary::find_in(None, Some("/nowhere/mayfly".into()), path).unwrap_err();
        assert_eq!(error.to_string(), sentence("MAYFLY_BINARY"));
    }

    #[test]
    fn a_file_that_is_not_executable_is_rejected() {
        let error = Binary::find_in(Some(Path::new("/etc/passwd")), None, None).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "cannot run /etc/passwd from Options::binary on {} (not an executable file): set Options::binary to \
                 bin/mayfly from {}, or unset it to use the mayfly on PATH",
                platform(),
                archive_here()
            )
        );
    }
}
