use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::world::Account;
use crate::{Error, instant};

/// A world's clock: TTL, creation times and the age of stream records go by it. The program's own, [`SystemTime::now`],
/// goes on as ever: code that writes a TTL takes its time from [`Clock::now`].
///
/// A clone is of the same clock, for other tasks.
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
    /// What it says, to the millisecond.
    pub async fn now(&self) -> Result<SystemTime, Error> {
        let said: Now = self.account.control("GET", "/clock", Value::Null).await?;
        Ok(said.now)
    }

    /// Lets it stand still, and answers when.
    pub async fn freeze(&self) -> Result<SystemTime, Error> {
        self.put(json!({"mode": "frozen"})).await
    }

    /// Lets it stand still at that time. One in its past is refused with `Conflict` while the world has tables.
    pub async fn freeze_at(&self, at: SystemTime) -> Result<(), Error> {
        self.put(json!({"mode": "frozen", "now": instant::print(at)})).await.map(drop)
    }

    /// Moves it, frozen or running as it is; forward, what falls due on the way is deleted.
    pub async fn set(&self, to: SystemTime) -> Result<(), Error> {
        self.put(json!({"now": instant::print(to)})).await.map(drop)
    }

    /// Lets it be the host's. Refused with `Conflict` if it is ahead of that and the world has tables.
    pub async fn real(&self) -> Result<(), Error> {
        self.put(json!({"mode": "real"})).await.map(drop)
    }

    /// Lets it run so many times as fast as the host's, from where it is.
    pub async fn rate(&self, times: f64) -> Result<(), Error> {
        self.put(json!({"rate": times})).await.map(drop)
    }

    async fn put(&self, body: Value) -> Result<SystemTime, Error> {
        let said: Now = self.account.control("PUT", "/clock", body).await?;
        Ok(said.now)
    }

    /// Moves it forward, through every instant at which something expires. When that is done, what fell due is deleted, gone
    /// from indexes, and readable in streams. It is done by `.await`:
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

    /// [`Clock::advance`] to a time; one that has passed is refused with `Conflict`.
    pub fn advance_to(&self, to: SystemTime) -> Advance {
        Advance { clock: self.clone(), body: json!({"to": instant::print(to)}) }
    }

    /// [`Clock::advance`] to the next instant at which something expires. If nothing is going to, the clock stays where it
    /// is, and [`Advanced::message`] says so.
    pub fn advance_to_next_expiry(&self) -> Advance {
        Advance { clock: self.clone(), body: json!({"to": "next-expiry"}) }
    }
}

/// An advance of a clock, done by `.await`. Dropped before its end, it ends where it has come to.
#[must_use = "an advance is done by .await"]
pub struct Advance {
    clock: Clock,
    body: Value,
}

impl Advance {
    /// Ends when everything that is in the world's streams has reached its functions, or was given up; after 30 seconds
    /// [`Advanced::unfinished`] lists what is not done.
    pub fn settle(mut self) -> Self {
        self.body["settle"] = "triggers".into();
        self
    }

    /// [`Advance::settle`] for another time, at most ten minutes.
    pub fn settle_within(self, longest: Duration) -> Self {
        let mut advance = self.settle();
        advance.body["settle_seconds"] = longest.as_secs_f64().into();
        advance
    }

    /// Has stream records and iterators age by the jump: 24 hours later a record is trimmed.
    pub fn age_streams(mut self) -> Self {
        self.body["age_streams"] = true.into();
        self
    }
}

impl IntoFuture for Advance {
    type Output = Result<Advanced, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.clock.account.control("POST", "/clock/advance", self.body).await })
    }
}

/// What an advance brought about.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct Advanced {
    /// What the clock says.
    #[serde(deserialize_with = "instant::read")]
    pub now: SystemTime,
    /// How many items expired.
    pub expired: u64,
    /// How many of each table; without those that lost none.
    pub tables: BTreeMap<String, u64>,
    /// None: nothing is going to expire.
    #[serde(default, deserialize_with = "instant::read_optional")]
    pub next_expiry: Option<SystemTime>,
    /// Why the clock stayed where it was, if it did.
    pub message: Option<String>,
    /// With [`Advance::settle`]: whether all is done.
    #[serde(default)]
    pub settled: bool,
    /// With [`Advance::settle`]: the mappings that are not done.
    #[serde(default)]
    pub unfinished: Vec<Unfinished>,
}

/// An event source mapping that was not done in time.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[non_exhaustive]
pub struct Unfinished {
    /// The mapping's.
    #[serde(rename = "UUID")]
    pub uuid: String,
    /// What it calls.
    pub function_arn: String,
    /// What it reads.
    pub event_source_arn: String,
    /// Why it is not done.
    pub last_processing_result: String,
}
