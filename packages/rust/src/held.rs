use std::io;
use std::thread;
use std::time::{Duration, Instant};

const HELD_MAX: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(20);

pub(crate) const MAY_BE_HELD: &str = "another process, such as a virus scanner, may have the file open";

// Repeats an attempt while it fails because another process has the file open, for at most HELD_MAX. A virus scanner reads
// each new program. On Linux, a child process that was just forked keeps this process's files open until it runs its own
// program.
pub(crate) fn patiently<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let until = Instant::now() + HELD_MAX;
    loop {
        match attempt() {
            Err(error) if is_held(&error) && Instant::now() < until => thread::sleep(PAUSE),
            outcome => return outcome,
        }
    }
}

// Returns whether an operation failed because another process has the file open.
#[cfg(not(windows))]
pub(crate) fn is_held(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ExecutableFileBusy
}

// Windows also returns ERROR_ACCESS_DENIED, for example if the file that a rename would replace is running.
#[cfg(windows)]
pub(crate) fn is_held(error: &io::Error) -> bool {
    const ERROR_ACCESS_DENIED: i32 = 5;
    const ERROR_SHARING_VIOLATION: i32 = 32;
    const ERROR_LOCK_VIOLATION: i32 = 33;
    let held = [ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION];
    error.raw_os_error().is_some_and(|code| held.contains(&code))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{is_held, patiently};
    use std::io;

    // Returns an error that `is_held` recognizes on this platform.
    pub fn held_error() -> io::Error {
        if cfg!(windows) {
            io::Error::from_raw_os_error(32)
        } else {
            io::ErrorKind::ExecutableFileBusy.into()
        }
    }

    #[test]
    fn an_attempt_is_repeated_while_another_process_has_the_file_open() {
        let mut attempts = 0;
        let outcome = patiently(|| {
            attempts += 1;
            if attempts < 3 { Err(held_error()) } else { Ok(attempts) }
        });
        assert_eq!(outcome.unwrap(), 3);
    }

    #[test]
    fn an_attempt_that_fails_for_another_reason_is_not_repeated() {
        let mut attempts = 0;
        let outcome = patiently(|| -> io::Result<()> {
            attempts += 1;
            Err(io::ErrorKind::AlreadyExists.into())
        });
        assert!(!is_held(&outcome.unwrap_err()));
        assert_eq!(attempts, 1);
    }
}
