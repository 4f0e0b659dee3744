use tokio::sync::OnceCell;

use crate::{Error, Server, World};

// Statics are not dropped. This server ends with the process: it looks for its parent five times a second
// (--exit-with-parent), and that also holds for kill -9, for abort() and for exit(), where a destructor or atexit() would
// not do.
static SERVER: OnceCell<Result<Server, Error>> = OnceCell::const_new();

/// The server that all tests of this process share. The first call starts it, or finds the one that `MAYFLY_URL` names; if
/// that fails, each call answers the same error at once.
pub async fn server() -> Result<&'static Server, Error> {
    let started = SERVER.get_or_init(Server::start).await;
    started.as_ref().map_err(Clone::clone)
}

/// A world of its own for a test, on the server that all tests of this process share.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), mayfly::Error> {
/// let world = mayfly::world().await?;
/// # Ok(())
/// # }
/// ```
///
/// When the world is dropped, what the server logged meanwhile is printed to the test's output, which is shown if the test
/// fails, by a panic or by what it returns.
pub async fn world() -> Result<World, Error> {
    Ok(World::new(server().await?.shared.clone(), true))
}
