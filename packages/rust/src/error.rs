use std::env::consts::{ARCH, OS};
use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::Response;
use serde_json::Value;

use crate::binary::archive;
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
        /// Why the program cannot run.
        source: Arc<io::Error>,
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
            Error::NoBinary => {
                out.write_str("no mayfly program found: ")?;
                match archive(OS, ARCH) {
                    Some(archive) => write!(
                        out,
                        "unpack {archive} from Mayfly's release and set MAYFLY_BINARY to its bin/mayfly, put \
                         bin/mayfly on PATH, or set MAYFLY_URL to a running server"
                    ),
                    None => out.write_str(NO_PROGRAM),
                }
            }
            Error::Binary { path, named_by, source } => {
                let path = path.display();
                match named_by {
                    Some(name) => write!(out, "cannot run {path} from {name} on {OS}/{ARCH} ({source}): ")?,
                    None => write!(out, "cannot run {path} on {OS}/{ARCH} ({source}): ")?,
                }
                match (archive(OS, ARCH), named_by) {
                    (Some(archive), Some(name)) => write!(
                        out,
                        "set {name} to bin/mayfly from {archive}, or unset it to use the mayfly on PATH"
                    ),
                    (Some(archive), None) => write!(out, "replace it with bin/mayfly from {archive}"),
                    (None, _) => out.write_str(NO_PROGRAM),
                }
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
                    out.write_str(if i == 0 { " Other changes of the item: " } else { ", " })?;
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

const NO_PROGRAM: &str = "Mayfly has no program for this platform, so run it in a container or on a Linux machine, and set \
                          MAYFLY_URL to its address";

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
