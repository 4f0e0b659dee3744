#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod binary;
mod bundled;
mod clock;
mod error;
mod failpoints;
mod faults;
mod functions;
mod handlers;
mod held;
mod http;
mod instant;
mod item;
mod log;
mod options;
mod platform;
mod process;
mod programs;
#[cfg(test)]
mod scratch;
#[cfg(feature = "aws-sdk")]
mod sdk;
mod server;
mod shared;
mod snapshots;
mod table;
mod trigger;
mod ttl;
mod version;
mod wait;
mod world;

pub use clock::{Advance, Advanced, Clock, GivenUp, GivenUpRecord, InvocationError, Retrying, Unfinished};
pub use error::{Error, Refusal};
pub use failpoints::Failpoint;
pub use faults::{Fault, FaultCount, FaultKind};
pub use functions::{Function, RegisteredFunction, StreamEvent};
pub use handlers::{HandlerError, HandlerFailure};
pub use item::{Item, Key};
pub use options::Options;
pub use server::Server;
pub use shared::{server, world};
pub use snapshots::Snapshot;
pub use table::{Index, KeyAttribute, Projection, Stream, Table};
pub use trigger::Trigger;
pub use ttl::{Explanation, Ttl, TtlMode, TtlReason, TtlStatus, TtlSuspect, Upcoming};
pub use version::VERSION;
pub use wait::{By, Event, Record, WaitFor};
pub use world::World;

// Crates whose types appear in public signatures.
#[doc(no_inline)]
pub use serde_json;
#[doc(no_inline)]
#[cfg(feature = "aws-sdk")]
pub use {aws_sdk_dynamodb, aws_sdk_dynamodbstreams};
