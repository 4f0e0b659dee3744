use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::world::Account;
use crate::{Error, Event, Item, TtlReason, World, instant};

/// The clock of a world. TTL, creation times and the age of stream records follow it. It does not affect
/// [`SystemTime::now`]: code that writes a TTL must take the time from [`Clock::now`].
///
/// Clones of this value control the same clock, so each task can have a clone.
#[derive(Clone)]
pub struct Clock {
    pub(crate) account: Arc<Account>,
}

#[derive(Deserialize)]
struct Now {
    #[serde(deserialize_with = "instant::read")]
    now: SystemTime,
}

impl Clock {
    /// Returns the clock's time, to the millisecond.
    pub async fn now(&self) -> Result<SystemTime, Error> {
        let said: Now = self.account.control("GET", "/clock", Value::Null).await?;
        Ok(said.now)
    }

    /// Stops the clock, and returns its time.
    pub async fn freeze(&self) -> Result<SystemTime, Error> {
        self.put(json!({"mode": "frozen"})).await
    }

    /// Stops the clock at a time. The call is refused with `Conflict` if the clock is past that time and the world has
    /// tables.
    pub async fn freeze_at(&self, at: SystemTime) -> Result<(), Error> {
        self.put(json!({"mode": "frozen", "now": instant::print(at)})).await.map(drop)
    }

    /// Moves the clock to a time, and deletes the items that expire by then. A frozen clock stays frozen; otherwise the
    /// clock keeps running. Moving the clock back is refused with `Conflict` while the world has tables.
    pub async fn set(&self, to: SystemTime) -> Result<(), Error> {
        self.put(json!({"now": instant::print(to)})).await.map(drop)
    }

    /// Makes the clock show the host's time again. The call is refused with `Conflict` if the clock is ahead of the
    /// host's time and the world has tables.
    pub async fn real(&self) -> Result<(), Error> {
        self.put(json!({"mode": "real"})).await.map(drop)
    }

    /// Makes the clock run from its current time, `times` times as fast as the host's clock.
    pub async fn rate(&self, times: f64) -> Result<(), Error> {
        self.put(json!({"rate": times})).await.map(drop)
    }

    async fn put(&self, body: Value) -> Result<SystemTime, Error> {
        let said: Now = self.account.control("PUT", "/clock", body).await?;
        Ok(said.now)
    }

    /// Moves the clock forward, through every instant at which an item expires. When the returned [`Advance`] has been
    /// awaited, expired items are gone from the table and its indexes, and their stream records can be read.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # async fn travel(world: &mayfly::World) -> Result<(), mayfly::Error> {
    /// let advanced = world.clock.advance(Duration::from_secs(48 * 3600)).settle().await?;
    /// assert_eq!(advanced.tables["carts"], 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn advance(&self, by: Duration) -> Advance {
        Advance { clock: self.clone(), body: json!({"seconds": by.as_secs_f64()}) }
    }

    /// Advances the clock to a time. The advance is refused with `Conflict` if the clock is past that time.
    pub fn advance_to(&self, to: SystemTime) -> Advance {
        Advance { clock: self.clone(), body: json!({"to": instant::print(to)}) }
    }

    /// Advances the clock to the next instant at which an item expires. If no item will expire, the clock does not move,
    /// and [`Advanced::message`] says so.
    pub fn advance_to_next_expiry(&self) -> Advance {
        Advance { clock: self.clone(), body: json!({"to": "next-expiry"}) }
    }
}

impl World {
    /// Waits until every record in the world's streams has reached its functions, without moving the clock. This
    /// method is equivalent to `world.clock.advance(Duration::ZERO).settle()`; see [`Advance::settle`].
    pub fn settle(&self) -> Advance {
        self.clock.advance(Duration::ZERO).settle()
    }
}

/// An advance of a clock. The clock does not move until this value is awaited. If the future is dropped before it
/// completes, the clock stays at the time that it has reached.
#[must_use = "an advance does nothing until it is awaited"]
pub struct Advance {
    clock: Clock,
    body: Value,
}

impl Advance {
    /// Makes the advance wait until every record in the world's streams has reached its functions, for at most 30 seconds
    /// of real time. If a function that was not registered with [`Function::may_fail`](crate::Function::may_fail) fails,
    /// the advance returns [`Error::Handler`]. The advance does not wait for a function that keeps failing.
    pub fn settle(mut self) -> Self {
        self.body["settle"] = "triggers".into();
        self
    }

    /// Like [`Advance::settle`], but with a different time limit: at most ten minutes.
    pub fn settle_within(self, longest: Duration) -> Self {
        let mut advance = self.settle();
        advance.body["settle_seconds"] = longest.as_secs_f64().into();
        advance
    }

    /// Makes stream records and iterators age with the advance, so that records older than 24 hours are trimmed.
    pub fn age_streams(mut self) -> Self {
        self.body["age_streams"] = true.into();
        self
    }
}

impl IntoFuture for Advance {
    type Output = Result<Advanced, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let settles = self.body.get("settle").is_some();
            let account = &self.clock.account;
            let advanced: Advanced = account.control("POST", "/clock/advance", self.body).await?;
            if settles { account.check_settled(advanced) } else { Ok(advanced) }
        })
    }
}

/// The result of an advance.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct Advanced {
    /// The clock's time after the advance.
    #[serde(deserialize_with = "instant::read")]
    pub now: SystemTime,
    /// The number of items that expired.
    pub expired: u64,
    /// The number of expired items by table. Tables without expired items are omitted.
    pub tables: BTreeMap<String, u64>,
    /// When the next item expires. None: no item will expire.
    #[serde(default, deserialize_with = "instant::read_optional")]
    pub next_expiry: Option<SystemTime>,
    /// Why the clock did not move. None: the clock moved.
    pub message: Option<String>,
    /// The number of items whose TTL can never fire, by table and reason.
    #[serde(default)]
    pub never: BTreeMap<String, BTreeMap<TtlReason, u64>>,
    /// By table, the number of items that were written since the last advance and whose TTL had passed when they were
    /// written.
    #[serde(default)]
    pub born_expired: BTreeMap<String, u64>,
    /// With [`Advance::settle`], whether all records were processed and all jobs ended. Without it, false.
    #[serde(default)]
    pub settled: bool,
    /// With [`Advance::settle`]: the mappings that still have records to deliver.
    #[serde(default)]
    pub unfinished: Vec<Unfinished>,
    /// With [`Advance::settle`]: the batches that the server gave up on since the last settle.
    #[serde(default)]
    pub given_up: Vec<GivenUp>,
}

/// An event source mapping that still has records to deliver.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[non_exhaustive]
pub struct Unfinished {
    /// The mapping's UUID.
    #[serde(rename = "UUID")]
    pub uuid: String,
    /// The function's ARN.
    pub function_arn: String,
    /// The stream's ARN.
    pub event_source_arn: String,
    /// The result of the function's last call, such as `PROBLEM: Function call failed`.
    pub last_processing_result: String,
    /// The function's name.
    #[serde(rename = "function", default)]
    pub function: String,
    /// The table's name.
    #[serde(rename = "table", default)]
    pub table: String,
    /// The failing batch that the server keeps retrying. None: no batch is being retried.
    #[serde(rename = "retrying")]
    pub retrying: Option<Retrying>,
    /// Whether the function is registered.
    #[serde(rename = "registered", default = "yes")]
    pub registered: bool,
}

fn yes() -> bool {
    true
}

/// A failing batch that the server keeps retrying.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct Retrying {
    /// The number of attempts so far.
    pub attempts: u64,
    /// The number of records in the batch.
    pub records: u64,
    /// How the last attempt failed.
    #[serde(default)]
    pub error: InvocationError,
}

/// A batch that the server gave up on.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct GivenUp {
    /// The mapping's UUID.
    #[serde(rename = "UUID")]
    pub uuid: String,
    /// The function's name.
    pub function: String,
    /// The table's name.
    pub table: String,
    /// The stream's ARN.
    pub stream: String,
    /// Lambda's name for the reason, such as `RetryAttemptsExhausted` or `RecordAgeExceeded`.
    pub condition: String,
    /// The number of attempts.
    pub attempts: u64,
    /// How the last attempt failed.
    #[serde(default)]
    pub error: InvocationError,
    /// The first records of the batch.
    pub records: Vec<GivenUpRecord>,
    /// The number of the batch's records that `records` omits.
    #[serde(default)]
    pub left_out: u64,
    /// Where Lambda would send the failed batch. None: the mapping has no destination.
    pub destination: Option<String>,
}

/// A stream record in a batch that the server gave up on.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct GivenUpRecord {
    /// The record's sequence number.
    pub sequence_number: String,
    /// The kind of change.
    pub event: Event,
    /// The item's key.
    pub key: Item,
}

/// Describes how an invocation of a function failed. Fields that do not apply are None.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq)]
#[non_exhaustive]
pub struct InvocationError {
    /// The HTTP status.
    pub status: Option<u16>,
    /// The kind of failure, such as `Unhandled`.
    #[serde(rename = "error")]
    pub kind: Option<String>,
    /// The `errorType` in the function's response.
    #[serde(rename = "type")]
    pub error_type: Option<String>,
    /// The `errorMessage` in the function's response.
    pub message: Option<String>,
}

impl fmt::Display for InvocationError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match (&self.error_type, &self.message, &self.kind, self.status) {
            (Some(kind), Some(message), ..) => write!(out, "{kind}: {message}"),
            (Some(text), ..) | (_, Some(text), ..) => out.write_str(text),
            (_, _, Some(kind), Some(status)) => write!(out, "{kind} (HTTP status {status})"),
            (_, _, Some(kind), None) => out.write_str(kind),
            (_, _, None, Some(status)) => write!(out, "HTTP status {status}"),
            (None, None, None, None) => Ok(()),
        }
    }
}
