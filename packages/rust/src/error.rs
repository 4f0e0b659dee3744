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

use crate::Record;
use crate::version::release;

/// What went wrong, as a sentence that says what to do. `{:?}` is the same sentence, for `unwrap` and for tests that return
/// it.
#[derive(Clone)]
#[non_exhaustive]
pub enum Error {
    /// There is no program to start: none was named, and none found.
    NoBinary,
    /// A program that is not there, or that cannot be run here.
    Binary {
        /// Where it should be.
        path: PathBuf,
        /// `Options::binary` or `MAYFLY_BINARY`; None: it was found.
        named_by: Option<&'static str>,
        /// Why not.
        source: Arc<io::Error>,
    },
    /// The server was started, and did not answer in time. It has been killed.
    StartTimedOut {
        /// How long it was waited for.
        after: Duration,
        /// The last lines that it logged.
        log: String,
    },
    /// The server ended before it answered, for example because its port is taken.
    StartEnded {
        /// The program.
        path: PathBuf,
        /// How it ended, if that is known.
        status: Option<ExitStatus>,
        /// The last lines that it logged.
        log: String,
    },
    /// The program that was started is not Mayfly.
    Stranger {
        /// The program.
        path: PathBuf,
        /// What it said.
        said: String,
    },
    /// No Mayfly answers at the address that `MAYFLY_URL` or `Options::url` names.
    NoMayfly {
        /// The address.
        url: String,
        /// Why not.
        why: String,
    },
    /// The server is of another release than this crate.
    Version {
        /// The crate's.
        package: String,
        /// The server's.
        server: String,
        /// Its program or address.
        place: String,
    },
    /// The control API refused a call.
    Refused(Box<Refusal>),
    /// What was waited for did not happen in time.
    WaitTimedOut {
        /// The table.
        table: String,
        /// What did happen to the item meanwhile, oldest first; at most 100.
        happened: Vec<Record>,
        /// The server's answer.
        refusal: Box<Refusal>,
    },
    /// The server has ended while it was needed.
    Ended {
        /// How.
        status: ExitStatus,
        /// The last lines that it logged.
        log: String,
    },
    /// A call got no answer that can be read.
    Call {
        /// Method and path.
        call: String,
        /// Why.
        source: Arc<dyn StdError + Send + Sync>,
    },
}

/// What a call of the control API was refused with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Refusal {
    /// `ValidationException`, `NotFound`, `Conflict`, `TimedOut`, …
    pub kind: String,
    /// A sentence.
    pub message: String,
    /// HTTP's: 400, 404, 409, …
    pub status: u16,
    /// All of the answer; null if that was no JSON.
    pub body: Value,
}

impl Refusal {
    // DynamoDB and the control API say the kind in the body, Lambda in a header.
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
            Error::NoBinary => out.write_str(
                "there is no mayfly to start: put the program of your platform's archive on PATH, or name it by \
                 MAYFLY_BINARY, or name a server that runs by MAYFLY_URL",
            ),
            Error::Binary { path, named_by, source } => {
                let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
                let path = path.display();
                match named_by {
                    Some(name) => write!(
                        out,
                        "{name} names {path}, which cannot be started on {os}/{arch} ({source}): name another, or \
                         none to take the mayfly on PATH"
                    ),
                    None => write!(
                        out,
                        "{path} cannot be started on {os}/{arch} ({source}): take the mayfly that was built for it"
                    ),
                }
            }
            Error::StartTimedOut { after, log } => write!(
                out,
                "the server does not answer after {after:?}: see its log, or allow more by Options::start_timeout{}",
                Indented(log)
            ),
            Error::StartEnded { path, status, log } => write!(
                out,
                "the server {} ended before it answered ({}): its log says why{}",
                path.display(),
                status.map_or("nobody knows how".into(), |status| status.to_string()),
                Indented(log)
            ),
            Error::Stranger { path, said } => {
                write!(out, "the first line of {} is {said:?}: is it Mayfly? MAYFLY_BINARY names it", path.display())
            }
            Error::NoMayfly { url, why } => write!(
                out,
                "no Mayfly answers at {url}, which MAYFLY_URL or Options::url names ({why}): start it there, or name \
                 none to have one started"
            ),
            Error::Version { package, server, place } => write!(
                out,
                "this package is {package}, but the server {place} is {server}: take a server of {}.x (MAYFLY_BINARY, \
                 MAYFLY_URL), or the package of {server}",
                release(package)
            ),
            Error::Refused(refusal) => refusal.fmt(out),
            Error::WaitTimedOut { table, happened, refusal } => {
                write!(out, "{table}: {}", refusal.message)?;
                for (i, record) in happened.iter().enumerate() {
                    out.write_str(if i == 0 { " What happened: " } else { ", " })?;
                    record.fmt(out)?;
                }
                out.write_str(if happened.is_empty() { "" } else { "." })
            }
            Error::Ended { status, log } => write!(out, "the server has ended ({status}){}", Indented(log)),
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

// A log as it stands behind a sentence.
struct Indented<'a>(&'a str);

impl fmt::Display for Indented<'_> {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let log = self.0.trim_end();
        if log.is_empty() {
            return out.write_str("; it logged nothing");
        }
        log.lines().try_for_each(|line| write!(out, "\n    {line}"))
    }
}
