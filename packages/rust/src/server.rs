use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, Response};
use serde::Deserialize;

use crate::binary::Binary;
use crate::http::{Failure, exchange};
use crate::log::Log;
use crate::process::Process;
use crate::version::{self, VERSION};
use crate::{Error, Options, World};

const LISTENING: &str = "mayfly listening on ";
const HEALTH_PAUSE: Duration = Duration::from_millis(1);
const END_NOTICED: Duration = Duration::from_millis(200);
const END_AFTER_SILENCE: Duration = Duration::from_secs(1);

/// A running Mayfly server: one that the crate started, which exits when this value is dropped, or an existing one.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), mayfly::Error> {
/// let server = mayfly::Server::start().await?;
/// let world = server.world();
/// world.clock.freeze().await?;
/// # Ok(())
/// # }
/// ```
///
/// A server that the crate started also exits when this process exits for any reason, because it checks its parent
/// process five times a second. A server does not belong to a tokio runtime, so tests with different runtimes can share
/// it: see [`world()`](crate::world()).
pub struct Server {
    pub(crate) shared: Arc<Shared>,
}

// The part of a server that its worlds use. Worlds can outlive the `Server`, which ends the process when it is dropped.
pub(crate) struct Shared {
    pub url: String,
    pub region: String,
    pub version: String,
    pub log: Arc<Log>,
    pub process: Option<Process>, // None: an existing server
}

impl Server {
    /// Starts a server, or uses the existing one at `MAYFLY_URL`, and returns when the server answers.
    ///
    /// Errors are [`Error::NoBinary`], [`Error::Binary`], [`Error::Unpack`], [`Error::StartTimedOut`],
    /// [`Error::StartEnded`], [`Error::Stranger`], [`Error::NoMayfly`] and [`Error::Version`].
    pub async fn start() -> Result<Server, Error> {
        Server::start_with(Options::default()).await
    }

    /// Like [`Server::start`], with options.
    pub async fn start_with(options: Options) -> Result<Server, Error> {
        Server::start_for(options, VERSION).await
    }

    async fn start_for(options: Options, version: &str) -> Result<Server, Error> {
        let (server, place) = match options.running_server() {
            Some(url) => (Server::find(&url, &options).await?, url),
            None => {
                let (binary, server) = Server::launch(options).await?;
                (server, binary.path.display().to_string())
            }
        };
        version::check(version, &server.shared.version, &place)?;
        Ok(server)
    }

    async fn find(url: &str, options: &Options) -> Result<Server, Error> {
        let health = tokio::time::timeout(options.start_timeout, health(url))
            .await
            .unwrap_or_else(|_| Err(format!("no answer within {:?}", options.start_timeout).into()));
        let version = health.map_err(|why| Error::NoMayfly { url: url.into(), why: why.to_string() })?;
        let log = Arc::default();
        let shared = Shared { url: url.into(), region: options.region.clone(), version, log, process: None };
        Ok(Server { shared: Arc::new(shared) })
    }

    async fn launch(options: Options) -> Result<(Binary, Server), Error> {
        let log = Arc::new(Log::default());
        // Unpacking the program takes time, and so does waiting for another process that has the program open.
        let (start, start_log) = (options.clone(), log.clone());
        let started = tokio::task::spawn_blocking(move || {
            let binary = Binary::find(start.binary.as_deref())?;
            let (process, first_line) = Process::start(&binary, &start, &start_log)?;
            Ok((binary, process, first_line))
        });
        let started = started.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
        let (binary, process, first_line) = started?;
        let ready = async {
            let Ok(line) = first_line.await else {
                let status = process.ended_within(END_AFTER_SILENCE).await;
                return Err(Error::StartEnded { path: binary.path.clone(), status, log: log.last() });
            };
            let Some(url) = line.strip_prefix(LISTENING) else {
                return Err(Error::Stranger { path: binary.path.clone(), said: line });
            };
            loop {
                if let Ok(version) = health(url).await {
                    return Ok((url.to_owned(), version));
                }
                if let Some(status) = process.ended_within(Duration::ZERO).await {
                    let (path, status) = (binary.path.clone(), Some(status));
                    return Err(Error::StartEnded { path, status, log: log.last() });
                }
                tokio::time::sleep(HEALTH_PAUSE).await;
            }
        };
        let outcome = tokio::time::timeout(options.start_timeout, ready).await;
        let outcome = outcome
            .unwrap_or_else(|_| Err(Error::StartTimedOut { after: options.start_timeout, log: log.last() }));
        if outcome.is_err() {
            process.kill(); // not SIGTERM, which the program may ignore
        }
        let (url, version) = outcome?;
        let shared = Shared { url, region: options.region, version, log, process: Some(process) };
        Ok((binary, Server { shared: Arc::new(shared) }))
    }

    /// Creates a world: an account with its own tables, streams and clock. This method sends no request, so it cannot
    /// fail.
    pub fn world(&self) -> World {
        World::new(self.shared.clone(), false)
    }

    /// Returns the server's URL, without a trailing slash: `http://127.0.0.1:41234`.
    pub fn url(&self) -> &str {
        &self.shared.url
    }

    /// Returns the server's version.
    pub fn version(&self) -> &str {
        &self.shared.version
    }

    /// Returns the last 1,000 lines of the server's log; empty for an existing server that the crate did not start.
    pub fn log(&self) -> String {
        self.shared.log.since(0)
    }

    /// Returns whether the server's process has ended; false for an existing server that the crate did not start.
    pub fn has_ended(&self) -> bool {
        self.shared.process.as_ref().is_some_and(|process| process.status().is_some())
    }
}

impl Drop for Server {
    /// Ends the server if the crate started it. If the server has not ended after five seconds, it is killed.
    fn drop(&mut self) {
        if let Some(process) = &self.shared.process {
            process.end();
        }
    }
}

impl Shared {
    pub async fn exchange(
        &self,
        call: &str,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Bytes>, Error> {
        match exchange(&self.url, request).await {
            Ok(answer) => Ok(answer),
            Err(failure) => Err(self.why_not(call, failure).await),
        }
    }

    // Returns the error for a call that got no response: `Error::Ended` if the server has ended, otherwise
    // `Error::Call`.
    async fn why_not(&self, call: &str, failure: Failure) -> Error {
        match self.ended().await {
            Some(ended) => ended,
            None => Error::Call { call: call.into(), source: failure.into() },
        }
    }

    // Returns `Error::Ended` if the server has ended. Waits up to END_NOTICED, because a connection breaks shortly before
    // the end of the server's process can be observed.
    pub async fn ended(&self) -> Option<Error> {
        let status = self.process.as_ref()?.ended_within(END_NOTICED).await?;
        Some(Error::Ended { status, log: self.log.last() })
    }
}

// Returns the version of the server at `url`, or why it is not a healthy Mayfly server.
async fn health(url: &str) -> Result<String, Failure> {
    #[derive(Deserialize)]
    struct Health {
        status: String,
        version: String,
    }
    let request = Request::get("/_mayfly/health").body(Full::default())?;
    let answer = exchange(url, request).await?;
    let status = answer.status().as_u16();
    let health: Health = serde_json::from_slice(answer.body())
        .map_err(|_| format!("another program answers with HTTP status {status}"))?;
    if status != 200 {
        return Err(format!("its health status is {:?}", health.status).into());
    }
    Ok(health.version)
}

#[cfg(test)]
mod tests {
    use super::Server;
    use crate::platform::{Platform, headers};
    use crate::scratch::Scratch;
    use crate::{Error, Options};

    // How a process ends that was killed.
    const KILLED: &str = if cfg!(windows) { "exit code: 1" } else { "signal: 9 (SIGKILL)" };

    #[tokio::test]
    async fn a_binary_for_another_platform_is_rejected() {
        let scratch = Scratch::new();
        let path = scratch.path().join("mayfly.exe");
        let (header, built) = if cfg!(target_os = "macos") {
            (headers::elf(0x3e), "linux/x86_64")
        } else {
            (headers::macho(0x0100000c), "macos/aarch64")
        };
        std::fs::write(&path, header).unwrap();
        #[cfg(unix)]
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        let options = Options { binary: Some(path.clone()), ..Default::default() };
        let error = Server::start_with(options).await.err().unwrap().to_string();
        let begin = format!(
            "cannot run {} from Options::binary on {} (it is a program for {built}): set Options::binary to ",
            path.display(),
            Platform::HERE
        );
        assert!(error.starts_with(&begin), "{error}");
    }

    #[tokio::test]
    async fn the_error_for_a_server_of_another_release_names_both_versions() {
        let server = Server::start().await.unwrap();
        let options = Options { url: Some(server.url().into()), ..Default::default() };
        let error = Server::start_for(options, "99.7.1").await.err().unwrap();
        assert_eq!(
            error.to_string(),
            format!(
                "crate version 99.7.1 cannot use the server {}, which is version {}: use a 99.7.x server (set \
                 MAYFLY_BINARY or MAYFLY_URL), or version {} of the crate",
                server.url(),
                server.version(),
                server.version()
            )
        );
        let error = Server::start_for(Options::default(), "99.7.1").await.err().unwrap();
        assert!(matches!(error, Error::Version { .. }), "{error}");
    }

    #[tokio::test]
    async fn a_call_to_a_dead_server_reports_how_the_server_ended() {
        let server = Server::start().await.unwrap();
        let world = server.world();
        server.shared.process.as_ref().unwrap().kill();
        let error = world.clock.now().await.unwrap_err();
        assert!(matches!(error, Error::Ended { .. }), "{error}");
        assert!(error.to_string().starts_with(&format!("the server has ended ({KILLED});")), "{error}");
        let error = world.create_table(crate::Table::new("carts")).await.unwrap_err();
        assert!(matches!(error, Error::Ended { .. }), "{error}");
        assert!(server.has_ended());
    }

    #[cfg(feature = "aws-sdk")]
    #[tokio::test]
    async fn aws_clients_report_a_dead_server_immediately() {
        let server = Server::start().await.unwrap();
        let world = server.world();
        server.shared.process.as_ref().unwrap().kill();
        let error = world.dynamodb().list_tables().send().await.unwrap_err();
        let sources = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
        let ended = sources.filter_map(|source| source.downcast_ref::<Error>()).next();
        assert!(matches!(ended, Some(Error::Ended { .. })), "{error:?}");
        let sentence = format!("the server has ended ({KILLED});");
        assert!(format!("{error:?}").contains(&sentence), "{error:?}");
        let error = aws_sdk_dynamodb::Error::from(error);
        assert!(format!("{error:?}").contains(&sentence), "{error:?}");
    }
}
