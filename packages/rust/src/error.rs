use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::Response;
use serde_json::Value;

use crate::held::{MAY_BE_HELD, is_held};
use crate::platform::{Archive, Platform};
use crate::programs::bundled;
use crate::version::release;
use crate::{HandlerError, Record};

/// An error. `{}` and `{:?}` both print a message that says what to do. The output of `unwrap`, and of a test that
/// returns the error, therefore contains that message.
#[derive(Clone)]
#[non_exhaustive]
pub enum Error {
    /// No program was configured, and none was found.
    NoBinary,
    /// The program does not exist or cannot run here.
    Binary {
        /// The program.
        path: PathBuf,
        /// `Options::binary` or `MAYFLY_BINARY`. None: the crate found the program.
        named_by: Option<&'static str>,
        /// Whether the program is the crate's own, unpacked.
        unpacked: bool,
        /// Why the program cannot run.
        source: Arc<io::Error>,
    },
    /// The crate's own program cannot be unpacked.
    Unpack {
        /// The name and version of the crate that contains the program.
        package: String,
        /// Whether that crate's files are damaged. False: no directory can be written.
        damaged: bool,
        /// The reason; if no directory can be written, the reason for each directory that was tried.
        why: String,
    },
    /// The server started but did not answer in time. The crate has killed it.
    StartTimedOut {
        /// The time limit.
        after: Duration,
        /// The last lines of the server's log.
        log: String,
    },
    /// The server ended before it answered, for example because its port is in use.
    StartEnded {
        /// The program.
        path: PathBuf,
        /// The program's exit status, if known.
        status: Option<ExitStatus>,
        /// The last lines of the server's log.
        log: String,
    },
    /// The program that was started is not Mayfly.
    Stranger {
        /// The program.
        path: PathBuf,
        /// The first line that the program printed.
        said: String,
    },
    /// No Mayfly server answers at `MAYFLY_URL` or `Options::url`.
    NoMayfly {
        /// The URL.
        url: String,
        /// How the attempt failed.
        why: String,
    },
    /// The server and this crate are from different releases.
    Version {
        /// The crate's version.
        package: String,
        /// The server's version.
        server: String,
        /// The server's program or URL.
        place: String,
    },
    /// The control API refused a call.
    Refused(Box<Refusal>),
    /// The expected change did not happen in time.
    WaitTimedOut {
        /// The table.
        table: String,
        /// Other changes to the item, oldest first; at most 100.
        happened: Vec<Record>,
        /// The server's response.
        refusal: Box<Refusal>,
    },
    /// A function that was not registered with `may_fail` failed, or a trigger has records for a function that is not
    /// registered.
    Handler(Box<HandlerError>),
    /// The description of a table is invalid. No request was sent.
    Table {
        /// The table's name.
        table: String,
        /// The reason.
        why: String,
    },
    /// The server ended before it answered a call.
    Ended {
        /// The server's exit status or signal.
        status: ExitStatus,
        /// The last lines of the server's log.
        log: String,
    },
    /// A call got no response, or a malformed response.
    Call {
        /// The call's method and path.
        call: String,
        /// Why the call failed.
        source: Arc<dyn StdError + Send + Sync>,
    },
}

/// The error response with which the server refused a call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Refusal {
    /// The error's type, such as `ValidationException`, `NotFound`, `Conflict` or `TimedOut`.
    pub kind: String,
    /// The error's message.
    pub message: String,
    /// The HTTP status, such as 400, 404 or 409.
    pub status: u16,
    /// The whole response. `Value::Null` if it is not JSON.
    pub body: Value,
}

impl Refusal {
    // DynamoDB and the control API send the error's type in the body. Lambda sends it in a header.
    pub(crate) fn read(answer: Response<Bytes>) -> Refusal {
        let text = answer.body();
        let body: Value = serde_json::from_slice(text).unwrap_or_default();
        let member = |name: &str| body.get(name).and_then(Value::as_str);
        let header = || answer.headers().get("x-amzn-errortype")?.to_str().ok();
        let kind = member("__type").or_else(header).unwrap_or_default();
        let kind = kind.rsplit('#').next().unwrap_or_default().to_owned();
        let message = member("message").or_else(|| member("Message")).map(str::to_owned);
        let message = message.unwrap_or_else(|| String::from_utf8_lossy(text).trim().to_owned());
        Refusal { kind, message, status: answer.status().as_u16(), body }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{} ({}, HTTP status {})", self.message, self.kind, self.status)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Error::NoBinary => out.write_str(&no_binary(Platform::HERE)),
            Error::Binary { path, named_by, unpacked, source } => {
                let from =
                    if *unpacked { Origin::Crate } else { named_by.map_or(Origin::Search, Origin::Name) };
                out.write_str(&unusable(Platform::HERE, bundled().is_some(), path, from, source))
            }
            Error::Unpack { package, damaged: true, why } => write!(
                out,
                "the mayfly program in the crate {package} is damaged ({why}): delete registry/cache and registry/src in \
                 Cargo's home directory, or unpack the crate again if it is a path dependency; then run `cargo clean`, and \
                 build again"
            ),
            Error::Unpack { package, damaged: false, why } => {
                out.write_str(&not_unpacked(Platform::HERE, package, why))
            }
            Error::StartTimedOut { after, log } => write!(
                out,
                "the server did not answer within {after:?}; to wait longer, raise Options::start_timeout{}",
                LogTail(log)
            ),
            Error::StartEnded { path, status, log } => write!(
                out,
                "the server {} ended before it answered ({}){}",
                path.display(),
                status.map_or("exit status unknown".into(), |status| status.to_string()),
                LogTail(log)
            ),
            Error::Stranger { path, said } => write!(
                out,
                "{} is not Mayfly: its first line is {said:?}; set MAYFLY_BINARY to a mayfly program",
                path.display()
            ),
            Error::NoMayfly { url, why } => write!(
                out,
                "no Mayfly server answers at {url} ({why}): start one there, or unset MAYFLY_URL and Options::url to \
                 let the crate start one"
            ),
            Error::Version { package, server, place } => write!(
                out,
                "crate version {package} cannot use the server {place}, which is version {server}: use a {}.x server \
                 (set MAYFLY_BINARY or MAYFLY_URL), or version {server} of the crate",
                release(package)
            ),
            Error::Refused(refusal) => refusal.fmt(out),
            Error::WaitTimedOut { happened, refusal, .. } => {
                out.write_str(&refusal.message)?;
                for (i, record) in happened.iter().enumerate() {
                    out.write_str(if i == 0 { " Other changes to the item: " } else { ", " })?;
                    record.fmt(out)?;
                }
                out.write_str(if happened.is_empty() { "" } else { "." })
            }
            Error::Handler(failed) => failed.fmt(out),
            Error::Table { table, why } => write!(out, "cannot create the table {table:?}: {why}"),
            Error::Ended { status, log } => write!(out, "the server has ended ({status}){}", LogTail(log)),
            Error::Call { call, source } => write!(out, "{call}: {source}"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Error::Binary { source, .. } => Some(&**source),
            Error::Call { source, .. } => Some(&**source),
            _ => None,
        }
    }
}

// How the crate chose a program.
enum Origin {
    Crate,              // it is the crate's own
    Name(&'static str), // `Options::binary` or `MAYFLY_BINARY` names it
    Search,             // it is next to the running program or on PATH
}

fn no_binary(here: Platform) -> String {
    let advice = match here.archive() {
        Some(Archive { name, program }) => format!(
            "unpack {name} from Mayfly's release and set MAYFLY_BINARY to its {program}, put {program} on PATH, or set \
             MAYFLY_URL to a running server"
        ),
        None => no_program(here),
    };
    format!("no mayfly program found: {advice}")
}

fn no_program(here: Platform) -> String {
    format!(
        "Mayfly has no program for {here}: build one from source and set MAYFLY_BINARY to it, or run Mayfly's image or a \
         server on another machine and set MAYFLY_URL to its address"
    )
}

fn unusable(here: Platform, has_bundled: bool, path: &Path, from: Origin, source: &io::Error) -> String {
    let directory = path.parent().unwrap_or(path).display();
    let path = path.display();
    let problem = match from {
        Origin::Name(name) => format!("cannot run {path} from {name} on {here} ({source})"),
        Origin::Crate | Origin::Search => format!("cannot run {path} on {here} ({source})"),
    };
    if is_held(source) {
        return format!(
            "{problem}: {MAY_BE_HELD}: exclude {directory} from virus scans, or set MAYFLY_BINARY to a program in another \
             directory"
        );
    }
    let Some(Archive { name: archive, program }) = here.archive() else {
        return format!("{problem}: {}", no_program(here));
    };
    match from {
        Origin::Crate => format!(
            "{problem}: allow programs to run in that directory (a file system that is mounted with noexec, or a virus \
             scanner, can prevent it), or set MAYFLY_BINARY to {program} from {archive}"
        ),
        Origin::Name(name) => {
            let other = if has_bundled { "the crate's own program" } else { "the mayfly on PATH" };
            format!("{problem}: set {name} to {program} from {archive}, or unset it to use {other}")
        }
        Origin::Search => format!("{problem}: replace it with {program} from {archive}"),
    }
}

fn not_unpacked(here: Platform, package: &str, why: &str) -> String {
    let variable = if here.os == "windows" { "TMP" } else { "TMPDIR" };
    let program = match here.archive() {
        Some(Archive { name, program }) => format!("{program} from {name}"),
        None => "a program".to_owned(),
    };
    format!(
        "cannot unpack the mayfly program of the crate {package} ({why}): set {variable} to a directory in which you can \
         create files and run programs, or set MAYFLY_BINARY to {program}"
    )
}

// The end of a log, to be appended to a message.
struct LogTail<'a>(&'a str);

impl fmt::Display for LogTail<'_> {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let log = self.0.trim_end();
        if log.is_empty() {
            return out.write_str("; its log is empty");
        }
        out.write_str("; its log ends with:")?;
        log.lines().try_for_each(|line| write!(out, "\n    {line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, Origin, no_binary, not_unpacked, unusable};
    use crate::held::tests::held_error;
    use crate::platform::Platform;
    use std::io;
    use std::path::Path;

    const LINUX: Platform = Platform { os: "linux", arch: "aarch64" };
    const WINDOWS: Platform = Platform { os: "windows", arch: "x86_64" };
    const OTHER: Platform = Platform { os: "freebsd", arch: "riscv64" };

    fn version() -> String {
        env!("CARGO_PKG_VERSION").replace("0.0.0", "<version>")
    }

    const BUILD_ONE: &str = "Mayfly has no program for freebsd/riscv64: build one from source and set MAYFLY_BINARY to it, or \
                             run Mayfly's image or a server on another machine and set MAYFLY_URL to its address";

    #[test]
    fn the_error_for_a_missing_program_says_how_to_get_one() {
        let advice = [
            format!(
                "unpack mayfly-{}-linux-arm64.tar.gz from Mayfly's release and set MAYFLY_BINARY to its bin/mayfly, put \
                 bin/mayfly on PATH, or set MAYFLY_URL to a running server",
                version()
            ),
            format!(
                "unpack mayfly-{}-windows-x86_64.zip from Mayfly's release and set MAYFLY_BINARY to its mayfly.exe, put \
                 mayfly.exe on PATH, or set MAYFLY_URL to a running server",
                version()
            ),
            BUILD_ONE.to_owned(),
        ];
        for (here, advice) in [LINUX, WINDOWS, OTHER].into_iter().zip(advice) {
            assert_eq!(no_binary(here), format!("no mayfly program found: {advice}"));
        }
    }

    #[test]
    fn the_error_for_a_program_that_cannot_run_depends_on_where_it_is_from() {
        let archive = format!("bin/mayfly from mayfly-{}-linux-arm64.tar.gz", version());
        let says = |here, has_bundled, from, sentence: String| {
            let source = io::Error::other("a reason");
            assert_eq!(unusable(here, has_bundled, Path::new("/bin/it"), from, &source), sentence);
        };
        let name = Origin::Name("MAYFLY_BINARY");
        let problem =
            "cannot run /bin/it from MAYFLY_BINARY on linux/aarch64 (a reason): set MAYFLY_BINARY to";
        says(LINUX, true, name, format!("{problem} {archive}, or unset it to use the crate's own program"));
        let name = Origin::Name("MAYFLY_BINARY");
        says(LINUX, false, name, format!("{problem} {archive}, or unset it to use the mayfly on PATH"));
        let problem = "cannot run /bin/it on linux/aarch64 (a reason):";
        says(LINUX, false, Origin::Search, format!("{problem} replace it with {archive}"));
        let sentence = format!(
            "{problem} allow programs to run in that directory (a file system that is mounted with noexec, or a virus scanner, \
             can prevent it), or set MAYFLY_BINARY to {archive}"
        );
        says(LINUX, true, Origin::Crate, sentence);
        let problem = "cannot run /bin/it on freebsd/riscv64 (a reason):";
        says(OTHER, false, Origin::Search, format!("{problem} {BUILD_ONE}"));
    }

    #[test]
    fn a_program_that_another_process_holds_is_reported_with_its_directory() {
        let path = Path::new("cache").join("mayfly");
        let source = held_error();
        assert_eq!(
            unusable(WINDOWS, true, &path, Origin::Crate, &source),
            format!(
                "cannot run {} on windows/x86_64 ({source}): another process, such as a virus scanner, may have the file open: \
                 exclude cache from virus scans, or set MAYFLY_BINARY to a program in another directory",
                path.display()
            )
        );
    }

    #[test]
    fn the_error_for_a_program_that_cannot_be_unpacked_names_the_variables_that_help() {
        for (here, variable, program) in [
            (LINUX, "TMPDIR", format!("bin/mayfly from mayfly-{}-linux-arm64.tar.gz", version())),
            (WINDOWS, "TMP", format!("mayfly.exe from mayfly-{}-windows-x86_64.zip", version())),
        ] {
            assert_eq!(
                not_unpacked(here, "a-crate 1.2.3", "a; b"),
                format!(
                    "cannot unpack the mayfly program of the crate a-crate 1.2.3 (a; b): set {variable} to a directory in which \
                     you can create files and run programs, or set MAYFLY_BINARY to {program}"
                )
            );
        }
    }

    #[test]
    fn the_error_for_a_damaged_crate_says_how_to_get_it_again() {
        let error = Error::Unpack { package: "a-crate 1.2.3".into(), damaged: true, why: "a reason".into() };
        assert_eq!(
            error.to_string(),
            "the mayfly program in the crate a-crate 1.2.3 is damaged (a reason): delete registry/cache and registry/src in \
             Cargo's home directory, or unpack the crate again if it is a path dependency; then run `cargo clean`, and build \
             again"
        );
    }
}
