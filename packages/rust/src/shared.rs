use tokio::sync::Mutex;

use crate::{Error, Server, World};

// Rust does not drop statics. The server still exits when this process exits, because the server checks its parent
// process five times a second (--exit-with-parent). This check works even after kill -9, abort() or exit(), for which a
// destructor or an atexit() handler is not enough.
static SERVER: Mutex<Option<Result<&Server, Error>>> = Mutex::const_new(None);

/// Returns the server that all tests of this process share. The first call starts it, or uses the existing one at
/// `MAYFLY_URL`. If the first call fails, each later call immediately returns the same error. If the server has ended,
/// the next call starts a new one.
pub async fn server() -> Result<&'static Server, Error> {
    let mut shared = SERVER.lock().await;
    match &*shared {
        Some(Ok(server)) if server.has_ended() => {}
        Some(started) => return started.clone(),
        None => {}
    }
    // Worlds may still refer to a server that has ended, so the old server stays in memory.
    let started = Server::start().await.map(|server| &*Box::leak(Box::new(server)));
    *shared = Some(started.clone());
    started
}

/// Returns a new world for a test, on the server that all tests of this process share.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), mayfly::Error> {
/// let world = mayfly::world().await?;
/// # Ok(())
/// # }
/// ```
///
/// When the world is dropped, it prints the server's log lines about this world, and the items whose TTL is probably wrong.
/// The test harness shows this output if the test fails.
pub async fn world() -> Result<World, Error> {
    Ok(World::new(server().await?.shared.clone(), true))
}
