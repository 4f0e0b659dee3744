//! Tests the crate with a server. `MAYFLY_BINARY` is the path of the server's program.

mod clock;
mod control;
#[cfg(unix)]
mod ended;
mod failpoints;
mod faults;
mod functions;
mod handlers;
mod killed;
mod report;
mod snapshots;
mod start;
mod table;
mod ttl;
mod wait;
mod world;

use std::collections::HashMap;
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_sdk_dynamodb::types::AttributeValue;
use mayfly::{Table, World};

type Failure = Box<dyn std::error::Error>;
type Outcome = Result<(), Failure>;

const HOUR: Duration = Duration::from_secs(3600);
/// How a server ends that was dropped: with SIGTERM, or on Windows, which has no SIGTERM, killed.
const DROPPED: &str = if cfg!(windows) { "exit code: 1" } else { "exit status: 0" };
const MILLISECOND: Duration = Duration::from_millis(1);

/// Returns 2031-01-01T00:00:00Z.
fn new_2031() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_924_992_000)
}

fn seconds(at: SystemTime) -> u64 {
    at.duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// Returns a world whose clock is frozen at the beginning of 2031, with the table carts.
async fn carts() -> Result<World, Failure> {
    let world = mayfly::world().await?;
    world.clock.freeze_at(new_2031()).await?;
    world.create_table(carts_table()).await?;
    Ok(world)
}

/// Describes the table carts. The attribute `ttl` holds the TTL of an item.
fn carts_table() -> Table {
    Table::new("carts").ttl("ttl")
}

async fn put_cart(world: &World, id: &str, ttl: SystemTime) -> Outcome {
    put_cart_with(world, id, AttributeValue::N(seconds(ttl).to_string())).await
}

async fn put_cart_with(world: &World, id: &str, ttl: AttributeValue) -> Outcome {
    let item = HashMap::from([("id".to_owned(), AttributeValue::S(id.into())), ("ttl".to_owned(), ttl)]);
    world.dynamodb().put_item().table_name("carts").set_item(Some(item)).send().await?;
    Ok(())
}

async fn has_cart(world: &World, id: &str) -> Result<bool, Failure> {
    let get = world.dynamodb().get_item().table_name("carts").key("id", AttributeValue::S(id.into()));
    Ok(get.send().await?.item.is_some())
}

async fn tables(world: &World) -> Result<Vec<String>, Failure> {
    Ok(world.dynamodb().list_tables().send().await?.table_names.unwrap_or_default())
}

/// Runs ignored tests in a new process. Returns whether they passed, and their output.
fn run_ignored(names: &[&str], variables: &[(&str, &str)]) -> Result<(bool, String), Failure> {
    let ran = Command::new(std::env::current_exe()?)
        .args(["--ignored", "--exact", "--test-threads=1"])
        .args(names)
        .env_remove("MAYFLY_LOG_LEVEL")
        .env("RUST_BACKTRACE", "0")
        .envs(variables.iter().copied())
        .output()?;
    Ok((ran.status.success(), String::from_utf8(ran.stdout)? + &String::from_utf8(ran.stderr)?))
}
