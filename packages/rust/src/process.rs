use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::binary::Binary;
use crate::held::patiently;
use crate::log::Log;
use crate::{Error, Options};

const END_WAIT: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(1);

// A server's process, which exits when this value is dropped. This type does not depend on a tokio runtime,
// because tests with different runtimes share the process.
pub(crate) struct Process {
    child: Mutex<Child>,
    log: Arc<Log>,
}

impl Process {
    // Starts the process. The receiver gets the first line of stdout, or an error if the process exits before it
    // writes one.
    pub fn start(
        binary: &Binary,
        options: &Options,
        log: &Arc<Log>,
    ) -> Result<(Process, oneshot::Receiver<String>), Error> {
        let stderr = log.open().map_err(|error| binary.unusable(error))?;
        let mut command = Command::new(&binary.path);
        command.args(options.arguments()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(stderr);
        hide_window(&mut command);
        let started = patiently(|| command.spawn());
        let mut child = started.map_err(|error| {
            log.close();
            binary.not_started(error)
        })?;
        let stdout = child.stdout.take().expect("a pipe");
        let (tell, told) = oneshot::channel();
        thread::spawn(move || {
            let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
            if let Some(first) = lines.next() {
                let _ = tell.send(first);
            }
            lines.for_each(drop);
        });
        Ok((Process { child: Mutex::new(child), log: log.clone() }, told))
    }

    // Returns the exit status. None: the process is running.
    pub fn status(&self) -> Option<ExitStatus> {
        self.child().try_wait().ok().flatten()
    }

    // Waits for the process to end, for at most `longest`. Returns the exit status. None: it is still running.
    pub async fn ended_within(&self, longest: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + longest;
        while self.status().is_none() && Instant::now() < until {
            tokio::time::sleep(PAUSE).await;
        }
        self.status()
    }

    pub fn kill(&self) {
        let mut child = self.child();
        let _ = child.kill();
        let _ = child.wait();
    }

    // Ends the process with SIGTERM, and kills it if it is still running after five seconds. On Windows, which has no
    // SIGTERM, kills it. A killed server loses no write that it has acknowledged.
    pub fn end(&self) {
        self.ask_to_end();
        let until = Instant::now() + END_WAIT;
        while self.status().is_none() {
            if Instant::now() > until {
                return self.kill();
            }
            thread::sleep(PAUSE);
        }
    }

    fn ask_to_end(&self) {
        let mut child = self.child();
        if !matches!(child.try_wait(), Ok(None)) {
            return; // the process has ended, so another process can have its id now
        }
        #[cfg(unix)]
        // SAFETY: kill() takes two integers. No other process can have this id, because the child has not been waited
        // for.
        unsafe {
            libc::kill(child.id() as libc::pid_t, libc::SIGTERM);
        }
        #[cfg(not(unix))]
        let _ = child.kill();
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
        self.log.close();
    }
}

// Keeps Windows from opening a console window for the server if the tests run without a console, as in an IDE.
#[cfg(windows)]
fn hide_window(command: &mut Command) {
    const CREATE_NO_WINDOW: u32 = 0x0800_0000;
    std::os::windows::process::CommandExt::creation_flags(command, CREATE_NO_WINDOW);
}

#[cfg(not(windows))]
fn hide_window(_: &mut Command) {}
