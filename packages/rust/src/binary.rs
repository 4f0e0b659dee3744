use std::env;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Error;
use crate::bundled::{Bundled, Cache, caches, is_executable};
use crate::platform::Platform;
use crate::programs::bundled;

// The program to start. `named_by` is `Options::binary` or `MAYFLY_BINARY`, or None if the crate found the program.
#[derive(Debug)]
pub(crate) struct Binary {
    pub path: PathBuf,
    pub named_by: Option<&'static str>,
    pub unpacked: bool, // whether the program is the crate's own
}

// Where the crate looks for a program. Tests use other values than those of this process.
struct Search<'a> {
    variable: Option<PathBuf>, // MAYFLY_BINARY
    bundled: Option<Bundled<'a>>,
    caches: fn() -> Vec<Cache>,
    path: Option<OsString>,
}

impl Binary {
    // Returns the program to start: the one that `Options::binary` or `MAYFLY_BINARY` names, the crate's own, one next to
    // the running program, or one on PATH. If the file that `Options::binary` or `MAYFLY_BINARY` names does not exist, or
    // the crate's own program cannot be unpacked, this function returns an error and does not look for another program.
    pub fn find(named: Option<&Path>) -> Result<Binary, Error> {
        let variable = env::var_os("MAYFLY_BINARY").map(PathBuf::from);
        Binary::find_in(named, Search { variable, bundled: bundled(), caches, path: env::var_os("PATH") })
    }

    fn find_in(named: Option<&Path>, search: Search) -> Result<Binary, Error> {
        if let Some(path) = named {
            return Binary::named(path, "Options::binary");
        }
        if let Some(path) = search.variable.filter(|path| !path.as_os_str().is_empty()) {
            return Binary::named(&path, "MAYFLY_BINARY");
        }
        if let Some(bundled) = search.bundled {
            let path = bundled.unpacked(&(search.caches)())?;
            return Ok(Binary { path, named_by: None, unpacked: true });
        }
        let name = Platform::HERE.program_name();
        let beside = env::current_exe().ok().and_then(|program| program.parent().map(|it| it.join(name)));
        let on_path =
            search.path.as_deref().map(env::split_paths).into_iter().flatten().map(|it| it.join(name));
        beside
            .into_iter()
            .chain(on_path)
            .find(|path| path.is_absolute() && check(path).is_ok())
            .map(|path| Binary { path, named_by: None, unpacked: false })
            .ok_or(Error::NoBinary)
    }

    fn named(path: &Path, named_by: &'static str) -> Result<Binary, Error> {
        let mut path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        if cfg!(windows)
            && path.extension().is_none()
            && !path.exists()
            && path.with_extension("exe").exists()
        {
            path.set_extension("exe");
        }
        let binary = Binary { path, named_by: Some(named_by), unpacked: false };
        check(&binary.path).map_err(|error| binary.unusable(error))?;
        Ok(binary)
    }

    // Returns the error for a program that could not be started.
    pub fn not_started(&self, error: io::Error) -> Error {
        let built = Platform::of(&self.path).filter(|built| *built != Platform::HERE);
        self.unusable(match built {
            Some(built) => io::Error::new(error.kind(), format!("it is a program for {built}")),
            None => error,
        })
    }

    pub fn unusable(&self, source: io::Error) -> Error {
        let (path, named_by, unpacked) = (self.path.clone(), self.named_by, self.unpacked);
        Error::Binary { path, named_by, unpacked, source: Arc::new(source) }
    }
}

fn check(path: &Path) -> io::Result<()> {
    let status = std::fs::metadata(path)?;
    if status.is_file() && is_executable(&status) {
        Ok(())
    } else {
        Err(io::Error::other("not an executable file"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Binary, Search};
    use crate::Error;
    use crate::bundled::{Cache, tests::Made};
    use crate::platform::{Platform, headers};
    use crate::scratch::Scratch;
    use std::ffi::OsString;
    use std::fs;
    use std::io;
    use std::path::{Path, PathBuf};

    fn nowhere() -> Search<'static> {
        Search { variable: None, bundled: None, caches: Vec::new, path: None }
    }

    // Copies the test binary to a path below a directory, where the tests find it as a program.
    fn program(directory: &Path, name: &str) -> PathBuf {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(std::env::current_exe().unwrap(), &path).unwrap();
        path
    }

    fn caches_of_the_test() -> Vec<Cache> {
        vec![Ok(std::env::temp_dir().join(format!("mayfly-find-{}", std::process::id())))]
    }

    #[test]
    fn if_no_program_is_found_there_is_an_error() {
        let path = Some(OsString::from("relative"));
        let error = Binary::find_in(None, Search { path, ..nowhere() }).unwrap_err();
        assert!(matches!(error, Error::NoBinary), "{error}");
    }

    // The path contains a space and characters that are not ASCII.
    #[test]
    fn without_a_configured_or_a_bundled_program_the_program_on_path_is_used() {
        let scratch = Scratch::new();
        let program =
            program(scratch.path(), &format!("Programme für Tests/{}", Platform::HERE.program_name()));
        let directories = [scratch.path(), program.parent().unwrap()];
        let path = Some(std::env::join_paths(directories).unwrap());
        let found = Binary::find_in(None, Search { variable: Some("".into()), path, ..nowhere() }).unwrap();
        assert_eq!((found.path, found.named_by, found.unpacked), (program, None, false));
    }

    #[test]
    fn the_bundled_program_is_used_before_one_on_path_and_after_a_configured_one() {
        let scratch = Scratch::new();
        let program = program(scratch.path(), Platform::HERE.program_name());
        let made = Made::of(b"a program");
        let bundled = || Search {
            bundled: Some(made.bundled()),
            caches: caches_of_the_test,
            path: Some(scratch.path().into()),
            ..nowhere()
        };
        let found = Binary::find_in(None, bundled()).unwrap();
        let content = fs::read(&found.path).unwrap();
        fs::remove_dir_all(found.path.ancestors().nth(2).unwrap()).unwrap();
        assert_eq!((content.as_slice(), found.unpacked), (&b"a program"[..], true));

        let named = Binary::find_in(Some(&program), bundled()).unwrap();
        assert_eq!((named.path.as_path(), named.named_by), (program.as_path(), Some("Options::binary")));
        let named = Binary::find_in(None, Search { variable: Some(program.clone()), ..bundled() }).unwrap();
        assert_eq!((named.path, named.named_by), (program, Some("MAYFLY_BINARY")));
    }

    #[test]
    fn a_bundled_program_that_cannot_be_unpacked_has_no_fallback() {
        let scratch = Scratch::new();
        program(scratch.path(), Platform::HERE.program_name());
        let made = Made::of(b"a program");
        let caches: fn() -> Vec<Cache> = || vec![Err("there is no home directory".into())];
        let path = Some(scratch.path().into());
        let search = Search { bundled: Some(made.bundled()), caches, path, ..nowhere() };
        let error = Binary::find_in(None, search).unwrap_err();
        assert!(matches!(error, Error::Unpack { damaged: false, .. }), "{error}");
    }

    #[test]
    fn there_is_no_fallback_if_a_configured_binary_is_missing() {
        let scratch = Scratch::new();
        let missing = scratch.path().join("missing");
        let real = || Search { path: std::env::var_os("PATH"), ..nowhere() };
        for (error, name) in [
            (Binary::find_in(Some(&missing), real()).unwrap_err(), "Options::binary"),
            (
                Binary::find_in(None, Search { variable: Some(missing.clone()), ..real() }).unwrap_err(),
                "MAYFLY_BINARY",
            ),
        ] {
            let Error::Binary { path, named_by, unpacked: false, source } = error else { panic!("{error}") };
            assert_eq!((path, named_by), (missing.clone(), Some(name)));
            assert_eq!(source.kind(), io::ErrorKind::NotFound);
        }
    }

    #[test]
    fn a_directory_is_not_a_program() {
        let scratch = Scratch::new();
        let error = Binary::find_in(Some(scratch.path()), nowhere()).unwrap_err();
        assert!(error.to_string().contains(" (not an executable file): "), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_without_an_executable_bit_is_rejected() {
        let scratch = Scratch::new();
        let text = scratch.path().join("mayfly");
        fs::write(&text, "a text").unwrap();
        let error = Binary::find_in(Some(&text), nowhere()).unwrap_err();
        assert!(error.to_string().contains(" (not an executable file): "), "{error}");
    }

    #[cfg(windows)]
    #[test]
    fn a_configured_binary_can_be_named_without_its_extension() {
        let scratch = Scratch::new();
        let program = program(scratch.path(), "mayfly.exe");
        let found = Binary::find_in(Some(&program.with_extension("")), nowhere()).unwrap();
        assert_eq!(found.path, program);
    }

    #[test]
    fn an_error_names_the_platform_that_a_program_was_built_for() {
        let scratch = Scratch::new();
        let path = scratch.path().join("mayfly");
        let header = if cfg!(target_os = "macos") { headers::elf(0x3e) } else { headers::macho(0x0100000c) };
        fs::write(&path, header).unwrap();
        let built = if cfg!(target_os = "macos") { "linux/x86_64" } else { "macos/aarch64" };
        let binary = Binary { path, named_by: None, unpacked: false };
        let Error::Binary { source, .. } = binary.not_started(io::ErrorKind::InvalidData.into()) else {
            panic!()
        };
        assert_eq!(source.to_string(), format!("it is a program for {built}"));

        let own = Binary { path: std::env::current_exe().unwrap(), ..binary };
        let Error::Binary { source, .. } = own.not_started(io::ErrorKind::InvalidData.into()) else {
            panic!()
        };
        assert_eq!(source.to_string(), io::Error::from(io::ErrorKind::InvalidData).to_string());
    }
}
