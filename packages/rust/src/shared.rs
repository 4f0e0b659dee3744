use tokio::sync::Mutex;

use crate::{Error, Server, World};

// Statics are not dropped. The server ends with the process anyway: it looks for its parent five times a second
// (--exit-with-parent). That also works for kill -9, abort() and exit(), where a destructor or atexit() would not.
static SERVER: Mutex<Option<Result<&Server, Error>>> = Mutex::const_new(None);

/// The server that all tests of this process share. The first call starts it, or uses the one that `MAYFLY_URL` names. If
/// that fails, each call returns the same error immediately. If the server has ended, the next call starts another one.
pub async fn server() -> Result<&'static Server, Error> {
    let mut shared = SERVER.lock().await;
    match &*shared {
        Some(Ok(server)) if server.has_ended() => {}
        Some(started) => return started.clone(),
        None => {}
    }
    // Worlds of a server that has ended may still refer to it, so it stays in memory.
    let started = Server::start().await.map(|server| &*Box::leak(Box::new(server)));
    *shared = Some(started.clone());
    started
}

/// A new world for a test, on the server that all tests of this process share.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), mayfly::Error> {
/// let world = mayfly::world().await?;
/// # Ok(())
/// # }
/// ```
///
/// When the world is dropped, the server's log lines about it and the items whose TTL is probably a mistake are printed. The
/// test harness shows this output if the test fails.
pub async fn world() -> Result<World, Error> {
    Ok(World::new(server().await?.shared.clone(), true))
}
