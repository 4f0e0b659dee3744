use std::env;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flate2::read::GzDecoder;
use sha2::{Digest, Sha256};

use crate::Error;
use crate::held::{MAY_BE_HELD, is_held, patiently};
use crate::platform::Platform;

// The program for this platform, which a separate crate contains, compressed with gzip: one crate for each platform. The
// program is unpacked before its first use:
//
//     CACHE/<SHA-256>/mayfly    CACHE is a directory that `caches` returns
//
// Several processes can unpack the program at the same time. Each of them writes its own temporary file, flushes it to the
// disk and renames it, so a file with the final name is always complete.
//
// The SHA-256 is checked when the program is unpacked. The file then gets the modification time UNCHANGED, which any later
// write changes. The SHA-256 of a file with another time is checked again. Rejected: checking the SHA-256 at each start. In
// a debug build, that takes a second for 18 MB, and cargo-nextest starts a server for each test.
#[derive(Clone, Copy)]
pub(crate) struct Bundled<'a> {
    pub package: &'a str, // the crate's name and version
    pub size: u64,        // in bytes
    pub sha256: &'a str,  // in hexadecimal
    pub gzip: &'a [u8],
}

// 2000-01-01T00:00:00Z
const UNCHANGED: Duration = Duration::from_secs(946_684_800);

const PART_ENDING: &str = ".part";
const PART_AGE_MAX: Duration = Duration::from_secs(3600);

// A directory in which programs are kept, or the reason why it is unknown.
pub(crate) type Cache = Result<PathBuf, String>;

// Why the program could not be unpacked into a directory.
enum Failure {
    Damaged(String), // the crate's files differ from the published ones, so another directory would not help
    Io(String),
}

// Returns the directories to which the program can be unpacked, best first: the user's cache directory, and a directory of
// the user in the directory for temporary files. Mayfly's packages for Go and the JVM use the same directories.
pub(crate) fn caches() -> Vec<Cache> {
    let variable = |name: &str| env::var_os(name).map(PathBuf::from);
    caches_of(Platform::HERE, variable, env::home_dir(), env::temp_dir())
}

fn caches_of(
    here: Platform,
    variable: impl Fn(&str) -> Option<PathBuf>,
    home: Option<PathBuf>,
    temporary: PathBuf,
) -> Vec<Cache> {
    let absolute = |path: Option<PathBuf>| path.filter(|path| path.is_absolute());
    let home = absolute(home);
    let user = match here.os {
        "windows" => absolute(variable("LocalAppData")).ok_or("LocalAppData is not set"),
        "macos" => home.map(|it| it.join("Library/Caches")).ok_or("there is no home directory: set HOME"),
        _ => absolute(variable("XDG_CACHE_HOME"))
            .or(home.map(|it| it.join(".cache")))
            .ok_or("there is no home directory: set HOME or XDG_CACHE_HOME"),
    };
    let user = user.map(|it| it.join("mayfly")).map_err(str::to_owned);
    vec![user, Ok(temporary.join(temporary_name()))]
}

#[cfg(unix)]
fn temporary_name() -> String {
    format!("mayfly-{}", user_id())
}

// On Windows, each user has a directory for temporary files.
#[cfg(not(unix))]
fn temporary_name() -> String {
    "mayfly".into()
}

impl Bundled<'_> {
    // Returns the path of the unpacked program. Unpacks the program unless an earlier call has done so. Tries each
    // directory in turn. The error is an `Error::Unpack`.
    pub fn unpacked(&self, caches: &[Cache]) -> Result<PathBuf, Error> {
        let mut failures = Vec::new();
        for cache in caches {
            let unpacked = match cache {
                Ok(directory) => self.unpack_into(directory),
                Err(why) => Err(Failure::Io(why.clone())),
            };
            match unpacked {
                Ok(path) => return Ok(path),
                Err(Failure::Damaged(why)) => return Err(self.failed(true, why)),
                Err(Failure::Io(why)) => failures.push(why),
            }
        }
        Err(self.failed(false, failures.join("; ")))
    }

    fn failed(&self, damaged: bool, why: String) -> Error {
        Error::Unpack { package: self.package.into(), damaged, why }
    }

    fn unpack_into(&self, cache: &Path) -> Result<PathBuf, Failure> {
        let directory = cache.join(self.sha256);
        let at = |path: &Path, error: io::Error| Failure::Io(format!("{}: {error}", path.display()));
        if let Some(above) = cache.parent() {
            fs::create_dir_all(above).map_err(|error| at(above, error))?;
        }
        for each in [cache, directory.as_path()] {
            own_directory(each).map_err(|error| at(each, error))?;
        }
        let path = directory.join(Platform::HERE.program_name());
        if self.matches(&path) {
            return Ok(path);
        }
        let program = self.decompressed().map_err(Failure::Damaged)?;
        remove_old_parts(&directory);
        let part = directory.join(format!("{}-{:016x}{PART_ENDING}", std::process::id(), fastrand::u64(..)));
        let renamed = write_program(&part, &program).and_then(|()| patiently(|| fs::rename(&part, &path)));
        match renamed {
            Ok(()) => {
                let _ = set_unchanged(&path); // if this fails, the next start checks the SHA-256 again
                Ok(path)
            }
            Err(error) => {
                let _ = fs::remove_file(&part);
                // Another process may have unpacked the same program, which may be running.
                if self.matches(&path) {
                    return Ok(path);
                }
                let held = if is_held(&error) { format!("; {MAY_BE_HELD}") } else { String::new() };
                Err(Failure::Io(format!("{}: {error}{held}", path.display())))
            }
        }
    }

    // Returns whether a file is the unpacked program. A file that was damaged, for example by a full disk, does not match
    // and is replaced.
    fn matches(&self, path: &Path) -> bool {
        let Ok(status) = fs::symlink_metadata(path) else { return false };
        if !status.is_file() || status.len() != self.size || !is_executable(&status) {
            return false;
        }
        if status.modified().is_ok_and(|at| at == UNIX_EPOCH + UNCHANGED) {
            return true;
        }
        let matches = sha256_of(path).is_ok_and(|found| found == self.sha256);
        if matches {
            let _ = set_unchanged(path);
        }
        matches
    }

    // Returns the program, after a check of its size and its SHA-256. The error is why the crate is damaged.
    fn decompressed(&self) -> Result<Vec<u8>, String> {
        let mut program = Vec::new();
        let mut decoder = GzDecoder::new(self.gzip).take(self.size + 1);
        decoder.read_to_end(&mut program).map_err(|error| error.to_string())?;
        if program.len() as u64 != self.size {
            return Err(format!("its size differs from the expected {} bytes", self.size));
        }
        let found = hexadecimal(&Sha256::digest(&program));
        if found != self.sha256 {
            return Err(format!("its SHA-256 is {found}, expected {}", self.sha256));
        }
        Ok(program)
    }
}

fn write_program(path: &Path, program: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o700);
    let mut file = options.open(path)?;
    file.write_all(program)?;
    file.sync_all() // else the file could lack content after a crash of the system
}

// Linux and macOS let the owner of a file set its times through any open file. Windows needs the right to do so.
fn set_unchanged(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(windows)]
    {
        const FILE_WRITE_ATTRIBUTES: u32 = 0x100;
        std::os::windows::fs::OpenOptionsExt::access_mode(&mut options, FILE_WRITE_ATTRIBUTES);
    }
    options.open(path)?.set_modified(UNIX_EPOCH + UNCHANGED)
}

fn sha256_of(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hexadecimal(&hash.finalize())),
            bytes => hash.update(&buffer[..bytes]),
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

// Removes the temporary files of processes that were killed while they unpacked the program.
fn remove_old_parts(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let is_part = Path::new(&entry.file_name()).extension() == Some(OsStr::new(&PART_ENDING[1..]));
        let is_old = |at| SystemTime::now().duration_since(at).is_ok_and(|age| age > PART_AGE_MAX);
        if is_part && entry.metadata().and_then(|status| status.modified()).is_ok_and(is_old) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

// Creates a directory that only the user can access. If the directory exists, this function checks that it belongs to the
// user, and removes the permissions of other users. In a directory for temporary files, another user could have created it.
fn own_directory(path: &Path) -> io::Result<()> {
    match create_directory(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        outcome => return outcome,
    }
    let status = fs::symlink_metadata(path)?;
    if !status.is_dir() {
        return Err(io::Error::other("not a directory"));
    }
    #[cfg(unix)]
    restrict(path, &status, user_id())?;
    Ok(())
}

#[cfg(unix)]
fn create_directory(path: &Path) -> io::Result<()> {
    std::os::unix::fs::DirBuilderExt::mode(&mut fs::DirBuilder::new(), 0o700).create(path)
}

// By default, Windows makes both directories for unpacked programs accessible only to their user.
#[cfg(not(unix))]
fn create_directory(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

#[cfg(unix)]
fn restrict(path: &Path, status: &fs::Metadata, user: u32) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    if status.uid() != user {
        return Err(io::Error::other("belongs to another user"));
    }
    if status.mode() & 0o077 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

#[cfg(unix)]
fn user_id() -> u32 {
    // SAFETY: geteuid() has no arguments and always succeeds.
    unsafe { libc::geteuid() }
}

#[cfg(unix)]
pub(crate) fn is_executable(status: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&status.permissions()) & 0o111 != 0
}

#[cfg(not(unix))]
pub(crate) fn is_executable(_: &fs::Metadata) -> bool {
    true
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{Bundled, Cache, PART_AGE_MAX, PART_ENDING, caches_of, set_unchanged, sha256_of};
    use crate::Error;
    use crate::platform::Platform;
    use crate::scratch::Scratch;
    use std::fs;
    use std::io::Write;
    use std::path::{Path, PathBuf};
    use std::time::SystemTime;

    // A program, its SHA-256 and its compressed form, which a `Bundled` borrows.
    pub struct Made {
        size: u64,
        sha256: String,
        gzip: Vec<u8>,
    }

    impl Made {
        pub fn of(program: &[u8]) -> Made {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
            encoder.write_all(program).unwrap();
            let sha256 = super::hexadecimal(&<sha2::Sha256 as sha2::Digest>::digest(program));
            Made { size: program.len() as u64, sha256, gzip: encoder.finish().unwrap() }
        }

        pub fn bundled(&self) -> Bundled<'_> {
            Bundled { package: "a-crate 1.2.3", size: self.size, sha256: &self.sha256, gzip: &self.gzip }
        }
    }

    fn unpacked(program: &[u8], directory: &Path) -> PathBuf {
        Made::of(program).bundled().unpacked(&[Ok(directory.to_owned())]).unwrap()
    }

    fn file_time(path: &Path) -> SystemTime {
        fs::metadata(path).unwrap().modified().unwrap()
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    // The path contains a space and characters that are not ASCII.
    #[test]
    fn a_program_is_unpacked_once() {
        let scratch = Scratch::new();
        let directory = scratch.path().join("Zwischenspeicher für Zoë").join("mayfly");
        let path = unpacked(b"a program", &directory);
        let made = Made::of(b"a program");
        assert_eq!(path, directory.join(&made.sha256).join(Platform::HERE.program_name()));
        assert_eq!(fs::read(&path).unwrap(), b"a program");
        assert_eq!(names(path.parent().unwrap()).len(), 1);

        let kept = b"a pr0gram"; // a file with the right size and time is not read again
        fs::write(&path, kept).unwrap();
        set_unchanged(&path).unwrap();
        assert_eq!(unpacked(b"a program", &directory), path);
        assert_eq!(fs::read(&path).unwrap(), kept);

        let other = unpacked(b"another program", &directory);
        assert_ne!(other, path);
        assert_eq!(fs::read(&other).unwrap(), b"another program");
    }

    #[test]
    fn a_program_that_another_package_unpacked_is_used() {
        let scratch = Scratch::new();
        let path = unpacked(b"a program", scratch.path());
        let unchanged = file_time(&path);
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now()).unwrap();
        drop(file);
        let same = scratch.path().join("same"); // another name of the file, which a replaced file would not have
        fs::hard_link(&path, &same).unwrap();
        assert_eq!(unpacked(b"a program", scratch.path()), path);
        assert_eq!((file_time(&path), file_time(&same)), (unchanged, unchanged));
    }

    #[test]
    fn a_damaged_unpacked_program_is_replaced() {
        for damage in ["", "a progra", "a pr0gram", "a program and more"] {
            let scratch = Scratch::new();
            let path = unpacked(b"a program", scratch.path());
            fs::write(&path, damage).unwrap();
            assert_eq!(unpacked(b"a program", scratch.path()), path);
            assert_eq!(fs::read(&path).unwrap(), b"a program", "{damage:?}");
            assert_eq!(names(path.parent().unwrap()).len(), 1, "{damage:?}");
        }
    }

    #[test]
    fn a_damaged_crate_is_reported() {
        let made = Made::of(b"a program");
        let whole = made.bundled();
        let other = Made::of(b"another program");
        let cut = &made.gzip[..made.gzip.len() - 12];
        let mut wrong_sum = made.gzip.clone();
        let at = wrong_sum.len() - 8;
        wrong_sum[at] ^= 1;
        let sha256 = format!("its SHA-256 is {}, expected 01", other.sha256);
        // The reasons from flate2 depend on its version.
        for (damaged, wanted) in [
            (Bundled { gzip: b"a text, not a program", ..whole }, None),
            (Bundled { gzip: cut, ..whole }, None),
            (Bundled { gzip: &wrong_sum, ..whole }, None),
            (Bundled { gzip: &other.gzip, ..whole }, Some("its size differs from the expected 9 bytes")),
            (Bundled { gzip: &other.gzip, size: 15, sha256: "01", ..whole }, Some(sha256.as_str())),
        ] {
            let (scratch, next) = (Scratch::new(), Scratch::new());
            let caches = [scratch.path(), next.path()].map(|path| Ok(path.to_owned()));
            let error = damaged.unpacked(&caches).unwrap_err();
            let Error::Unpack { package, damaged: true, why } = &error else { panic!("{error}") };
            assert_eq!(package, "a-crate 1.2.3");
            assert!(wanted.map_or(!why.is_empty(), |wanted| wanted == why), "{why}");
            assert_eq!(names(&scratch.path().join(damaged.sha256)), [""; 0], "{why}");
            assert_eq!(names(next.path()), [""; 0], "{why}");
        }
    }

    #[test]
    fn not_more_than_the_programs_size_is_unpacked() {
        let large = Made::of(&vec![0; 1 << 20]);
        let error = Bundled { size: 100, ..large.bundled() }.decompressed().unwrap_err();
        assert_eq!(error, "its size differs from the expected 100 bytes");
    }

    // A file takes the place of a directory, because root can write a directory of any mode.
    #[test]
    fn if_a_cache_cannot_be_written_the_next_one_is_used() {
        let scratch = Scratch::new();
        let (file, usable) = (scratch.path().join("home"), scratch.path().join("usable"));
        fs::write(&file, "").unwrap();
        let caches =
            [Err("there is no home directory".to_owned()), Ok(file.join("mayfly")), Ok(usable.clone())];
        let path = Made::of(b"a program").bundled().unpacked(&caches).unwrap();
        assert!(path.starts_with(&usable), "{path:?}");
    }

    #[test]
    fn if_no_cache_can_be_written_the_error_has_the_reason_for_each() {
        let scratch = Scratch::new();
        let file = scratch.path().join("home");
        fs::write(&file, "").unwrap();
        let caches: [Cache; 2] =
            [Err("there is no home directory".into()), Ok(file.join("above").join("mayfly"))];
        let error = Made::of(b"a program").bundled().unpacked(&caches).unwrap_err();
        let Error::Unpack { damaged: false, why, .. } = &error else { panic!("{error}") };
        let begin = format!("there is no home directory; {}: ", file.join("above").display());
        assert!(why.starts_with(&begin), "{why}");
    }

    #[test]
    fn the_caches_are_below_the_users_cache_directory_and_the_directory_for_temporary_files() {
        let scratch = Scratch::new();
        let (home, cache, temporary) =
            (scratch.path().join("home"), scratch.path().join("cache"), scratch.path().join("temporary"));
        let found = |os, variables: &[&str], home: Option<&PathBuf>| {
            let variable = |name: &str| variables.contains(&name).then(|| cache.clone());
            caches_of(Platform { os, arch: "x86_64" }, variable, home.cloned(), temporary.clone())
        };
        let all = ["XDG_CACHE_HOME", "LocalAppData"];
        for (os, variables, wanted) in [
            ("linux", &all[..], cache.clone()),
            ("linux", &[], home.join(".cache")),
            ("macos", &all, home.join("Library/Caches")),
            ("windows", &all, cache.clone()),
        ] {
            let caches = found(os, variables, Some(&home));
            assert_eq!(caches[0], Ok(wanted.join("mayfly")), "{os}");
            assert_eq!(caches[1].as_ref().unwrap().parent(), Some(temporary.as_path()), "{os}");
        }
        for (os, why) in [
            ("linux", "there is no home directory: set HOME or XDG_CACHE_HOME"),
            ("macos", "there is no home directory: set HOME"),
            ("windows", "LocalAppData is not set"),
        ] {
            let caches = found(os, &[], Some(&PathBuf::from("relative")));
            assert_eq!((&caches[0], caches.len()), (&Err(why.to_owned()), 2), "{os}");
        }
    }

    #[test]
    fn old_temporary_files_of_killed_processes_are_removed() {
        let scratch = Scratch::new();
        let own = scratch.path().join(Made::of(b"a program").sha256);
        fs::create_dir(&own).unwrap();
        let (old, young) = (own.join(format!("1{PART_ENDING}")), own.join(format!("2{PART_ENDING}")));
        fs::write(&young, "").unwrap();
        let file = fs::File::create(&old).unwrap();
        file.set_modified(SystemTime::now() - 2 * PART_AGE_MAX).unwrap();
        drop(file);
        unpacked(b"a program", scratch.path());
        assert!(!old.exists(), "the old file still exists");
        assert!(young.exists(), "the file of a process that may still run was removed");
    }

    #[test]
    fn processes_can_unpack_a_program_at_the_same_time() {
        let scratch = Scratch::new();
        let program: Vec<u8> = (0..1 << 20).map(|at: u32| (at % 251) as u8).collect();
        let paths: Vec<PathBuf> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..6).map(|_| scope.spawn(|| unpacked(&program, scratch.path()))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(paths.iter().all(|path| path == &paths[0]), "{paths:?}");
        assert_eq!(sha256_of(&paths[0]).unwrap(), Made::of(&program).sha256);
        assert_eq!(names(paths[0].parent().unwrap()).len(), 1);
    }

    #[cfg(unix)]
    mod unix {
        use super::super::{own_directory, restrict, user_id};
        use super::{Made, unpacked};
        use crate::scratch::Scratch;
        use std::fs;
        use std::os::unix::fs::PermissionsExt;
        use std::path::Path;

        fn mode(path: &Path) -> u32 {
            fs::metadata(path).unwrap().permissions().mode() & 0o777
        }

        fn set_mode(path: &Path, mode: u32) {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }

        #[test]
        fn an_unpacked_program_that_lost_its_executable_bit_is_replaced() {
            let scratch = Scratch::new();
            let path = unpacked(b"a program", scratch.path());
            set_mode(&path, 0o600);
            unpacked(b"a program", scratch.path());
            assert_eq!(mode(&path), 0o700);
        }

        #[test]
        fn only_the_user_can_access_a_directory_of_unpacked_programs() {
            let scratch = Scratch::new();
            let directory = scratch.path().join("mayfly");
            fs::create_dir(&directory).unwrap();
            set_mode(&directory, 0o777);
            let path = unpacked(b"a program", &directory);
            for each in [directory.as_path(), path.parent().unwrap(), &path] {
                assert_eq!(mode(each), 0o700, "{each:?}");
            }
        }

        #[test]
        fn a_directory_that_belongs_to_another_user_is_not_used() {
            let scratch = Scratch::new();
            let directory = scratch.path().join("mayfly");
            own_directory(&directory).unwrap();
            let status = fs::metadata(&directory).unwrap();
            let error = restrict(&directory, &status, user_id() + 1).unwrap_err();
            assert_eq!(error.to_string(), "belongs to another user");

            let link = scratch.path().join("link");
            std::os::unix::fs::symlink(&directory, &link).unwrap();
            let error = Made::of(b"a program").bundled().unpacked(&[Ok(link.clone())]).unwrap_err();
            assert!(error.to_string().contains(&format!("({}: not a directory)", link.display())), "{error}");
        }
    }

    #[cfg(windows)]
    #[test]
    fn a_damaged_program_that_another_process_holds_is_reported() {
        let scratch = Scratch::new();
        let path = unpacked(b"a program", scratch.path());
        fs::write(&path, "a pr0gram").unwrap();
        let mut alone = fs::OpenOptions::new();
        std::os::windows::fs::OpenOptionsExt::share_mode(alone.read(true), 0);
        let held = alone.open(&path).unwrap();
        let error = Made::of(b"a program").bundled().unpacked(&[Ok(scratch.path().to_owned())]).unwrap_err();
        drop(held);
        let sentence = format!("; {}): set TMP to ", crate::held::MAY_BE_HELD);
        assert!(error.to_string().contains(&sentence), "{error}");
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    }
}
